//! A call's summary and its transcript, in pages that end where the budget does, in the middle of a long turn if need be.

use desk::{CallSummary, InvalidArgument, Quote, SummarisedCall};
use domain::{Call, Turn};
use serde::Serialize;

use crate::calls::{CallRow, call_facts, said_by};
use crate::reply::{Room, json_len};
use crate::text::{Channels, QUOTE_BYTES, Sheet, Window, cost, quoted, window};
use crate::view::{PageInfo, Part, Said};

/// Where a page of a transcript begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Index of the turn.
    turn: usize,
    /// Characters of it that were sent before.
    offset: usize,
}

impl Place {
    fn encode(self, call: &Call) -> String {
        format!("{}.{}.{}", call.id.number(), self.turn, self.offset)
    }

    fn decode(call: &Call, cursor: &str) -> Option<Self> {
        let mut parts = cursor.trim().split('.');
        let (of, turn, offset) = (parts.next()?, parts.next()?, parts.next()?);
        let place = Self {
            turn: turn.parse().ok()?,
            offset: offset.parse().ok()?,
        };
        let text = &call.turns.get(place.turn)?.text;
        let is_inside = place.offset == 0 || place.offset < text.chars().count();
        let fits = parts.next().is_none() && of.parse() == Ok(call.id.number()) && is_inside;
        fits.then_some(place)
    }
}

/// Reads a cursor of a call's transcript; without one it begins at its beginning.
pub(crate) fn place(call: &Call, cursor: Option<&str>) -> Result<Option<Place>, InvalidArgument> {
    let Some(cursor) = cursor else {
        return Ok(None);
    };
    Place::decode(call, cursor).map(Some).ok_or_else(|| {
        let reason = "does not lead into this call's transcript; leave it out to begin anew";
        InvalidArgument::new("cursor", reason)
    })
}

#[derive(Serialize)]
struct QuoteView<'a> {
    turn: usize,
    speaker: &'static str,
    #[serde(flatten)]
    said: Said<'a>,
}

#[derive(Serialize)]
struct SummaryView<'a> {
    issue: Vec<QuoteView<'a>>,
    actions: Vec<QuoteView<'a>>,
    ending: Vec<QuoteView<'a>>,
}

#[derive(Serialize)]
struct TurnView<'a> {
    turn: usize,
    at_seconds: u32,
    speaker: &'static str,
    #[serde(flatten)]
    said: Said<'a>,
    #[serde(flatten)]
    part: Part,
}

impl<'a> TurnView<'a> {
    fn of(place: usize, turn: &Turn, part: &Window<'a>) -> Self {
        Self {
            turn: place + 1,
            at_seconds: turn.at_seconds,
            speaker: turn.speaker.as_str(),
            said: said_by(turn.speaker, part.text),
            part: Part {
                // The cursor leads to the rest, not an offset.
                next_offset: None,
                ..Part::of(part)
            },
        }
    }
}

/// The fields of a summary's result.
#[derive(Serialize)]
pub(crate) struct SummaryAnswer<'a> {
    #[serde(flatten)]
    row: CallRow<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<SummaryView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary_method: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    turns: Option<Vec<TurnView<'a>>>,
    #[serde(flatten)]
    page: Option<PageInfo>,
}

/// Bytes of a result's own words: headings, the way to the rest, counts, the announcement of the markers.
const FRAME_BYTES: usize = 900;

/// Quotes of a summary at the most.
const QUOTES: usize = 7;

/// Bytes of a quote besides its text, in both channels.
const QUOTE_FRAME_BYTES: usize = 120;

/// Bytes of a turn's line besides its text, and of what a part that is cut says about itself.
const TURN_LINE_BYTES: usize = 100;

/// Writes a page of a call, and gives its fields: with `from` only the turns from there, else the summary, and the turns
/// where they are wanted.
pub(crate) fn answer<'a>(
    found: &'a SummarisedCall,
    from: Option<Place>,
    shows_turns: bool,
    budget: usize,
    sheet: &mut Sheet,
) -> SummaryAnswer<'a> {
    let call = &found.call;
    let row = CallRow::of(call, &found.scores);
    let facts = call_facts(call, &found.scores);
    let agent = format!("agent {}", quoted(&call.agent));
    let mut room = Room::new(budget);
    room.spend(FRAME_BYTES + json_len(&row) + json_len(&facts) + json_len(&agent) + QUOTE_BYTES);
    sheet.say(format_args!("Call {facts}"));
    sheet.quote("call", &agent);
    let summary = from.is_none().then(|| {
        let view = summary_view(&found.summary, &mut room);
        write_summary(sheet, &view);
        view
    });
    let (turns, page) = if shows_turns {
        let (turns, page) = turns(call, from, room);
        write_turns(sheet, &turns, &page);
        (Some(turns), Some(page))
    } else {
        sheet.say(format_args!(
            "The transcript has {} turns: include_transcript shows them.",
            call.turns.len()
        ));
        (None, None)
    };
    SummaryAnswer {
        row,
        summary_method: summary.as_ref().map(|_| "extractive"),
        summary,
        turns,
        page,
    }
}

/// The quotes, each cut to its share of half of the room.
fn summary_view<'a>(summary: &'a CallSummary, room: &mut Room) -> SummaryView<'a> {
    let share = (room.left() / 2 / QUOTES).saturating_sub(QUOTE_FRAME_BYTES);
    let mut part = |quotes: &'a [Quote]| {
        let views = quotes.iter().map(|quote| {
            let text = window(&quote.text, 0, share, Channels::Both).text;
            room.spend(QUOTE_FRAME_BYTES + cost(text, Channels::Both));
            QuoteView {
                turn: quote.turn + 1,
                speaker: quote.speaker.as_str(),
                said: said_by(quote.speaker, text),
            }
        });
        views.collect::<Vec<_>>()
    };
    SummaryView {
        issue: part(&summary.issue),
        actions: part(&summary.actions),
        ending: part(&summary.ending),
    }
}

/// What was said on one line, so that nobody can speak as somebody else.
fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

fn write_summary(sheet: &mut Sheet, summary: &SummaryView<'_>) {
    for (heading, quotes) in [
        ("The issue, in the caller's words:", &summary.issue),
        ("What the agent did:", &summary.actions),
        ("How it ended:", &summary.ending),
    ] {
        if quotes.is_empty() {
            sheet.say(format_args!("{heading} no sentence of the call says it."));
            continue;
        }
        sheet.say(heading);
        let lines: Vec<String> = quotes
            .iter()
            .map(|quote| {
                let text = one_line(quote.said.text);
                format!("turn {}, {}: {text}", quote.turn, quote.speaker)
            })
            .collect();
        sheet.quote("call", &lines.join("\n"));
    }
}

/// The turns of a page, and how it lies in the transcript.
fn turns(call: &Call, from: Option<Place>, mut room: Room) -> (Vec<TurnView<'_>>, PageInfo) {
    let first = from.unwrap_or(Place { turn: 0, offset: 0 });
    room.spend(QUOTE_BYTES);
    let mut shown = Vec::new();
    let mut stopped = None;
    for (place, turn) in call.turns.iter().enumerate().skip(first.turn) {
        let offset = if place == first.turn { first.offset } else { 0 };
        let frame = json_len(&TurnView::of(
            place,
            turn,
            &window("", 0, 0, Channels::Both),
        )) + TURN_LINE_BYTES;
        let whole = window(&turn.text, offset, usize::MAX, Channels::Both);
        // The first one is begun whatever the room, so that every page leads on.
        if !shown.is_empty() && frame + cost(whole.text, Channels::Both) > room.left() {
            stopped = Some(Place {
                turn: place,
                offset,
            });
            break;
        }
        room.spend(frame);
        let part = window(&turn.text, offset, room.left(), Channels::Both);
        room.spend(cost(part.text, Channels::Both));
        shown.push(TurnView::of(place, turn, &part));
        if part.omitted > 0 {
            stopped = Some(Place {
                turn: place,
                offset: offset + part.chars,
            });
            break;
        }
    }
    let page = PageInfo {
        total: u32::try_from(call.turns.len()).unwrap_or(u32::MAX),
        total_is_lower_bound: false,
        returned: shown.len(),
        truncated: stopped.is_some(),
        next_cursor: stopped.map(|place| place.encode(call)),
    };
    (shown, page)
}

fn write_turns(sheet: &mut Sheet, turns: &[TurnView<'_>], page: &PageInfo) {
    sheet.say(format_args!(
        "Transcript, {} of {} turns:",
        page.returned, page.total
    ));
    let lines: Vec<String> = turns
        .iter()
        .map(|turn| {
            let (minutes, seconds) = (turn.at_seconds / 60, turn.at_seconds % 60);
            let (number, speaker) = (turn.turn, turn.speaker);
            let text = one_line(turn.said.text);
            format!("turn {number}, {minutes:02}:{seconds:02}, {speaker}: {text}")
        })
        .collect();
    if !lines.is_empty() {
        sheet.quote("call", &lines.join("\n"));
    }
    match &page.next_cursor {
        Some(cursor) => sheet.say(format_args!(
            "The rest: get_call_summary with cursor {cursor}"
        )),
        None => sheet.say("This is the end of the transcript."),
    }
}

#[cfg(test)]
mod tests {
    //! Cursors that lead into a call, and those that don't.

    use domain::{CallId, CallOutcome, Speaker, Timestamp};

    use super::*;

    #[test]
    fn a_place_is_read_back_for_its_call_and_others_are_no_places() {
        let call = Call {
            id: CallId::new(42),
            customer: None,
            ticket: None,
            started_at: Timestamp::from_micros(0),
            duration_seconds: 1,
            agent: "Sam".to_owned(),
            category: "general".to_owned(),
            outcome: CallOutcome::Resolved,
            turns: vec![Turn {
                speaker: Speaker::Agent,
                at_seconds: 0,
                text: "Grüße".to_owned(),
            }],
        };
        for offset in [0, 4] {
            let place = Place { turn: 0, offset };
            assert_eq!(Place::decode(&call, &place.encode(&call)), Some(place));
        }
        for other in [
            "", ".", "..", "42", "42.0", "42.0.5", "42.1.0", "41.0.0", "42.0.0.0", "42.-1.0",
            "x.0.0",
        ] {
            assert_eq!(Place::decode(&call, other), None, "{other}");
        }
    }
}
