//! What counts as an id.

use super::*;

#[test]
fn every_way_of_writing_a_ticket_id_is_read() {
    for given in [
        "T-1042",
        "t-1042",
        "#1042",
        "1042",
        " T-1042 ",
        "T1042",
        "#T-1042",
        "T-0001042",
    ] {
        assert_eq!(TicketId::parse(given), Ok(TicketId::new(1042)), "{given}");
    }
}

#[test]
fn ids_are_shown_as_the_design_writes_them() {
    assert_eq!(CustomerId::new(17).to_string(), "C-17");
    assert_eq!(ArticleId::new(6).to_string(), "KB-006");
    assert_eq!(CallId::new(42).to_string(), "CALL-00042");
}

#[test]
fn articles_alone_begin_with_zero() {
    assert_eq!(ArticleId::parse("KB-000"), Ok(ArticleId::new(0)));
    for parsed in [
        CustomerId::parse("C-0").is_ok(),
        CommentId::parse("CM-0").is_ok(),
        CallId::parse("CALL-00000").is_ok(),
    ] {
        assert!(!parsed);
    }
}

#[test]
fn another_entitys_prefix_says_what_it_is() {
    let cases = [
        ("C-17", "customer"),
        ("KB-006", "knowledge article"),
        ("CALL-00001", "call"),
        ("CM-1", "comment"),
    ];
    for (given, entity) in cases {
        let error = TicketId::parse(given).unwrap_err();
        assert!(
            matches!(&error, IdError::OtherEntity { found, .. } if *found == entity),
            "{error}"
        );
        assert!(error.to_string().contains("T-1042"));
    }
}

#[test]
fn what_is_not_an_id_is_malformed() {
    for given in [
        "",
        " ",
        "T-",
        "#",
        "0",
        "-1",
        "T--1",
        "1e3",
        "1.5",
        "99999999999999999999",
        "X-1",
        "T-1 or 1=1",
        "١٢",
        "T-1^2",
    ] {
        assert!(
            matches!(TicketId::parse(given), Err(IdError::Malformed { .. })),
            "{given}"
        );
    }
}

proptest::proptest! {
    #[test]
    fn shown_ids_are_read_back(number in 1..=i64::MAX) {
        let id = CallId::new(number);
        proptest::prop_assert_eq!(CallId::parse(&id.to_string()), Ok(id));
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "\\PC*") {
        let _id = TicketId::parse(&text);
    }
}
