//! What a tool is: one row of the table that drives listing, look-up, authorization, golden files and documentation.

use desk::{Caller, Desk, DeskError};
use domain::{Operation, Scope};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};
use std::sync::Arc;

use crate::Toolset;
use crate::args::{Arg, Arguments, input_schema, refuse_unknown};
use crate::confirm::{Ask, Asking, GATE, Waiting};
use crate::reply::Reply;

/// Whether a tool changes anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It only reads.
    Read,
    /// It writes; a server that is started read-only has it not.
    Write,
}

/// The least confirmation that a call of a tool can need by default (design section 6); policy may ask for more.
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
        Self::guarded(scope, Guard::Open)
    }

    pub(crate) const fn guarded(scope: Scope, guard: Guard) -> Self {
        Self {
            scope,
            effect: Effect::Write,
            guard,
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
    /// A tool that deletes.
    pub(crate) const DELETES: Self = Self {
        read_only: false,
        destructive: true,
        idempotent: true,
        open_world: false,
    };
    /// A tool that overwrites what no other call has kept.
    pub(crate) const OVERWRITES: Self = Self::DELETES;
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
    /// Whole numbers.
    Wholes,
    /// A number with a fraction.
    Number,
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
    /// What it may do that policy speaks of.
    pub operations: &'static [Operation],
    /// What it takes besides a confirmation.
    pub args: &'static [Arg],
    /// What a successful result may hold besides `ok`, in groups that tools share.
    pub output: &'static [&'static [Output]],
    pub(crate) run: fn(Call) -> BoxFuture<'static, Result<Step, DeskError>>,
}

/// How far a call has come.
pub(crate) enum Step {
    /// To its answer.
    Done(Reply),
    /// A person has to be asked, which takes as long as it takes: outside of the call's time and permit.
    Ask(Box<Ask>),
    /// The change waits for a confirmation that this call does not bring.
    Wait(Box<Waiting>),
}

/// A handler that always comes to its answer.
pub(crate) fn done(
    handler: impl Future<Output = Result<Reply, DeskError>> + Send + 'static,
) -> BoxFuture<'static, Result<Step, DeskError>> {
    handler.map(|result| result.map(Step::Done)).boxed()
}

/// The argument by which a later call confirms the preview of an earlier one.
pub(crate) const CONFIRMATION_TOKEN: Arg = Arg {
    name: "confirmation_token",
    shape: crate::args::Shape::Text { max: 200 },
    required: false,
    description: "From this call's preview, once the user agreed; other arguments may then be left out.",
};

impl ToolSpec {
    /// Whether a caller may see and call it.
    pub(crate) fn is_permitted(&self, caller: &Caller) -> bool {
        caller.scopes.contains(self.policy.scope)
    }

    /// Whether its calls may need a confirmation where nothing is configured.
    pub const fn is_guarded(&self) -> bool {
        !matches!(self.policy.guard, Guard::Open)
    }

    /// Its arguments, with that of a confirmation where its calls may need one.
    pub fn arguments(&self, guarded: bool) -> Vec<Arg> {
        let mut args = self.args.to_vec();
        if guarded {
            args.push(CONFIRMATION_TOKEN);
        }
        args
    }

    /// What its results may hold, with what previews and confirmations say where its calls may need one.
    pub(crate) fn results(&self, guarded: bool) -> Vec<&'static [Output]> {
        let mut groups = self.output.to_vec();
        if guarded {
            groups.push(GATE);
        }
        groups
    }

    /// The tool as the protocol lists it where nothing is configured.
    pub fn tool(&self) -> Tool {
        self.listed(self.is_guarded())
    }

    /// The tool as the protocol lists it.
    pub(crate) fn listed(&self, guarded: bool) -> Tool {
        let hints = ToolAnnotations::new()
            .read_only(self.hints.read_only)
            .destructive(self.hints.destructive)
            .idempotent(self.hints.idempotent)
            .open_world(self.hints.open_world);
        Tool::new(
            self.name,
            self.description,
            Arc::new(input_schema(&self.arguments(guarded))),
        )
        .with_title(self.title)
        .with_raw_output_schema(Arc::new(output_schema(&self.results(guarded))))
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
            Type::Wholes => json!({"type": "array", "items": of("integer")}),
            Type::Number => of("number"),
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
    /// Whether it may need a confirmation.
    pub(crate) guarded: bool,
    /// The confirmation that it brings.
    pub(crate) confirmation: Confirming,
    /// Whether and how a person can be asked through its client.
    pub(crate) asking: Asking,
    /// Bytes that the result may take.
    pub(crate) budget: usize,
}

/// What a call brings of a confirmation.
#[derive(Clone, Debug)]
pub(crate) enum Confirming {
    /// Nothing: it asks for something new.
    Nothing,
    /// The token of a preview, as the argument that it is.
    Token(String),
    /// The state of an earlier round, with what the person said.
    Answer(String, desk::Decision),
}

impl Call {
    pub(crate) fn arguments<A: Arguments>(&self) -> Result<A, DeskError> {
        let mut known = A::ARGS.to_vec();
        if self.guarded {
            known.push(CONFIRMATION_TOKEN);
        }
        refuse_unknown(&known, &self.arguments)?;
        Ok(A::read_fields(&self.arguments)?)
    }
}
