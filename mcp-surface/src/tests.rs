//! The whole surface through a real client in the same process, on a real store.

mod arguments;
mod asked;
mod budget;
mod calls;
mod containment;
mod golden;
mod guard;
mod lists;
mod log;
mod privacy;
mod prompts;
mod protocol;
mod refusals;
mod registry;
mod resources;
mod screened;
mod strict;
mod support;
mod untrusted;
mod wire;
mod writes;
