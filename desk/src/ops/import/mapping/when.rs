//! Times as other systems write them.

use domain::Timestamp;
use time::format_description::{self, OwnedFormatItem};
use time::parsing::Parsed;
use time::{Date, OffsetDateTime, PrimitiveDateTime, Time, UtcOffset};

use crate::ops::import::fault::cut;

/// How a column writes times.
#[derive(Debug)]
pub(super) enum TimeFormat {
    Rfc3339,
    EpochSeconds,
    EpochMillis,
    Described {
        shown: String,
        item: OwnedFormatItem,
        /// For a text that has none.
        offset: UtcOffset,
    },
}

impl TimeFormat {
    /// Checks a format and the offset for texts without one.
    pub(super) fn new(format: &str, offset: Option<&str>) -> Result<Self, String> {
        let named = match format {
            "rfc3339" => Some(Self::Rfc3339),
            "epoch_seconds" => Some(Self::EpochSeconds),
            "epoch_millis" => Some(Self::EpochMillis),
            _ => None,
        };
        match (named, offset) {
            (Some(named), None) => Ok(named),
            (Some(_), Some(_)) => Err(format!("has `offset`, which `{format}` does not need")),
            (None, offset) => Ok(Self::Described {
                shown: format.to_owned(),
                item: format_description::parse_owned::<2>(format).map_err(|error| {
                    format!(
                        "has the format `{format}`, which is none of rfc3339, epoch_seconds, epoch_millis and no format description: {error}"
                    )
                })?,
                offset: offset.map_or(Ok(UtcOffset::UTC), read_offset)?,
            }),
        }
    }

    /// Reads a time; the error is worded to follow the field's name.
    pub(super) fn read(&self, text: &str) -> Result<Timestamp, String> {
        let text = text.trim();
        let wrong = |wanted: &str| format!("is `{}`, which is not {wanted}", cut(text));
        match self {
            Self::Rfc3339 => {
                Timestamp::parse(text).map_err(|_wording| wrong("a time as in RFC 3339"))
            }
            Self::EpochSeconds => {
                epoch(text, 1_000_000).ok_or_else(|| wrong("a number of seconds since 1970"))
            }
            Self::EpochMillis => {
                epoch(text, 1_000).ok_or_else(|| wrong("a number of milliseconds since 1970"))
            }
            Self::Described {
                shown,
                item,
                offset,
            } => described(text, item, *offset).ok_or_else(|| wrong(&format!("written `{shown}`"))),
        }
    }
}

fn read_offset(text: &str) -> Result<UtcOffset, String> {
    if text == "Z" {
        return Ok(UtcOffset::UTC);
    }
    format_description::parse_owned::<2>("[offset_hour sign:mandatory]:[offset_minute]")
        .ok()
        .and_then(|format| UtcOffset::parse(text, &format).ok())
        .ok_or_else(|| {
            format!(
                "has the offset `{}`; write it as `+01:00` or `Z`",
                cut(text)
            )
        })
}

fn epoch(text: &str, micros_in_unit: i64) -> Option<Timestamp> {
    let micros = text.parse::<i64>().ok()?.checked_mul(micros_in_unit)?;
    let instant = Timestamp::from_micros(micros);
    // Outside the years that a date can show, the unit was mistaken.
    instant.to_datetime().map(|_shown| instant)
}

fn described(text: &str, item: &OwnedFormatItem, offset: UtcOffset) -> Option<Timestamp> {
    let mut parsed = Parsed::new();
    let rest = parsed.parse_item(text.as_bytes(), item).ok()?;
    if !rest.is_empty() {
        return None;
    }
    let instant = if parsed.offset_hour().is_some() || parsed.unix_timestamp_nanos().is_some() {
        OffsetDateTime::try_from(parsed).ok()?
    } else if parsed.hour_24().is_some() || parsed.hour_12().is_some() {
        PrimitiveDateTime::try_from(parsed)
            .ok()?
            .assume_offset(offset)
    } else {
        let day = Date::try_from(parsed).ok()?;
        PrimitiveDateTime::new(day, Time::MIDNIGHT).assume_offset(offset)
    };
    Some(Timestamp::from_datetime(instant))
}
