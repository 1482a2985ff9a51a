//! The whole surface through a real client in the same process, on a real store.

mod arguments;
mod containment;
mod golden;
mod lists;
mod prompts;
mod registry;
mod resources;
mod support;
mod untrusted;
mod writes;
