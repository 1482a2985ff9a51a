//! What the engine reads: phrases, clauses, windows, and the notation of the table.

use super::phrase::expand;
use super::*;

fn floor_of(table: &'static str) -> Floor {
    let cues = "concept negation\n  not, no, nobody, never\nconcept no_negation\n  not only\nconcept condition\n  if, what is\n\
                concept opener\n  can\nconcept conjunction\n  and, but, because, that\nconcept subject\n  i, we, the\n\
                concept topic\n  training\nconcept idiom\n  red herring\nconcept explained\n  it was me\n\
                concept telling\n  ransom\nconcept everyday\n  the\nconcept payment_words\n  bank\n";
    Floor::build(Box::leak(format!("{cues}{table}").into_boxed_str())).unwrap()
}

fn ids(floor: &Floor, text: &str) -> Vec<&'static str> {
    floor
        .examine(&[text])
        .iter()
        .map(|finding| finding.id)
        .collect()
}

#[test]
fn the_table_of_this_build_can_be_read_and_stays_small() {
    let table = Table::read(TABLE).unwrap();
    assert!(Floor::get().is_ok());
    assert!(table.phrases.len() < 25_000, "{}", table.phrases.len());
    let mut ids: Vec<&str> = table.indicators.iter().map(|row| row.id).collect();
    ids.sort_unstable();
    let all = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), all, "an indicator has one row");
    assert!(ids.contains(&PAYMENT_DETAIL_CHANGE));
}

#[test]
fn a_table_that_cannot_be_read_says_where() {
    for (table, line) in [
        (
            "concept a\n  x\nindicator b KB-006\n  a, c\n",
            "line 4: no concept `c`",
        ),
        ("something\n", "line 1: can't read `something`"),
        (
            "concept a\n  x\nconcept a\n",
            "line 3: can't read `concept a`",
        ),
        (
            "concept a\n  x\nindicator b KB-006\n  a ; within few\n",
            "line 4: can't read `within few`",
        ),
    ] {
        assert_eq!(Table::read(table).unwrap_err().to_string(), line);
    }
}

#[test]
fn phrases_expand_to_what_people_write() {
    for (phrase, texts) in [
        ("+click", vec!["click", "clicked", "clicking", "clicks"]),
        (
            "+try it",
            vec!["tried it", "tries it", "try it", "trying it"],
        ),
        ("+move", vec!["move", "moved", "moves", "moving"]),
        ("didn't", vec!["didn't", "didnt"]),
        ("e-mail", vec!["e mail", "email"]),
        ("{my|our|} files", vec!["files", "my files", "our files"]),
    ] {
        assert_eq!(expand(phrase), texts, "{phrase}");
    }
}

#[test]
fn chains_keep_to_their_order_gap_and_clause() {
    let floor = floor_of(
        "concept act\n  clicked\nconcept thing\n  link\nindicator ordered KB-006\n  act >2 thing\nindicator either KB-006\n  \
         act ~2 thing\nindicator across KB-006\n  act >>9 thing\n",
    );
    for (text, expected) in [
        ("she clicked the link", vec!["ordered", "either", "across"]),
        ("the link she clicked", vec!["either"]),
        ("clicked one two three link", vec!["across"]),
        ("clicked because link", vec!["across"]),
        ("clicked. the link", vec![]),
        ("clickedlink", vec![]),
        ("the link's owner clicked", vec!["either"]),
    ] {
        assert_eq!(ids(&floor, text), expected, "{text}");
    }
}

#[test]
fn only_what_is_said_as_a_fact_counts() {
    let floor = floor_of(
        "concept act\n  clicked\nindicator real KB-006\n  act\nindicator negated KB-006\n  !act\nindicator any KB-006\n  ?act\n",
    );
    for (text, expected) in [
        ("I clicked it", vec!["real", "any"]),
        ("I never clicked it", vec!["negated", "any"]),
        ("nobody opened or clicked it", vec!["negated", "any"]),
        ("it was not mine but I clicked it", vec!["real", "any"]),
        ("not my computer, I clicked it", vec!["real", "any"]),
        ("not only my colleague clicked it", vec!["real", "any"]),
        ("what happens if somebody clicked it", vec!["any"]),
        ("can somebody have clicked it?", vec!["any"]),
        ("training: who clicked it", vec!["real", "any"]),
        ("who clicked it in the training", vec!["any"]),
        ("no. I clicked it", vec!["real", "any"]),
    ] {
        assert_eq!(ids(&floor, text), expected, "{text}");
    }
}

#[test]
fn windows_and_excuses_are_counted_in_sentences() {
    let floor = floor_of(
        "concept a\n  alpha\nconcept b\n  beta\nconcept c\n  gamma\nindicator one KB-006 firm\n  a, b\nindicator two KB-006 firm\n  a, b ; within 2\n\
         indicator excused KB-006 firm\n  a, b ; within 2 ; unless c\nindicator barred KB-006 firm\n  a ; never c\n\
         indicator soft KB-006\n  a\nindicator whole KB-006 firm\n  a, b ; within all\n",
    );
    for (text, expected) in [
        (
            "alpha beta",
            vec!["one", "two", "excused", "barred", "soft", "whole"],
        ),
        (
            "alpha. beta",
            vec!["two", "excused", "barred", "soft", "whole"],
        ),
        ("alpha. x. beta", vec!["barred", "soft", "whole"]),
        ("alpha. beta gamma", vec!["two", "soft", "whole"]),
        (
            "gamma. alpha beta",
            vec!["one", "two", "excused", "soft", "whole"],
        ),
        ("alpha. well. it was me", vec!["barred"]),
        ("it was me. alpha", vec!["barred", "soft"]),
        ("alpha. x. y. it was me", vec!["barred", "soft"]),
    ] {
        assert_eq!(ids(&floor, text), expected, "{text}");
    }
}

#[test]
fn the_parts_of_an_idiom_mean_nothing() {
    let floor = floor_of("concept fish\n  herring\nindicator fish KB-006\n  fish\n");
    assert_eq!(ids(&floor, "a herring"), ["fish"]);
    assert!(ids(&floor, "a red herring").is_empty());
}

#[test]
fn sentences_end_where_they_end() {
    let floor = floor_of("concept a\n  alpha\nconcept b\n  beta\nindicator one KB-006\n  a, b\n");
    for (text, together) in [
        ("alpha at alpha.example beta", true),
        ("alpha e.g. beta", true),
        ("alpha version 7.5 beta", true),
        ("alpha\nbeta", true),
        ("alpha\n\nbeta", false),
        ("alpha\n- beta", false),
        ("alpha! beta", false),
        ("alpha… beta", false),
        ("alpha？beta", false),
    ] {
        assert_eq!(!ids(&floor, text).is_empty(), together, "{text}");
    }
    let dictated = format!("alpha {} beta", "word ".repeat(60));
    assert!(ids(&floor, &dictated).is_empty());
}

#[test]
fn evidence_is_bounded_and_exact() {
    let floor = floor_of("concept a\n  alpha\nindicator one KB-006\n  a\n");
    let text = "Ａｌｐｈａ comes first";
    let found = floor.examine(&["none here", text]);
    assert_eq!(
        found[0].evidence,
        [Place {
            text: 1,
            bytes: 0..15
        }]
    );
    assert_eq!(&text[0..15], "Ａｌｐｈａ");
}
