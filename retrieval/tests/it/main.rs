//! How well the right thing is found, on texts that were written for it.

mod hostile;
mod hostile_text;
mod knowledge;
mod known_item;
mod support;
