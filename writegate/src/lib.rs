//! Confirmation tokens bound to one change: pure functions of key, time and nonce.
