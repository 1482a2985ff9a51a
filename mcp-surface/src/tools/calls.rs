//! Tools for recorded calls: finding them by what was said, and reading one.

use desk::{CallHit, CallHits, CallSearch, DeskError, sought_terms};
use domain::{CallFilter, CallId, CallOutcome, CustomerId, Scope, ScoreRange};
use serde::Serialize;

use super::searching::excerpt;
use super::ticket_reads::range;
use super::{Cursor, Name, PAGE, PageLimit, Query, wording};
use crate::Toolset;
use crate::args::{Arguments, Before, Score, Since, Slug, arguments};
use crate::calls::{CallRow, call_facts, said_by};
use crate::listing::fitted;
use crate::reply::{Reply, json_len};
use crate::spec::{Call, Hints, Output, Policy, ToolSpec, Type, done};
use crate::text::{Sheet, quoted};
use crate::transcript;
use crate::view::{PageInfo, Said};

/// A call's fields in its record.
const CALL: &[Output] = &[
    ("call_id", Type::Text),
    ("started_at", Type::Text),
    ("duration_seconds", Type::Whole),
    ("agent", Type::Object),
    ("category", Type::Text),
    ("outcome", Type::Text),
    ("customer_id", Type::Text),
    ("ticket_id", Type::Text),
    ("scores", Type::Wholes),
];

pub(super) static TOOLS: &[ToolSpec] = &[
    ToolSpec {
        name: "search_transcripts",
        title: "Search call transcripts",
        toolset: Toolset::Calls,
        description: "Recorded calls whose transcript holds words of query, best first, with the turn that fits best. \
            Examples: `charged twice refund`, `wifi slow in the branch`. Without query: the calls that pass the \
            filters, newest first. A call passes score_min and score_max if one of its scores does. Read a call with \
            get_call_summary; for figures use query_csat.",
        policy: Policy::read(Scope::TranscriptsRead),
        hints: Hints::READS,
        operations: &[],
        args: SearchTranscriptsArgs::ARGS,
        output: &[
            &[
                ("calls", Type::Objects),
                ("search_mode", Type::Text),
                ("candidates_capped", Type::Flag),
            ],
            PAGE,
        ],
        run: |call| done(search_transcripts(call)),
    },
    ToolSpec {
        name: "get_call_summary",
        title: "Get call summary",
        toolset: Toolset::Calls,
        description: "One call by its id: scores, and sentences quoted from its transcript that say the issue, what the \
            agent did and the ending. A part without such a sentence is empty; outcome is what was recorded. For all \
            that was said: include_transcript, in pages by cursor.",
        policy: Policy::read(Scope::TranscriptsRead),
        hints: Hints::READS,
        operations: &[],
        args: GetCallSummaryArgs::ARGS,
        output: &[
            CALL,
            &[
                ("summary", Type::Object),
                ("summary_method", Type::Text),
                ("turns", Type::Objects),
            ],
            PAGE,
        ],
        run: |call| done(get_call_summary(call)),
    },
];

arguments! {
    /// Arguments of `search_transcripts`.
    SearchTranscriptsArgs {
        query: Option<Query> = "Words to look for.";
        category: Option<Slug> = wording::ONLY_CATEGORY;
        outcome: Option<CallOutcome> = "How it ended.";
        agent: Option<Name> = "Who answered.";
        customer_id: Option<CustomerId> = wording::CUSTOMER_ID;
        started_from: Option<Since> = wording::SINCE;
        started_until: Option<Before> = wording::UNTIL;
        score_min: Option<Score> = wording::SCORE_MIN;
        score_max: Option<Score> = wording::SCORE_MAX;
        limit: Option<PageLimit> = wording::LIMIT;
        cursor: Option<Cursor> = wording::CURSOR;
    }
}

arguments! {
    /// Arguments of `get_call_summary`.
    GetCallSummaryArgs {
        call_id: CallId = "Call, e.g. CALL-00042.";
        include_transcript: Option<bool> = "true: the turns too.";
        cursor: Option<Cursor> = "next_cursor of the previous page: later turns.";
    }
}

/// The turn of a call that fits a query best, or its beginning.
#[derive(Serialize)]
struct Excerpt<'a> {
    turn: usize,
    at_seconds: u32,
    speaker: &'static str,
    #[serde(flatten)]
    said: Said<'a>,
}

impl<'a> Excerpt<'a> {
    fn of(hit: &'a CallHit, terms: &[String]) -> Option<Self> {
        let place = hit.turn?;
        let turn = hit.call.turns.get(place)?;
        Some(Self {
            turn: place + 1,
            at_seconds: turn.at_seconds,
            speaker: turn.speaker.as_str(),
            said: said_by(turn.speaker, excerpt(&turn.text, terms)),
        })
    }
}

#[derive(Serialize)]
struct Hit<'a> {
    #[serde(flatten)]
    row: CallRow<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    excerpt: Option<Excerpt<'a>>,
}

impl<'a> Hit<'a> {
    fn of(hit: &'a CallHit, terms: &[String]) -> Self {
        Self {
            row: CallRow::of(&hit.call, &hit.scores),
            score: (!terms.is_empty()).then(|| (hit.score * 100.0).round() / 100.0),
            excerpt: Excerpt::of(hit, terms),
        }
    }
}

#[derive(Serialize)]
struct HitsAnswer<'a> {
    calls: Vec<Hit<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    search_mode: Option<&'static str>,
    candidates_capped: bool,
    #[serde(flatten)]
    page: PageInfo,
}

fn line(hit: &CallHit, terms: &[String]) -> String {
    let agent = quoted(&hit.call.agent);
    let excerpt = Excerpt::of(hit, terms).map_or_else(String::new, |excerpt| {
        let text = quoted(excerpt.said.text);
        format!(", turn {} by {} {text}", excerpt.turn, excerpt.speaker)
    });
    format!(
        "{}, agent {agent}{excerpt}",
        call_facts(&hit.call, &hit.scores)
    )
}

async fn search_transcripts(call: Call) -> Result<Reply, DeskError> {
    let args: SearchTranscriptsArgs = call.arguments()?;
    let query = args.query.map(|query| query.0);
    let terms = sought_terms(query.as_deref());
    let search = CallSearch {
        query,
        filter: CallFilter {
            category: args.category.map(|slug| slug.0),
            outcome: args.outcome,
            agent: args.agent.map(|name| name.folded()),
            customer: args.customer_id,
            started: range(args.started_from, args.started_until),
            score: ScoreRange {
                least: args.score_min.map(|score| score.0),
                most: args.score_max.map(|score| score.0),
            },
        },
        limit: args.limit.map(|limit| limit.0),
        cursor: args.cursor.map(|cursor| cursor.0),
    };
    let hits: CallHits = fitted(
        call.budget,
        search.limit,
        |limit| {
            let search = CallSearch {
                limit,
                ..search.clone()
            };
            Box::pin(call.desk.search_transcripts(&call.caller, search))
        },
        |hits| &hits.listing.rows,
        |hit| json_len(&Hit::of(hit, &terms)) + json_len(&line(hit, &terms)),
    )
    .await?;
    let info = PageInfo::of(&hits.listing);
    let mut sheet = Sheet::new(call.desk.next_nonce());
    let order = if terms.is_empty() {
        "newest first"
    } else {
        "best first"
    };
    sheet.say(info.words("calls", order));
    if !hits.listing.rows.is_empty() {
        let rows: Vec<String> = hits
            .listing
            .rows
            .iter()
            .map(|hit| line(hit, &terms))
            .collect();
        sheet.quote("calls", &rows.join("\n"));
    }
    if hits.candidates_capped {
        sheet.say("There are more than were ranked: narrow the filters, or use rarer words.");
    }
    let answer = HitsAnswer {
        calls: hits
            .listing
            .rows
            .iter()
            .map(|hit| Hit::of(hit, &terms))
            .collect(),
        search_mode: (!terms.is_empty()).then_some("lexical"),
        candidates_capped: hits.candidates_capped,
        page: info,
    };
    Ok(Reply::new(&answer, sheet.finish()))
}

async fn get_call_summary(call: Call) -> Result<Reply, DeskError> {
    let args: GetCallSummaryArgs = call.arguments()?;
    let found = call
        .desk
        .get_call_summary(&call.caller, args.call_id)
        .await?;
    let cursor = args.cursor.map(|cursor| cursor.0);
    let place = transcript::place(&found.call, cursor.as_deref())?;
    let shows_turns = cursor.is_some() || args.include_transcript == Some(true);
    let mut sheet = Sheet::new(call.desk.next_nonce());
    let answer = transcript::answer(
        &found,
        place.filter(|_| cursor.is_some()),
        shows_turns,
        call.budget,
        &mut sheet,
    );
    Ok(Reply::new(&answer, sheet.finish()))
}
