//! What a tool is: one row of the table that drives listing, look-up, authorization, golden files and documentation.

use desk::{Caller, Desk, DeskError};
use domain::Scope;
use futures::future::BoxFuture;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};
use std::sync::Arc;

use crate::Toolset;
use crate::args::{Arg, Arguments, input_schema, read_arguments};
use crate::reply::Reply;

/// Whether a tool changes anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It only reads.
    Read,
    /// It writes; a server that is started read-only has it not.
    Write,
}

/// The least confirmation that a call needs (design section 6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Guard {
    /// A person decides, outside the model's reach.
    #[default]
    Person,
    /// A preview first, then its token.
    Token,
    /// None.
    Open,
}

/// Who may call a tool and under which conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The right that a caller needs.
    pub scope: Scope,
    /// Whether it writes.
    pub effect: Effect,
    /// What confirms it.
    pub guard: Guard,
}

impl Policy {
    pub(crate) const fn read(scope: Scope) -> Self {
        Self {
            scope,
            effect: Effect::Read,
            guard: Guard::Open,
        }
    }

    pub(crate) const fn write(scope: Scope) -> Self {
        Self {
            scope,
            effect: Effect::Write,
            guard: Guard::Open,
        }
    }
}

/// The protocol's four hints, all written out, since their defaults are the opposite of most tools here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the protocol has these four, each independent of the others"
)]
pub struct Hints {
    /// Nothing changes.
    pub read_only: bool,
    /// Something is lost that can't be had back by another call.
    pub destructive: bool,
    /// The same call again changes nothing more.
    pub idempotent: bool,
    /// It reaches beyond this desk.
    pub open_world: bool,
}

impl Hints {
    /// A tool that only reads.
    pub(crate) const READS: Self = Self {
        read_only: true,
        destructive: false,
        idempotent: true,
        open_world: false,
    };
    /// A tool that adds something with each call.
    pub(crate) const ADDS: Self = Self {
        read_only: false,
        destructive: false,
        idempotent: false,
        open_world: false,
    };
    /// A tool that sets something, which another call can set back.
    pub(crate) const SETS: Self = Self {
        read_only: false,
        destructive: false,
        idempotent: true,
        open_world: false,
    };
}

/// The JSON type of a result field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Text.
    Text,
    /// A whole number.
    Whole,
    /// Yes or no.
    Flag,
    /// An object.
    Object,
    /// A list of objects.
    Objects,
}

/// A field of a result.
pub type Output = (&'static str, Type);

/// One tool.
pub struct ToolSpec {
    /// Its name: a verb and a noun, shared with the use case and the storage method.
    pub name: &'static str,
    /// What people see.
    pub title: &'static str,
    /// Its group.
    pub toolset: Toolset,
    /// What a model reads.
    pub description: &'static str,
    /// Who may call it.
    pub policy: Policy,
    /// The protocol's hints.
    pub hints: Hints,
    /// What it takes.
    pub args: &'static [Arg],
    /// What a successful result may hold besides `ok`, in groups that tools share.
    pub output: &'static [&'static [Output]],
    pub(crate) run: fn(Call) -> BoxFuture<'static, Result<Reply, DeskError>>,
}

impl ToolSpec {
    /// Whether a caller may see and call it.
    pub(crate) fn is_permitted(&self, caller: &Caller) -> bool {
        caller.scopes.contains(self.policy.scope)
    }

    /// The tool as the protocol lists it.
    pub fn tool(&self) -> Tool {
        let hints = ToolAnnotations::new()
            .read_only(self.hints.read_only)
            .destructive(self.hints.destructive)
            .idempotent(self.hints.idempotent)
            .open_world(self.hints.open_world);
        Tool::new(
            self.name,
            self.description,
            Arc::new(input_schema(self.args)),
        )
        .with_title(self.title)
        .with_raw_output_schema(Arc::new(output_schema(self.output)))
        .with_annotations(hints)
    }
}

/// One flat object that permits the error shape too: only `ok` is in every result (field report 30).
fn output_schema(groups: &[&[Output]]) -> JsonObject {
    let of = |kind: &str| json!({ "type": kind });
    let mut properties = JsonObject::new();
    properties.insert("ok".to_owned(), of("boolean"));
    for (name, kind) in groups.iter().copied().flatten() {
        let schema = match kind {
            Type::Text => of("string"),
            Type::Whole => of("integer"),
            Type::Flag => of("boolean"),
            Type::Object => of("object"),
            Type::Objects => json!({"type": "array", "items": of("object")}),
        };
        properties.insert((*name).to_owned(), schema);
    }
    properties.insert("error".to_owned(), of("object"));
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(properties));
    schema.insert("required".to_owned(), json!(["ok"]));
    schema
}

/// A call on its way to a handler: authorized, within its time and permit.
pub(crate) struct Call {
    pub(crate) desk: Arc<Desk>,
    pub(crate) caller: Caller,
    pub(crate) arguments: JsonObject,
    /// Bytes that the result may take.
    pub(crate) budget: usize,
}

impl Call {
    pub(crate) fn arguments<A: Arguments>(&self) -> Result<A, DeskError> {
        Ok(read_arguments(&self.arguments)?)
    }
}
