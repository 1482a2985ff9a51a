//! Entities, rules and proof types of the desk: no I/O, no clock, no serialization.
