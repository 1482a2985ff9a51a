//! Instants: microseconds since 1970 in UTC, the resolution that both databases keep.

use time::format_description::well_known::Rfc3339;
use time::{Date, OffsetDateTime, Time, macros::format_description};

/// An instant in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(i64);

/// A text that is not an instant or a day.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{given}` is not a time; write a UTC day such as `2026-03-01` or an instant such as `2026-03-01T09:30:00Z`"
)]
pub struct TimestampError {
    /// What was given, cut.
    pub given: String,
}

const DAY_MICROS: i64 = 86_400_000_000;

impl Timestamp {
    /// From the number that the database holds.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// The number that the database holds.
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// This many microseconds later, stopping at the ends of time.
    #[must_use]
    pub const fn plus_micros(self, micros: i64) -> Self {
        Self(self.0.saturating_add(micros))
    }

    /// Reads an RFC 3339 instant with its offset, or a date alone as the start of that UTC day.
    pub fn parse(given: &str) -> Result<Self, TimestampError> {
        Self::parse_span(given).map(|(start, _)| start)
    }

    /// Reads the end of a half-open range: a date alone includes that whole day (field report 25), an instant excludes itself.
    pub fn parse_end(given: &str) -> Result<Self, TimestampError> {
        Self::parse_span(given).map(|(_, end)| end)
    }

    fn parse_span(given: &str) -> Result<(Self, Self), TimestampError> {
        let text = given.trim();
        if let Ok(date) = Date::parse(text, format_description!("[year]-[month]-[day]")) {
            let start = Self::from_datetime(OffsetDateTime::new_utc(date, Time::MIDNIGHT));
            return Ok((start, start.plus_micros(DAY_MICROS)));
        }
        OffsetDateTime::parse(text, &Rfc3339)
            .map(|instant| (Self::from_datetime(instant), Self::from_datetime(instant)))
            .map_err(|_wording| TimestampError {
                given: given.chars().take(crate::limits::ECHO_CHARS).collect(),
            })
    }

    /// From a date and time of the `time` crate; fractions of a microsecond are dropped.
    pub fn from_datetime(instant: OffsetDateTime) -> Self {
        // The crate's years (±9999) fit into i64 microseconds thirty times over.
        Self(i64::try_from(instant.unix_timestamp_nanos().div_euclid(1_000)).unwrap_or(i64::MAX))
    }

    /// The date and time of the `time` crate, where its range of years holds it.
    pub fn to_datetime(self) -> Option<OffsetDateTime> {
        OffsetDateTime::from_unix_timestamp_nanos(i128::from(self.0) * 1_000).ok()
    }
}

impl std::fmt::Display for Timestamp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self
            .to_datetime()
            .and_then(|instant| instant.format(&Rfc3339).ok())
        {
            Some(text) => f.write_str(&text),
            None => write!(f, "{}us", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    //! Parsing and showing, both ends of a range.

    use super::*;

    #[test]
    fn a_day_is_half_open_and_whole() {
        let start = Timestamp::parse("2026-03-01").unwrap();
        assert_eq!(start.to_string(), "2026-03-01T00:00:00Z");
        assert_eq!(
            Timestamp::parse_end("2026-03-01").unwrap().to_string(),
            "2026-03-02T00:00:00Z"
        );
        assert_eq!(Timestamp::parse_end("2026-03-01T00:00:00Z").unwrap(), start);
    }

    #[test]
    fn an_offset_is_honoured_and_a_naive_time_is_refused() {
        let utc = Timestamp::parse("2026-03-01T09:30:00Z").unwrap();
        assert_eq!(Timestamp::parse("2026-03-01T10:30:00+01:00").unwrap(), utc);
        for naive in [
            "2026-03-01T09:30:00",
            "2026-03-01 09:30",
            "01.03.2026",
            "yesterday",
            "",
            "2026-13-01",
        ] {
            assert!(Timestamp::parse(naive).is_err(), "{naive}");
        }
    }

    #[test]
    fn microseconds_survive_showing_and_reading() {
        let instant = Timestamp::from_micros(1_772_000_000_123_456);
        assert_eq!(Timestamp::parse(&instant.to_string()).unwrap(), instant);
    }
}
