//! The tool that counts satisfaction scores.

use desk::{CsatComment, DeskError, Satisfaction};
use domain::{CsatFilter, CsatSubject, CsatTally, Scope, ScoreRange};
use serde::Serialize;

use super::ticket_reads::range;
use super::{Name, wording};
use crate::Toolset;
use crate::args::{Arguments, Before, Score, Since, Slug, arguments};
use crate::reply::{Reply, Room, json_len};
use crate::spec::{Call, Hints, Policy, ToolSpec, Type, done};
use crate::text::{Channels, QUOTE_BYTES, Sheet, Window, quoted, window};
use crate::view::{Part, Said, minute};

pub(super) static TOOLS: &[ToolSpec] = &[ToolSpec {
    name: "query_csat",
    title: "Query satisfaction",
    toolset: Toolset::Calls,
    description: "Satisfaction scores of calls and tickets, 1 to 5, counted by the server: count, mean, distribution, \
        share_4_5, tables by category and by week (Monday, UTC), and sample comments, the newest to each score. \
        agent is who answered the call or is assigned to the ticket. No score: count 0 and no mean. For the calls \
        themselves use search_transcripts.",
    policy: Policy::read(Scope::TranscriptsRead),
    hints: Hints::READS,
    operations: &[],
    args: QueryCsatArgs::ARGS,
    output: &[&[
        ("count", Type::Whole),
        ("mean", Type::Number),
        ("share_4_5", Type::Number),
        ("distribution", Type::Object),
        ("by_category", Type::Objects),
        ("by_week", Type::Objects),
        ("omitted_rows", Type::Whole),
        ("comments", Type::Objects),
    ]],
    run: |call| done(query_csat(call)),
}];

arguments! {
    /// Arguments of `query_csat`.
    QueryCsatArgs {
        score_min: Option<Score> = wording::SCORE_MIN;
        score_max: Option<Score> = wording::SCORE_MAX;
        category: Option<Slug> = wording::ONLY_CATEGORY;
        agent: Option<Name> = "Who answered or is assigned.";
        submitted_from: Option<Since> = wording::SINCE;
        submitted_until: Option<Before> = wording::UNTIL;
    }
}

/// Figures of a set of scores; mean and share are absent where there is none.
#[derive(Serialize)]
struct Figures {
    count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    mean: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    share_4_5: Option<f64>,
}

impl Figures {
    fn of(tally: &CsatTally) -> Self {
        Self {
            count: tally.count(),
            mean: tally.mean().map(|mean| rounded(mean, 100.0)),
            share_4_5: tally.satisfied().map(|share| rounded(share, 1000.0)),
        }
    }

    fn words(&self) -> String {
        match (self.mean, self.share_4_5) {
            (Some(mean), Some(share)) => format!(
                "{} scores, mean {mean:.2}, {:.1} % of 4 and 5",
                self.count,
                share * 100.0
            ),
            _ => "no score, so no mean".to_owned(),
        }
    }
}

fn rounded(number: f64, unit: f64) -> f64 {
    (number * unit).round() / unit
}

#[derive(Serialize)]
struct Distribution {
    #[serde(rename = "1")]
    one: u64,
    #[serde(rename = "2")]
    two: u64,
    #[serde(rename = "3")]
    three: u64,
    #[serde(rename = "4")]
    four: u64,
    #[serde(rename = "5")]
    five: u64,
}

#[derive(Serialize)]
struct CategoryRow<'a> {
    category: &'a str,
    #[serde(flatten)]
    figures: Figures,
}

#[derive(Serialize)]
struct WeekRow {
    week: String,
    #[serde(flatten)]
    figures: Figures,
}

#[derive(Serialize)]
struct CommentView<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    call_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ticket_id: Option<String>,
    score: u8,
    category: &'a str,
    submitted_at: String,
    comment: Said<'a>,
    #[serde(flatten)]
    part: Part,
}

impl<'a> CommentView<'a> {
    fn of(comment: &'a CsatComment, part: &Window<'a>) -> Self {
        let (call_id, ticket_id) = match comment.subject {
            CsatSubject::Call(id) => (Some(id.to_string()), None),
            CsatSubject::Ticket(id) => (None, Some(id.to_string())),
        };
        Self {
            call_id,
            ticket_id,
            score: comment.score,
            category: &comment.category,
            submitted_at: comment.submitted_at.to_string(),
            comment: Said::by_customer(part.text),
            part: Part {
                next_offset: None,
                ..Part::of(part)
            },
        }
    }

    fn line(&self, comment: &CsatComment) -> String {
        let about = self.call_id.as_ref().or(self.ticket_id.as_ref());
        let about = about.map_or("", String::as_str);
        let text = quoted(self.comment.text);
        let at = minute(comment.submitted_at);
        format!(
            "{about}, score {}, {}, {at}: {text}",
            self.score, self.category
        )
    }
}

#[derive(Serialize)]
struct CsatAnswer<'a> {
    #[serde(flatten)]
    figures: Figures,
    distribution: Distribution,
    by_category: Vec<CategoryRow<'a>>,
    by_week: Vec<WeekRow>,
    #[serde(skip_serializing_if = "is_zero")]
    omitted_rows: usize,
    comments: Vec<CommentView<'a>>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature that serde calls"
)]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// Bytes of a result's own words: headings, the whole set's figures, the announcement of the markers.
const FRAME_BYTES: usize = 1_200;

/// Weeks that are shown: half a year.
const WEEKS_SHOWN: usize = 26;

/// Characters of a comment that are shown: two or three sentences.
const COMMENT_CHARS: usize = 300;

async fn query_csat(call: Call) -> Result<Reply, DeskError> {
    let args: QueryCsatArgs = call.arguments()?;
    let filter = CsatFilter {
        score: ScoreRange {
            least: args.score_min.map(|score| score.0),
            most: args.score_max.map(|score| score.0),
        },
        category: args.category.map(|slug| slug.0),
        agent: args.agent.map(|name| name.folded()),
        submitted: range(args.submitted_from, args.submitted_until),
    };
    let found = call.desk.query_csat(&call.caller, filter).await?;
    let mut sheet = Sheet::new(call.desk.next_nonce());
    let answer = answer(&found, call.budget, &mut sheet);
    Ok(Reply::new(&answer, sheet.finish()))
}

fn answer<'a>(found: &'a Satisfaction, budget: usize, sheet: &mut Sheet) -> CsatAnswer<'a> {
    let mut room = Room::new(budget);
    room.spend(FRAME_BYTES);
    let figures = Figures::of(&found.all);
    let [one, two, three, four, five] = found.all.by_score();
    sheet.say(format_args!("{}.", figures.words()));
    sheet.say(format_args!(
        "Distribution: score 1 {one} times, 2 {two} times, 3 {three} times, 4 {four} times, 5 {five} times."
    ));
    // A quarter of the room for each table, so that the comments have theirs.
    let share = room.left() / 4;
    let mut table = Room::new(share);
    let by_category: Vec<CategoryRow<'_>> = found
        .by_category
        .iter()
        .map(|(category, tally)| CategoryRow {
            category,
            figures: Figures::of(tally),
        })
        .take_while(|row| {
            table.take(json_len(row) + row.figures.words().len() + row.category.len() + 8)
        })
        .collect();
    let mut table = Room::new(share);
    let by_week: Vec<WeekRow> = found
        .by_week
        .iter()
        .take(WEEKS_SHOWN)
        .map(|(week, tally)| WeekRow {
            week: week.to_string().chars().take(10).collect(),
            figures: Figures::of(tally),
        })
        .take_while(|row| {
            table.take(json_len(row) + row.figures.words().len() + row.week.len() + 8)
        })
        .collect();
    room.spend(2 * share);
    let rows = found.by_category.len() + found.by_week.len();
    let omitted_rows = rows - by_category.len() - by_week.len();
    for (heading, lines) in [
        (
            "By category",
            by_category
                .iter()
                .map(|row| format!("{}: {}", row.category, row.figures.words()))
                .collect::<Vec<_>>(),
        ),
        (
            "By week, newest first",
            by_week
                .iter()
                .map(|row| format!("{}: {}", row.week, row.figures.words()))
                .collect(),
        ),
    ] {
        if !lines.is_empty() {
            sheet.say(format_args!("{heading}:\n{}", lines.join("\n")));
        }
    }
    if omitted_rows > 0 {
        sheet.say(format_args!(
            "{omitted_rows} rows of the tables are left out: narrow the dates or the category."
        ));
    }
    let comments = comments(&found.comments, room);
    if !comments.is_empty() {
        let lines: Vec<String> = comments
            .iter()
            .zip(&found.comments)
            .map(|(view, comment)| view.line(comment))
            .collect();
        sheet.say("Comments, the newest to each score:");
        sheet.quote("scores", &lines.join("\n"));
    }
    CsatAnswer {
        figures,
        distribution: Distribution {
            one,
            two,
            three,
            four,
            five,
        },
        by_category,
        by_week,
        omitted_rows,
        comments,
    }
}

/// The comments, each cut to its share of the room.
fn comments(found: &[CsatComment], mut room: Room) -> Vec<CommentView<'_>> {
    room.spend(QUOTE_BYTES);
    let share = room.left() / found.len().max(1);
    let views = found.iter().map(|comment| {
        let none = CommentView::of(comment, &window("", 0, 0, Channels::Both));
        let frame = json_len(&none) + json_len(&none.line(comment)) + 40;
        let text = &comment.comment;
        let end = text.char_indices().nth(COMMENT_CHARS);
        let head = text
            .get(..end.map_or(text.len(), |(at, _)| at))
            .unwrap_or_default();
        let part = window(head, 0, share.saturating_sub(frame), Channels::Both);
        let part = Window {
            omitted: text.chars().count() - part.chars,
            ..part
        };
        CommentView::of(comment, &part)
    });
    views.collect()
}
