//! Evaluates the rules of the indicator table on what was read. Linear in the number of hits: a chain looks no further
//! than its gaps reach, and sentence windows are merged from sorted lists.

use super::reading::{Hit, Mood, Reading};
use super::table::{Atom, ConceptId, Indicator, Link, Rule, Term, Want};

/// Words from the first to behind the last, as indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) first: u32,
    pub(super) behind: u32,
}

/// Where a term was found.
#[derive(Clone, Copy, Debug)]
struct Match {
    sentence: u32,
    span: Span,
}

/// A hit from which the rest of a chain can be followed.
#[derive(Clone, Copy, Debug)]
struct Chain {
    hit: Hit,
    span: Span,
}

/// Evaluates rules on one text.
struct Evaluation<'a> {
    reading: &'a Reading,
    /// Phrases that point back at what they explain.
    explained: ConceptId,
}

impl Evaluation<'_> {
    fn wanted(&self, atom: Atom, hit: Hit) -> bool {
        match atom.want {
            Want::Any => true,
            Want::Real => self.reading.mood(hit) == Mood::Real,
            Want::Negated => self.reading.mood(hit) == Mood::Negated,
        }
    }

    /// Where `rule` fires, or nothing: one span per term.
    ///
    /// Only the surroundings of the rarest concept are looked at, so that a rule costs little where it has nothing to say.
    fn fires(&self, rule: &Rule, firm: bool) -> Option<Vec<Span>> {
        let rarity = |term: &Term| {
            term.atoms()
                .map(|atom| self.reading.hits(atom.concept).len())
                .min()
        };
        let (rarest, term) = rule
            .terms
            .iter()
            .enumerate()
            .min_by_key(|(_, term)| rarity(term))?;
        let atom = term
            .atoms()
            .min_by_key(|atom| self.reading.hits(atom.concept).len())?;
        let excluded = rule
            .never
            .iter()
            .any(|&concept| !self.reading.hits(concept).is_empty());
        if excluded {
            return None;
        }
        // A few at a time: a rule that fires does so early, and what is near stays in the cache.
        self.reading
            .hits(atom.concept)
            .chunks(BATCH)
            .find_map(|hits| self.fires_near(rule, firm, rarest, term, hits))
    }

    /// Where `rule` fires around some hits of its rarest concept, which is in its term number `rarest`.
    fn fires_near(
        &self,
        rule: &Rule,
        firm: bool,
        rarest: usize,
        term: &Term,
        hits: &[Hit],
    ) -> Option<Vec<Span>> {
        let sentences = hits.iter().map(|hit| self.reading.word(hit.word).sentence);
        let first = self.matches(term, &self.places(sentences, 1));
        if first.is_empty() {
            return None;
        }
        let places = self.places(first.iter().map(|found| found.sentence), rule.sentences);
        let mut found = Vec::with_capacity(rule.terms.len());
        for (at, term) in rule.terms.iter().enumerate() {
            let matches = if at == rarest {
                first.clone()
            } else {
                self.matches(term, &places)
            };
            if matches.is_empty() {
                return None;
            }
            found.push(matches);
        }
        self.window(rule, &found, firm)
    }

    /// The words of all sentences that share a window of `width` with one of `sentences`, as merged ranges.
    fn places(&self, sentences: impl Iterator<Item = u32>, width: u32) -> Vec<Span> {
        if width == u32::MAX {
            return vec![Span {
                first: 0,
                behind: self.reading.words_count(),
            }];
        }
        let mut places: Vec<Span> = Vec::new();
        let mut last_sentence = None;
        for sentence in sentences {
            if last_sentence.replace(sentence) == Some(sentence) {
                continue;
            }
            let first = self
                .reading
                .sentence_start(sentence.saturating_sub(width - 1));
            let behind = self.reading.sentence_start(sentence.saturating_add(width));
            match places.last_mut() {
                Some(last) if first <= last.behind => last.behind = last.behind.max(behind),
                _ => places.push(Span { first, behind }),
            }
        }
        places
    }

    /// The first match of `term` in each sentence of `places`.
    fn matches(&self, term: &Term, places: &[Span]) -> Vec<Match> {
        let mut found: Vec<Match> = Vec::new();
        for place in places {
            for start in self.chains(term.first, &term.links, *place) {
                let sentence = self.reading.word(start.hit.word).sentence;
                if found.last().is_none_or(|last| last.sentence != sentence) {
                    found.push(Match {
                        sentence,
                        span: start.span,
                    });
                }
            }
        }
        found
    }

    /// The hits of `atom` in `place` from which the rest of a chain can be followed, worked out from the end of the
    /// chain, so that a text full of near misses costs no more than its hits times the gap.
    fn chains(&self, atom: Atom, links: &[Link], place: Span) -> Vec<Chain> {
        let hits = self.reading.hits(atom.concept);
        let first = hits.partition_point(|hit| hit.word < place.first);
        let hits = hits.get(first..).unwrap_or_default().iter();
        let wanted = hits
            .take_while(|hit| hit.word < place.behind)
            .copied()
            .filter(|&hit| self.wanted(atom, hit));
        let alone = |hit: Hit| Chain {
            hit,
            span: Span {
                first: hit.word,
                behind: hit.behind(),
            },
        };
        let Some((link, rest)) = links.split_first() else {
            return wanted.map(alone).collect();
        };
        let followers = self.chains(link.atom, rest, place);
        if followers.is_empty() {
            return Vec::new();
        }
        wanted
            .filter_map(|hit| {
                let next = self.follower(link, hit, &followers)?;
                Some(Chain {
                    hit,
                    span: Span {
                        first: hit.word.min(next.span.first),
                        behind: hit.behind().max(next.span.behind),
                    },
                })
            })
            .collect()
    }

    /// The first of `followers` that stands to `hit` as `link` demands.
    fn follower<'f>(&self, link: &Link, hit: Hit, followers: &'f [Chain]) -> Option<&'f Chain> {
        let from = self.reading.word(hit.word);
        let lowest = if link.ordered {
            hit.behind()
        } else {
            hit.word.saturating_sub(link.gap + LONGEST_PHRASE)
        };
        let start = followers.partition_point(|next| next.hit.word < lowest);
        let near = followers.get(start..).unwrap_or_default().iter();
        near.take_while(|next| next.hit.word <= hit.behind() + link.gap)
            .find(|next| {
                let apart = if next.hit.word >= hit.behind() {
                    next.hit.word - hit.behind()
                } else if !link.ordered && next.hit.behind() <= hit.word {
                    hit.word - next.hit.behind()
                } else {
                    return false;
                };
                let word = self.reading.word(next.hit.word);
                apart <= link.gap
                    && word.sentence == from.sentence
                    && (link.across_clauses || word.clause == from.clause)
            })
    }

    /// The first window of sentences that holds a match of every term and no excuse.
    fn window(&self, rule: &Rule, found: &[Vec<Match>], firm: bool) -> Option<Vec<Span>> {
        let mut starts: Vec<u32> = found.iter().flatten().map(|found| found.sentence).collect();
        starts.sort_unstable();
        starts.dedup();
        if rule.sentences == u32::MAX {
            starts.truncate(1);
        }
        let mut cursors = vec![0; found.len()];
        for start in starts {
            let last = start.saturating_add(rule.sentences - 1);
            let mut spans = Vec::with_capacity(found.len());
            let mut reached = start;
            for (matches, cursor) in found.iter().zip(&mut cursors) {
                while matches
                    .get(*cursor)
                    .is_some_and(|found| found.sentence < start)
                {
                    *cursor += 1;
                }
                let Some(next) = matches.get(*cursor).filter(|found| found.sentence <= last) else {
                    break;
                };
                reached = reached.max(next.sentence);
                spans.push(next.span);
            }
            if spans.len() == found.len() && !self.excused(rule, firm, start, reached) {
                return Some(spans);
            }
        }
        None
    }

    /// Whether an excuse stands in one of the sentences `from..=to`, or an explanation there or shortly behind.
    fn excused(&self, rule: &Rule, firm: bool, from: u32, to: u32) -> bool {
        rule.unless
            .iter()
            .any(|&concept| self.occurs(concept, from, to))
            || (!firm && self.occurs(self.explained, from, to.saturating_add(EXPLANATION_REACH)))
    }

    fn occurs(&self, concept: ConceptId, from: u32, to: u32) -> bool {
        let hits = self.reading.hits(concept);
        let first = hits.partition_point(|hit| self.reading.word(hit.word).sentence < from);
        hits.get(first)
            .is_some_and(|hit| self.reading.word(hit.word).sentence <= to)
    }
}

/// Sentences behind a match in which "it was me" still means the match.
const EXPLANATION_REACH: u32 = 2;

/// Hits of the rarest concept that are looked at together.
const BATCH: usize = 64;

/// Longest phrase of the table in words, with room; how far back a match may start that ends near.
const LONGEST_PHRASE: u32 = 10;

/// A rule that fired: of which indicator, and where.
#[derive(Clone, Debug)]
pub(super) struct Firing {
    pub(super) indicator: usize,
    pub(super) spans: Vec<Span>,
}

/// All rules that fire.
pub(super) fn evaluate(
    indicators: &[Indicator],
    explained: ConceptId,
    reading: &Reading,
) -> Vec<Firing> {
    let evaluation = Evaluation { reading, explained };
    let mut firings = Vec::new();
    for (indicator, row) in indicators.iter().enumerate() {
        for rule in &row.rules {
            if let Some(spans) = evaluation.fires(rule, row.firm) {
                firings.push(Firing { indicator, spans });
            }
        }
    }
    firings
}
