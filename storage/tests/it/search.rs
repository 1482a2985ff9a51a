//! Finding tickets by words.

use domain::{SecurityFlag, TicketFilter, TicketId};
use proptest::prelude::*;

use crate::support::{
    Place, act, customer, first, new_comment, ok, terms, ticket, ticket_with, valid,
};

on_every_engine!(
    words_of_subject_description_and_comments_are_found,
    the_best_match_comes_first,
    tickets_with_any_word_are_found_where_none_has_all,
    punctuation_never_fails_and_never_hides_a_match,
    a_word_is_found_in_every_script,
    whatever_is_stored_is_found_by_its_own_words,
    a_filter_that_every_ticket_passes_changes_no_answer,
);

fn words_of_subject_description_and_comments_are_found(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    let made = ticket_with(&store, 0, ada, |new| {
        "Printers jam".clone_into(&mut new.subject);
        "Since the upgrade".clone_into(&mut new.description);
    });
    ticket(&store, ada, "Something else");
    let found = |query: &str| {
        let found = ok(store.search_tickets(terms(query), TicketFilter::default(), first(9)));
        found
            .page
            .rows
            .iter()
            .map(|ticket| ticket.id)
            .collect::<Vec<_>>()
    };
    assert_eq!(found("printer"), [made.id]);
    assert_eq!(found("UPGRADES"), [made.id]);
    assert!(found("toner").is_empty());
    ok(store.add_comment(
        act(1),
        made.id,
        None,
        valid(new_comment("Low on toner, low!")),
    ));
    ok(store.add_comment(act(2), made.id, None, valid(new_comment("toner replaced"))));
    for query in [
        "toner",
        "low",
        "replace",
        "printer jam upgrade toner low replaced",
    ] {
        assert_eq!(found(query), [made.id], "{query}");
    }
}

fn the_best_match_comes_first(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    let file = |subject: &str, description: &str| {
        ticket_with(&store, 0, ada, |new| {
            subject.clone_into(&mut new.subject);
            description.clone_into(&mut new.description);
        })
        .id
    };
    let in_subject = file("vpn slow", "nothing");
    let half = file("vpn", "it is slow");
    let in_description = file("nothing", "the vpn is slow");
    let in_comments = file("nothing", "nothing");
    ok(store.add_comment(act(1), in_comments, None, valid(new_comment("slow vpn"))));
    let newer = file("nothing", "slow vpn");
    file("vpn", "nothing");
    let found = ok(store.search_tickets(terms("vpn slow"), TicketFilter::default(), first(9)));
    let ids: Vec<TicketId> = found.page.rows.iter().map(|ticket| ticket.id).collect();
    assert_eq!(ids, [in_subject, half, newer, in_description, in_comments]);
    assert!(found.all_words && !found.candidates_capped);
}

fn tickets_with_any_word_are_found_where_none_has_all(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    let two = ticket(&store, ada, "mouse and keyboard").id;
    let one = ticket(&store, ada, "keyboard").id;
    ticket(&store, ada, "monitor");
    let query = terms("keyboard mouse unicorn");
    let found = ok(store.search_tickets(query, TicketFilter::default(), first(9)));
    let ids: Vec<TicketId> = found.page.rows.iter().map(|ticket| ticket.id).collect();
    assert_eq!(ids, [two, one]);
    assert!(!found.all_words);
    let found = ok(store.search_tickets(terms("unicorn"), TicketFilter::default(), first(9)));
    assert!(found.page.rows.is_empty() && !found.all_words);
    assert_eq!(found.page.total.count, 0);
    let found = ok(store.search_tickets(Vec::new(), TicketFilter::default(), first(9)));
    assert!(found.page.rows.is_empty() && !found.all_words);
}

fn punctuation_never_fails_and_never_hides_a_match(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    let id = ticket(&store, ada, "printer jam").id;
    for mark in (0_u8..128)
        .map(char::from)
        .filter(char::is_ascii_punctuation)
    {
        for query in [
            format!("{mark}printer jam"),
            format!("printer{mark} jam"),
            format!("printer {mark} jam"),
            format!("printer{mark}{mark}jam"),
            format!("printer{mark}jam{mark}"),
        ] {
            let found = ok(store.search_tickets(terms(&query), TicketFilter::default(), first(9)));
            assert_eq!(found.page.rows[0].id, id, "{query}");
            assert!(found.all_words, "{query}");
        }
    }
    // What callers of the trait could send past `domain::terms`.
    for raw in [
        "\"",
        "a\" OR \"b",
        "subject:printer",
        "NEAR(a b)",
        "printer*",
        "AND",
        "^",
        "-",
        "",
    ] {
        let terms = vec![raw.to_owned()];
        let found = ok(store.search_tickets(terms, TicketFilter::default(), first(9)));
        assert!(found.page.rows.len() <= 1, "{raw}");
    }
}

fn a_word_is_found_in_every_script(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    for (subject, query) in [
        ("Größe der Tüte", "grosse"),
        ("Café crème", "CAFE"),
        ("не работает почта", "ПОЧТА"),
        ("東京支社のプリンター", "プリンター"),
        ("مشكلة في الطباعة", "الطباعة"),
        ("printer \u{1f600} jam", "\u{1f600} jam"),
        ("ＶＰＮ gateway", "vpn"),
    ] {
        let id = ticket(&store, ada, subject).id;
        let found = ok(store.search_tickets(terms(query), TicketFilter::default(), first(9)));
        // Folding keeps `ß`, so that query finds the ticket by no word.
        if query == "grosse" {
            assert!(found.page.rows.is_empty());
        } else {
            assert_eq!(found.page.rows[0].id, id, "{query}");
        }
    }
}

fn whatever_is_stored_is_found_by_its_own_words(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    let config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(48)
    };
    proptest!(config, |(text in "\\PC{1,60}")| {
        let words = terms(&text);
        prop_assume!(!words.is_empty());
        let id = ticket_with(&store, 0, ada, |new| {
            new.description = format!("{text}.");
        })
        .id;
        let found = ok(store.search_tickets(words, TicketFilter::default(), first(100)));
        prop_assert!(found.all_words);
        prop_assert!(found.page.rows.iter().any(|ticket| ticket.id == id));
    });
}

/// Searches with and without a filter are looked up in two ways, which must answer alike.
fn a_filter_that_every_ticket_passes_changes_no_answer(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    let words = ["ant", "bee", "cat", "dog", "eel", "fox"];
    // Each ticket holds the words that its number's bits name, spread over its texts.
    for number in 0..64_usize {
        let said = |shift: usize| {
            let held = (0..6).filter(|bit| number >> bit & 1 == 1 && (bit + number) % 3 == shift);
            held.map(|bit| words[bit]).collect::<Vec<_>>().join(", ")
        };
        let made = ticket_with(&store, 0, ada, |new| {
            new.subject = format!("s {}", said(0));
            new.description = format!("d {}", said(1));
        });
        let comment = format!("c {}", said(2));
        ok(store.add_comment(act(1), made.id, None, valid(new_comment(&comment))));
    }
    let passed_by_all = TicketFilter {
        flag: Some(SecurityFlag::None),
        ..TicketFilter::default()
    };
    for chosen in 1..64_usize {
        let query: Vec<String> = (0..6)
            .filter(|bit| chosen >> bit & 1 == 1)
            .map(|bit| words[bit].to_owned())
            .chain((chosen % 4 == 0).then(|| "gnu".to_owned()))
            .collect();
        let plain = ok(store.search_tickets(query.clone(), TicketFilter::default(), first(7)));
        let filtered = ok(store.search_tickets(query.clone(), passed_by_all.clone(), first(7)));
        assert_eq!(plain, filtered, "{query:?}");
        assert_eq!(plain.all_words, chosen % 4 != 0);
        let next = domain::PageRequest::new(50, plain.page.next);
        let plain = ok(store.search_tickets(query.clone(), TicketFilter::default(), next));
        let filtered = ok(store.search_tickets(query.clone(), passed_by_all.clone(), next));
        assert_eq!(plain, filtered, "{query:?}");
    }
}
