//! What a call was about, in its own words: sentences of the transcript chosen by plain rules, never composed.
//!
//! A sentence is chosen for what it holds: words that name trouble or a wish in what the caller says first, words that name an
//! act in what the agent says, words that fit the recorded outcome near the end; and, where two hold as many, how much of it
//! comes up again in the call. A part for which the call has no sentence stays empty: nothing is put in its place. The words
//! are English; of calls in other languages the first and the last sentences stand in where they are long enough to tell.

mod cues;
mod sentences;

use std::collections::{HashMap, HashSet};

use domain::terms::{query_terms, terms};
use domain::{Call, CallOutcome, Speaker};

use self::cues::Cues;
use self::sentences::sentences;

/// Characters of a quote: a long sentence is cut at a word, and what is shown stays a part of its turn.
const QUOTE_CHARS: usize = 300;

/// Turns of the caller in which the matter is named.
const OPENING_TURNS: usize = 4;

/// A sentence of a call, word for word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quote {
    /// Index of the turn that it stands in.
    pub turn: usize,
    /// Who said it.
    pub speaker: Speaker,
    /// The sentence, or its beginning.
    pub text: String,
}

/// Sentences of a call, each part in the order of the call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallSummary {
    /// What the caller wanted, at most two sentences.
    pub issue: Vec<Quote>,
    /// What the agent did, at most three.
    pub actions: Vec<Quote>,
    /// How it ended, at most two.
    pub ending: Vec<Quote>,
}

/// A sentence with what it is judged by.
struct Said<'a> {
    turn: usize,
    speaker: Speaker,
    text: &'a str,
    /// Every word, stemmed.
    words: Vec<String>,
    /// How many of its telling words come up in other turns.
    echoes: i32,
}

impl Said<'_> {
    fn is_question(&self) -> bool {
        self.text.contains(['?', '？'])
    }

    fn cues(&self, cues: &Cues) -> i32 {
        let held: HashSet<&String> = self
            .words
            .iter()
            .filter(|word| cues.holds(word.as_str()))
            .collect();
        i32::try_from(held.len()).unwrap_or(i32::MAX)
    }

    /// A greeting or an "Oh, that one" says nothing alone.
    fn is_short(&self) -> bool {
        self.words.len() < 4
    }
}

impl CallSummary {
    /// The extract of a call.
    pub fn of(call: &Call) -> Self {
        let said = all_said(call);
        let issue = issue(&said);
        let actions = actions(&said, &issue);
        let taken: Vec<usize> = issue.iter().chain(&actions).copied().collect();
        let ending = ending(call, &said, &taken);
        let quotes = |chosen: Vec<usize>| {
            let chosen = chosen.into_iter().filter_map(|at| said.get(at));
            chosen.map(quote).collect()
        };
        Self {
            issue: quotes(issue),
            actions: quotes(actions),
            ending: quotes(ending),
        }
    }
}

fn all_said(call: &Call) -> Vec<Said<'_>> {
    // In how many turns each telling word stands.
    let mut turns: HashMap<String, usize> = HashMap::new();
    for turn in &call.turns {
        for word in query_terms(&turn.text) {
            *turns.entry(word).or_default() += 1;
        }
    }
    let mut said = Vec::new();
    for (place, turn) in call.turns.iter().enumerate() {
        for text in sentences(&turn.text) {
            let telling = query_terms(text);
            let again = telling
                .iter()
                .filter(|word| turns.get(*word).is_some_and(|count| *count > 1));
            said.push(Said {
                turn: place,
                speaker: turn.speaker,
                text,
                words: terms(text),
                echoes: i32::try_from(again.count().min(3)).unwrap_or_default(),
            });
        }
    }
    said
}

/// The best sentences by a judgement, in the order of the call; a judgement of `None` is out of the question.
fn best(
    said: &[Said<'_>],
    most: usize,
    judge: impl Fn(usize, &Said<'_>) -> Option<i32>,
) -> Vec<usize> {
    let judged = said.iter().enumerate();
    let mut judged: Vec<(i32, usize)> = judged
        .filter_map(|(at, sentence)| Some((judge(at, sentence)?, at)))
        .collect();
    judged.sort_by_key(|(score, at)| (std::cmp::Reverse(*score), *at));
    judged.truncate(most);
    let mut chosen: Vec<usize> = judged.into_iter().map(|(_, at)| at).collect();
    chosen.sort_unstable();
    chosen
}

/// What the caller wanted: trouble or a wish, early, and not a mere question back.
fn issue(said: &[Said<'_>]) -> Vec<usize> {
    let mut opening: Vec<usize> = said
        .iter()
        .filter(|sentence| sentence.speaker == Speaker::Caller)
        .map(|sentence| sentence.turn)
        .collect();
    opening.dedup();
    opening.truncate(OPENING_TURNS);
    let judge = |sentence: &Said<'_>| {
        let caller_turn = opening.iter().position(|turn| *turn == sentence.turn)?;
        if sentence.speaker != Speaker::Caller || sentence.is_short() {
            return None;
        }
        let late = i32::try_from(caller_turn).unwrap_or(i32::MAX);
        Some(4 * sentence.cues(Cues::trouble()).min(2) + 2 * sentence.echoes - 3 * late)
    };
    let first = best(said, 1, |_, sentence| judge(sentence));
    // A second one must name trouble or a wish itself.
    let second = best(said, 1, |at, sentence| {
        let named = sentence.cues(Cues::trouble()) > 0 && !first.contains(&at);
        named.then(|| judge(sentence)).flatten()
    });
    let mut chosen = [first, second].concat();
    chosen.sort_unstable();
    if chosen.is_empty() {
        // A caller of few words: the longest of the opening.
        return best(said, 1, |_, sentence| {
            let is_opening = opening.contains(&sentence.turn);
            let words = i32::try_from(sentence.words.len()).unwrap_or(i32::MAX);
            (is_opening && sentence.speaker == Speaker::Caller && words > 0).then_some(words)
        });
    }
    chosen
}

/// What the agent did or had the caller do.
fn actions(said: &[Said<'_>], taken: &[usize]) -> Vec<usize> {
    let chosen = best(said, 3, |at, sentence| {
        let acts = sentence.cues(Cues::act());
        let fits = sentence.speaker == Speaker::Agent && acts > 0 && !sentence.is_short();
        let question = if sentence.is_question() { 4 } else { 0 };
        let greeting = if sentence.turn == 0 { 3 } else { 0 };
        let score = 3 * acts.min(3) + sentence.echoes - question - greeting;
        (fits && !taken.contains(&at) && score > 0).then_some(score)
    });
    if !chosen.is_empty() {
        return chosen;
    }
    // Nothing is named as an act: what the agent said longest after the greeting.
    best(said, 1, |at, sentence| {
        let words = i32::try_from(sentence.words.len()).unwrap_or(i32::MAX);
        let fits = sentence.speaker == Speaker::Agent && sentence.turn > 0;
        (fits && !sentence.is_short() && !sentence.is_question() && !taken.contains(&at))
            .then_some(words)
    })
}

/// How it ended, in the last part of the call; nothing where no sentence there fits the recorded outcome.
fn ending(call: &Call, said: &[Said<'_>], taken: &[usize]) -> Vec<usize> {
    let turns = call.turns.len();
    // A fifth of a long call, and of a short one its second half.
    let from = (turns - turns.div_ceil(5))
        .min(turns.saturating_sub(5))
        .max(turns / 2);
    let cues = Cues::of_outcome(call.outcome);
    let speaks_for = match call.outcome {
        CallOutcome::Resolved | CallOutcome::Unresolved => Speaker::Caller,
        CallOutcome::Escalated | CallOutcome::Callback => Speaker::Agent,
    };
    best(said, 2, |at, sentence| {
        let fitting = sentence.cues(cues);
        let fits = sentence.turn >= from && sentence.turn > 0 && fitting > 0;
        let open = !taken.contains(&at) && !sentence.is_question() && !sentence.words.is_empty();
        let side = i32::from(sentence.speaker == speaks_for);
        let lateness = i32::try_from(sentence.turn.saturating_sub(from)).unwrap_or(i32::MAX);
        (fits && open).then_some(3 * fitting.min(2) + 3 * side + lateness)
    })
}

fn quote(sentence: &Said<'_>) -> Quote {
    Quote {
        turn: sentence.turn,
        speaker: sentence.speaker,
        text: cut(sentence.text).to_owned(),
    }
}

/// A sentence, or as much of it as is quoted.
fn cut(text: &str) -> &str {
    let Some((end, _)) = text.char_indices().nth(QUOTE_CHARS) else {
        return text;
    };
    let head = text.get(..end).unwrap_or(text);
    let whole_words = head.rfind(char::is_whitespace).filter(|at| *at > 0);
    whole_words
        .and_then(|at| head.get(..at))
        .unwrap_or(head)
        .trim_end()
}

#[cfg(test)]
mod tests;
