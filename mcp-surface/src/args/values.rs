//! The types of arguments, each with the forms in which it may be written.

use domain::text_enum::fold_word;
use domain::{
    Action, ArticleId, CallId, CallOutcome, Channel, CustomerId, CustomerStatus, IdError,
    LastCommentBy, Outcome, Priority, ReviewVerdict, SecurityFlag, Status, TicketId, TicketOrder,
    Tier, Timestamp, UnknownValue, Version, Visibility, limits,
};
use serde_json::Value;

use super::{ArgValue, Fault, Shape, echo, wrong_type};

fn not_among(given: &str, allowed: &[&str]) -> Fault {
    Fault {
        reason: format!(
            "is `{}`, which is not one of: {}",
            echo(given),
            allowed.join(", ")
        ),
        allowed: allowed.iter().map(|word| (*word).to_owned()).collect(),
    }
}

impl From<UnknownValue> for Fault {
    fn from(unknown: UnknownValue) -> Self {
        not_among(&unknown.given, &unknown.allowed)
    }
}

impl From<IdError> for Fault {
    fn from(error: IdError) -> Self {
        Self::new(match error {
            IdError::OtherEntity {
                given,
                found,
                wanted,
                example,
            } => format!(
                "is `{}`, the id of a {found}; a {wanted} id such as `{example}` is wanted",
                echo(&given)
            ),
            IdError::Malformed {
                given,
                wanted,
                example,
            } => format!(
                "is `{}`, which is not a {wanted} id; write it as `{example}` or as its positive number",
                echo(&given)
            ),
        })
    }
}

macro_rules! id_values {
    ($($id:ident),+) => { $(
        impl ArgValue for $id {
            const SHAPE: Shape = Shape::Id { prefix: $id::PREFIX };

            fn read(given: &Value) -> Result<Self, Fault> {
                match given {
                    Value::String(text) => Ok(Self::parse(text)?),
                    Value::Number(number) => Ok(Self::parse(&number.to_string())?),
                    Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
                        Err(wrong_type(Self::SHAPE, given))
                    }
                }
            }
        }
    )+ };
}
id_values!(CustomerId, TicketId, ArticleId, CallId);

macro_rules! word_values {
    ($($word:ident),+) => { $(
        impl ArgValue for $word {
            const SHAPE: Shape = Shape::Word { words: $word::WORDS };

            fn read(given: &Value) -> Result<Self, Fault> {
                let text = given.as_str().ok_or_else(|| wrong_type(Self::SHAPE, given))?;
                Ok(Self::parse(text)?)
            }
        }
    )+ };
}
word_values!(
    Action,
    CallOutcome,
    Channel,
    Clear,
    CustomerStatus,
    LastCommentBy,
    Outcome,
    Priority,
    ReviewVerdict,
    SecurityFlag,
    Status,
    TicketOrder,
    Unassign,
    Visibility
);

/// Reads a whole number, also from text, within bounds.
fn whole(shape: Shape, given: &Value, min: i64, max: i64) -> Result<i64, Fault> {
    let number = match given {
        Value::Number(number) => number.as_i64().or_else(|| whole_float(number.as_f64()?)),
        Value::String(text) => text.trim().parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
            return Err(wrong_type(shape, given));
        }
    };
    match number {
        Some(number) if (min..=max).contains(&number) => Ok(number),
        Some(number) => Err(Fault::new(format!(
            "must be {}, and is {number}",
            super::rule(shape)
        ))),
        None => Err(Fault::new(format!(
            "must be {}, and is `{}`",
            super::rule(shape),
            echo(&given.to_string())
        ))),
    }
}

/// Some clients write every number with a fraction, as in `5.0`.
fn whole_float(number: f64) -> Option<i64> {
    // Up to 2^53 a float holds every whole number exactly.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "checked to be whole and within what a float holds exactly"
    )]
    (number.fract() == 0.0 && number.abs() <= EXACT).then_some(number as i64)
}

/// Text of at most `MAX` characters, byte for byte.
#[derive(Clone, Debug)]
pub(crate) struct Prose<const MAX: usize>(pub(crate) String);

impl<const MAX: usize> ArgValue for Prose<MAX> {
    const SHAPE: Shape = Shape::Text { max: MAX };

    fn read(given: &Value) -> Result<Self, Fault> {
        let text = given
            .as_str()
            .ok_or_else(|| wrong_type(Self::SHAPE, given))?;
        let count = text.chars().count();
        if count > MAX {
            return Err(Fault::new(format!(
                "must be at most {MAX} characters, and has {count}"
            )));
        }
        Ok(Self(text.to_owned()))
    }
}

/// A one-line label or a filter of at most `MAX` characters, which loses the blanks around it.
#[derive(Clone, Debug)]
pub(crate) struct Label<const MAX: usize>(pub(crate) String);

impl<const MAX: usize> ArgValue for Label<MAX> {
    const SHAPE: Shape = Shape::Text { max: MAX };

    fn read(given: &Value) -> Result<Self, Fault> {
        Prose::<MAX>::read(given).map(|Prose(text)| Self(text.trim().to_owned()))
    }
}

impl<const MAX: usize> Label<MAX> {
    /// Folded, as filters compare.
    pub(crate) fn folded(&self) -> String {
        domain::text::fold(&self.0)
    }
}

/// The slug of a category, in any case and with blanks or hyphens for underscores. The table of categories decides.
#[derive(Clone, Debug)]
pub(crate) struct Slug(pub(crate) String);

impl ArgValue for Slug {
    const SHAPE: Shape = Shape::Text {
        max: limits::SLUG_CHARS,
    };

    fn read(given: &Value) -> Result<Self, Fault> {
        Prose::<{ limits::SLUG_CHARS }>::read(given).map(|Prose(text)| Self(fold_word(&text)))
    }
}

impl ArgValue for Tier {
    const SHAPE: Shape = Shape::Whole {
        min: 1,
        max: 3,
        default: None,
    };

    fn read(given: &Value) -> Result<Self, Fault> {
        Ok(Self::new(whole(Self::SHAPE, given, 1, 3)?)?)
    }
}

/// A satisfaction score.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Score(pub(crate) u8);

impl ArgValue for Score {
    const SHAPE: Shape = Shape::Whole {
        min: 1,
        max: 5,
        default: None,
    };

    fn read(given: &Value) -> Result<Self, Fault> {
        let number = whole(Self::SHAPE, given, 1, 5)?;
        Ok(Self(u8::try_from(number).unwrap_or_default()))
    }
}

/// More than any row will ever see, and within what every JSON reader holds exactly.
const VERSION_MAX: i64 = 2_147_483_647;

impl ArgValue for Version {
    const SHAPE: Shape = Shape::Whole {
        min: 1,
        max: VERSION_MAX,
        default: None,
    };

    fn read(given: &Value) -> Result<Self, Fault> {
        whole(Self::SHAPE, given, 1, VERSION_MAX).map(Self::new)
    }
}

/// Rows at the most: 1 to `MAX`, and `DEFAULT` where it is left out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit<const MAX: u16, const DEFAULT: u16>(pub(crate) u16);

impl<const MAX: u16, const DEFAULT: u16> ArgValue for Limit<MAX, DEFAULT> {
    const SHAPE: Shape = Shape::Whole {
        min: 1,
        max: MAX as i64,
        default: Some(DEFAULT as i64),
    };

    fn read(given: &Value) -> Result<Self, Fault> {
        let number = whole(Self::SHAPE, given, 1, i64::from(MAX))?;
        Ok(Self(u16::try_from(number).unwrap_or(MAX)))
    }
}

/// The first character to show of a long text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offset(pub(crate) usize);

/// No text that is read in parts is longer than this.
const OFFSET_MAX: i64 = 1_000_000;

impl ArgValue for Offset {
    const SHAPE: Shape = Shape::Whole {
        min: 0,
        max: OFFSET_MAX,
        default: Some(0),
    };

    fn read(given: &Value) -> Result<Self, Fault> {
        let number = whole(Self::SHAPE, given, 0, OFFSET_MAX)?;
        Ok(Self(usize::try_from(number).unwrap_or_default()))
    }
}

impl ArgValue for bool {
    const SHAPE: Shape = Shape::Flag;

    fn read(given: &Value) -> Result<Self, Fault> {
        match given {
            Value::Bool(yes) => Ok(*yes),
            Value::String(text) => match fold_word(text).as_str() {
                "true" => Ok(true),
                "false" => Ok(false),
                _ => Err(Fault {
                    allowed: vec!["true".to_owned(), "false".to_owned()],
                    ..wrong_type(Self::SHAPE, given)
                }),
            },
            Value::Null | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                Err(wrong_type(Self::SHAPE, given))
            }
        }
    }
}

/// RFC 3339 with nanoseconds and an offset has 35 characters.
const TIME_CHARS: usize = 40;

/// The start of a range: an instant, or a day from its start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Since(pub(crate) Timestamp);

/// The end of a half-open range: an instant that is outside, or a day that is inside as a whole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Before(pub(crate) Timestamp);

impl ArgValue for Since {
    const SHAPE: Shape = Shape::Text { max: TIME_CHARS };

    fn read(given: &Value) -> Result<Self, Fault> {
        time(Self::SHAPE, given, Timestamp::parse).map(Self)
    }
}

impl ArgValue for Before {
    const SHAPE: Shape = Shape::Text { max: TIME_CHARS };

    fn read(given: &Value) -> Result<Self, Fault> {
        time(Self::SHAPE, given, Timestamp::parse_end).map(Self)
    }
}

fn time(
    shape: Shape,
    given: &Value,
    parse: fn(&str) -> Result<Timestamp, domain::TimestampError>,
) -> Result<Timestamp, Fault> {
    let text = given.as_str().ok_or_else(|| wrong_type(shape, given))?;
    parse(text).map_err(|error| {
        Fault::new(format!(
            "is `{}`, and must be a UTC day such as `2026-03-01` or an instant such as `2026-03-01T09:30:00Z`",
            echo(&error.given)
        ))
    })
}

/// What an assignment takes away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unassign {
    Assignee,
    Team,
    Both,
}

impl Unassign {
    const WORDS: &'static [&'static str] = &["assignee", "team", "both"];

    fn parse(given: &str) -> Result<Self, UnknownValue> {
        match fold_word(given).as_str() {
            "assignee" => Ok(Self::Assignee),
            "team" => Ok(Self::Team),
            "both" => Ok(Self::Both),
            _ => Err(UnknownValue {
                given: given.to_owned(),
                allowed: Self::WORDS.to_vec(),
            }),
        }
    }
}

/// What an update of a customer takes away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clear {
    Phone,
    Organisation,
    Both,
}

impl Clear {
    const WORDS: &'static [&'static str] = &["phone", "organisation", "both"];

    fn parse(given: &str) -> Result<Self, UnknownValue> {
        match fold_word(given).as_str() {
            "phone" => Ok(Self::Phone),
            "organisation" => Ok(Self::Organisation),
            "both" => Ok(Self::Both),
            _ => Err(UnknownValue {
                given: given.to_owned(),
                allowed: Self::WORDS.to_vec(),
            }),
        }
    }
}
