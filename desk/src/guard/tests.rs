//! The wall at the desk, over the demonstration tickets.
