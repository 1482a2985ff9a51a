//! The desk as a Model Context Protocol server: tools, resources, prompts, completions.
//!
//! The only crate that knows the protocol, JSON and schemas; it calls `desk` and nothing below it. Both binaries serve
//! this surface unchanged. Read [`spec`] for what a tool is, [`tools`] for the table of them, [`surface`] for the one
//! choke point that every request passes, [`outcome`] for the one place where a failure becomes a result.

mod access;
mod args;
mod articles;
mod border;
mod calls;
mod completions;
mod confirm;
mod docs;
mod dossier;
mod identity;
mod listing;
mod outcome;
mod prompts;
mod reply;
mod resources;
mod settings;
mod spec;
mod surface;
mod terminal;
mod text;
mod tools;
mod transcript;
mod view;

pub use access::{Access, access_of};
pub use args::{Arg, Shape};
pub use docs::{docs_error_contract_markdown, docs_roles_markdown, docs_tools_markdown};
pub use identity::{Identify, Observe, Unidentified};
pub use outcome::rate_limited;
pub use prompts::{PROMPTS, PromptSpec};
pub use resources::{TEMPLATES, TemplateSpec};
pub use settings::{Settings, Toolset};
pub use spec::{Effect, Guard, Hints, Output, Policy, ToolSpec, Type};
pub use surface::Surface;
pub use terminal::{Approvals, ApprovalsError, Terminal, decide};
pub use tools::tool_specs;

#[cfg(test)]
mod tests;
