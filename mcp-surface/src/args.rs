//! Arguments of tools and prompts: one declaration gives the struct, the schema and the reading.
//!
//! Models send optional arguments as `null`, blank or the word `null`, numbers as text and ids as numbers (field
//! report 29). So the reading is tolerant in form and then strict in content: each fault is one error that names the
//! argument, the rule and the allowed values, and an argument that a tool does not have is refused, never ignored.

mod values;

use desk::InvalidArgument;
use domain::limits;
use rmcp::model::JsonObject;
use serde_json::{Value, json};

use crate::text::visible;

pub(crate) use values::{Before, Clear, Label, Limit, Offset, Prose, Score, Since, Slug, Unassign};

/// What values an argument takes: the common subset of JSON Schema that every host and model provider reads
/// (field reports 26 and 27).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// An id: its prefix and number, or the number alone.
    Id {
        /// The letters before the number.
        prefix: &'static str,
    },
    /// Text of at most this many characters.
    Text {
        /// Characters at the most.
        max: usize,
    },
    /// One of these words.
    Word {
        /// Every valid word.
        words: &'static [&'static str],
    },
    /// A whole number.
    Whole {
        /// The least.
        min: i64,
        /// The greatest.
        max: i64,
        /// What holds when it is left out, where that is a number.
        default: Option<i64>,
    },
    /// Yes or no.
    Flag,
}

/// One argument.
#[derive(Clone, Copy, Debug)]
pub struct Arg {
    /// Its name.
    pub name: &'static str,
    /// Its values.
    pub shape: Shape,
    /// Whether it must be given.
    pub required: bool,
    /// What it is for.
    pub description: &'static str,
}

/// Any letters pass, so that another entity's id reaches the error that says whose it is.
const ID_PATTERN: &str = "^(#|[A-Za-z]+-?)?[0-9]{1,19}$";

impl Arg {
    fn schema(&self) -> Value {
        let description = self.description;
        match self.shape {
            Shape::Id { .. } => {
                json!({"type": "string", "pattern": ID_PATTERN, "description": description})
            }
            Shape::Text { max } => {
                json!({"type": "string", "maxLength": max, "description": description})
            }
            Shape::Word { words } => {
                json!({"type": "string", "enum": words, "description": description})
            }
            Shape::Whole { min, max, default } => {
                let mut schema = json!({"type": "integer", "minimum": min, "maximum": max});
                if let Some(default) = default {
                    set(&mut schema, "default", json!(default));
                }
                set(&mut schema, "description", json!(description));
                schema
            }
            Shape::Flag => json!({"type": "boolean", "description": description}),
        }
    }
}

fn set(schema: &mut Value, key: &str, value: Value) {
    if let Some(object) = schema.as_object_mut() {
        object.insert(key.to_owned(), value);
    }
}

/// The input schema of a tool with these arguments.
pub(crate) fn input_schema(args: &[Arg]) -> JsonObject {
    let properties: JsonObject = args
        .iter()
        .map(|arg| (arg.name.to_owned(), arg.schema()))
        .collect();
    let required: Vec<&str> = args
        .iter()
        .filter(|arg| arg.required)
        .map(|arg| arg.name)
        .collect();
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema.insert("additionalProperties".to_owned(), json!(false));
    schema
}

/// What is wrong with a value, worded to follow the argument's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) reason: String,
    pub(crate) allowed: Vec<String>,
}

impl Fault {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            allowed: Vec::new(),
        }
    }

    fn of(self, name: &str) -> InvalidArgument {
        InvalidArgument {
            field: name.to_owned(),
            reason: self.reason,
            allowed: self.allowed,
        }
    }
}

/// A type that an argument can have.
pub(crate) trait ArgValue: Sized {
    /// Its values, for the schema.
    const SHAPE: Shape;

    /// Reads a value that is present.
    fn read(given: &Value) -> Result<Self, Fault>;
}

/// An argument's type with whether it must be given.
pub(crate) trait Field: Sized {
    const SHAPE: Shape;
    const REQUIRED: bool;

    fn read(name: &str, given: Option<&Value>) -> Result<Self, InvalidArgument>;
}

impl<T: ArgValue> Field for T {
    const SHAPE: Shape = T::SHAPE;
    const REQUIRED: bool = true;

    fn read(name: &str, given: Option<&Value>) -> Result<Self, InvalidArgument> {
        match given.filter(|value| !is_blank(value)) {
            Some(value) => T::read(value).map_err(|fault| fault.of(name)),
            None => Err(Fault::new(format!("is required: {}", rule(T::SHAPE))).of(name)),
        }
    }
}

impl<T: ArgValue> Field for Option<T> {
    const SHAPE: Shape = T::SHAPE;
    const REQUIRED: bool = false;

    fn read(name: &str, given: Option<&Value>) -> Result<Self, InvalidArgument> {
        match given.filter(|value| !is_blank(value) && !is_null_word(value)) {
            Some(value) => T::read(value).map(Some).map_err(|fault| fault.of(name)),
            None => Ok(None),
        }
    }
}

/// An argument that a call needs unless it confirms an earlier one. The schema says that it is required where `LISTED`;
/// long texts are not, so that nobody has to copy one to confirm it.
#[derive(Clone, Debug)]
pub(crate) struct Usual<T, const LISTED: bool = true>(pub(crate) Option<T>);

impl<T: ArgValue, const LISTED: bool> Field for Usual<T, LISTED> {
    const SHAPE: Shape = T::SHAPE;
    const REQUIRED: bool = LISTED;

    fn read(name: &str, given: Option<&Value>) -> Result<Self, InvalidArgument> {
        given
            .filter(|value| !is_blank(value))
            .map(|value| T::read(value).map_err(|fault| fault.of(name)))
            .transpose()
            .map(Self)
    }
}

impl<T: ArgValue, const LISTED: bool> Usual<T, LISTED> {
    /// The value, where a call can't do without.
    pub(crate) fn needed(self, name: &str) -> Result<T, InvalidArgument> {
        needed(name, self.0)
    }
}

/// The value of an argument that a call can't do without.
pub(crate) fn needed<T: ArgValue>(name: &str, value: Option<T>) -> Result<T, InvalidArgument> {
    value.ok_or_else(|| Fault::new(format!("is required: {}", rule(T::SHAPE))).of(name))
}

fn is_blank(value: &Value) -> bool {
    value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty())
}

fn is_null_word(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.trim() == "null")
}

/// The rule that a value of this shape obeys, in words.
fn rule(shape: Shape) -> String {
    match shape {
        Shape::Id { prefix } => {
            format!("an id such as `{prefix}-{}`", example_number(prefix))
        }
        Shape::Text { max } => format!("text of 1 to {max} characters"),
        Shape::Word { words } => format!("one of {}", words.join(", ")),
        Shape::Whole { min, max, .. } => format!("a whole number from {min} to {max}"),
        Shape::Flag => "true or false".to_owned(),
    }
}

fn example_number(prefix: &str) -> &'static str {
    match prefix {
        "KB" => "006",
        "CALL" => "00042",
        "T" => "1042",
        _ => "17",
    }
}

/// A value of the wrong JSON type.
pub(crate) fn wrong_type(shape: Shape, given: &Value) -> Fault {
    let found = match given {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    Fault::new(format!("must be {}, and is {found}", rule(shape)))
}

/// A given text, cut to a length that is safe to repeat in an error and with hidden characters shown.
pub(crate) fn echo(given: &str) -> String {
    visible(&given.chars().take(limits::ECHO_CHARS).collect::<String>())
}

/// A struct that [`arguments!`] declared.
pub(crate) trait Arguments: Sized {
    const ARGS: &'static [Arg];

    fn read_fields(given: &JsonObject) -> Result<Self, InvalidArgument>;
}

/// Reads arguments; the first fault is the error.
pub(crate) fn read_arguments<A: Arguments>(given: &JsonObject) -> Result<A, InvalidArgument> {
    refuse_unknown(A::ARGS, given)?;
    A::read_fields(given)
}

/// Refuses an argument that is not among these, with the name that was probably meant.
pub(crate) fn refuse_unknown(args: &[Arg], given: &JsonObject) -> Result<(), InvalidArgument> {
    let Some(unknown) = given
        .keys()
        .find(|name| args.iter().all(|arg| arg.name != name.as_str()))
    else {
        return Ok(());
    };
    // The distance to a name takes time by its length, and a client may send megabytes.
    let unknown = echo(unknown);
    let names: Vec<String> = args.iter().map(|arg| arg.name.to_owned()).collect();
    let nearest = names
        .iter()
        .map(|name| (strsim::damerau_levenshtein(name, &unknown), name))
        .filter(|(distance, name)| *distance <= name.len() / 2)
        .min();
    let meant = nearest.map_or_else(String::new, |(_, name)| {
        format!("; `{name}` may have been meant")
    });
    let reason = if names.is_empty() {
        "is not an argument: there are none".to_owned()
    } else {
        format!("is not an argument{meant}; valid are: {}", names.join(", "))
    };
    Err(InvalidArgument {
        field: unknown,
        reason,
        allowed: names,
    })
}

/// Declares the arguments of a tool: a struct whose field types say what is accepted, with a description each.
macro_rules! arguments {
    ($(#[$meta:meta])* $name:ident { $($field:ident: $type:ty = $description:expr;)* }) => {
        $(#[$meta])*
        #[derive(Debug)]
        pub(crate) struct $name { $(pub(crate) $field: $type),* }

        impl $crate::args::Arguments for $name {
            const ARGS: &'static [$crate::args::Arg] = &[$(
                $crate::args::Arg {
                    name: stringify!($field),
                    shape: <$type as $crate::args::Field>::SHAPE,
                    required: <$type as $crate::args::Field>::REQUIRED,
                    description: $description,
                }
            ),*];

            fn read_fields(
                given: &::rmcp::model::JsonObject,
            ) -> Result<Self, ::desk::InvalidArgument> {
                Ok(Self { $(
                    $field: <$type as $crate::args::Field>::read(
                        stringify!($field),
                        given.get(stringify!($field)),
                    )?
                ),* })
            }
        }
    };
}
pub(crate) use arguments;

#[cfg(test)]
mod tests;
