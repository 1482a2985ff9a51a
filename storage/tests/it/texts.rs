//! Text comes back byte for byte.

use proptest::prelude::*;

use crate::support::{Place, act, customer, first, new_comment, ok, ticket_with, to_team, valid};

on_every_engine!(
    texts_that_systems_like_to_change_come_back_as_they_were,
    any_text_comes_back_as_it_was,
);

fn round_trip(store: &std::sync::Arc<dyn storage::Storage>, text: &str) {
    let ada = domain::CustomerId::new(1);
    let made = ticket_with(store, 0, ada, |new| text.clone_into(&mut new.description));
    ok(store.add_comment(act(1), made.id, None, valid(new_comment(text))));
    let details = ok(store.get_ticket_details(made.id, first(1)));
    assert_eq!(made.description, text);
    assert_eq!(details.ticket.description, text);
    assert_eq!(details.comments.rows[0].body, text);
}

fn texts_that_systems_like_to_change_come_back_as_they_were(place: &Place) {
    let store = place.open();
    customer(&store, "ada@example.com");
    for text in [
        "it's \"quoted\" `so`; DROP TABLE tickets; --",
        "<b>bold</b> &amp; <script>alert(1)</script> &lt;",
        "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467} \u{1f1e9}\u{1f1ea} \u{1f44d}\u{1f3fd}",
        "עברית עם English ועוד \u{202e}reversed\u{202c}",
        "\u{e9} and e\u{301}",
        "line\r\nline\nline\rline\u{2028}line",
        "  outer blanks\t\n ",
        "\u{feff}mark \u{200b}zero\u{ad}width \u{fffd}",
        r"C:\temp\%PATH%\_x %_\ ? $1 :name @p",
        "\u{1}\u{7f}\u{1b}[31mred",
        "\u{10ffff}\u{e000}",
        "NULL",
        "0",
    ] {
        round_trip(&store, text);
    }
    round_trip(&store, &"ä".repeat(20_000));
    let name = "O'Brien \u{202e}<&>\"";
    let made = ticket_with(&store, 0, domain::CustomerId::new(1), |new| {
        name.clone_into(&mut new.subject);
        new.assignee = Some(name.to_owned());
    });
    let made = ok(store.assign_ticket(act(0), made.id, None, to_team(name))).ticket;
    assert_eq!(made.subject, name);
    assert_eq!(made.assigned_team.as_deref(), Some(name));
    assert_eq!(made.assignee.as_deref(), Some(name));
}

fn any_text_comes_back_as_it_was(place: &Place) {
    let store = place.open();
    customer(&store, "ada@example.com");
    let config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(32)
    };
    proptest!(config, |(text in any::<String>())| {
        prop_assume!(!text.contains('\0') && !text.trim().is_empty());
        round_trip(&store, &text);
    });
}
