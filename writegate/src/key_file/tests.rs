//! Tests of what only this module sees.
