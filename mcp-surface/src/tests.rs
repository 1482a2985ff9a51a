//! The whole surface through a real client in the same process, on a real store.

mod arguments;
mod budget;
mod containment;
mod golden;
mod guard;
mod lists;
mod log;
mod privacy;
mod prompts;
mod protocol;
mod registry;
mod resources;
mod support;
mod untrusted;
mod writes;
