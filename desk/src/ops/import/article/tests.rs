//! Articles as people write them, and as they get them wrong.

use super::*;

const HEAD: &str = "---\nid: KB-042\nslug: a-slug\ntitle: A title: with a colon\ncategory: email\naudience: customer\n---\n";

fn read(text: &str) -> Result<Article, Fault> {
    parse(text, Timestamp::from_micros(7))
}

#[track_caller]
fn check_blocks(body: &str, expected: &[(Audience, &str)]) {
    let article = read(&format!("{HEAD}{body}")).unwrap();
    let blocks: Vec<_> = article
        .blocks
        .iter()
        .map(|block| (block.audience, block.text.as_str()))
        .collect();
    assert_eq!(blocks, expected);
}

#[track_caller]
fn check_fault(text: &str, line: Option<u64>, field: Option<&str>, part: &str) {
    let fault = read(text).unwrap_err();
    assert_eq!(fault.line, line, "{fault:?}");
    assert_eq!(fault.field.as_deref(), field, "{fault:?}");
    assert!(fault.reason.contains(part), "{fault:?}");
}

#[test]
fn front_matter_gives_every_field() {
    let article = read(&format!("{HEAD}text")).unwrap();
    assert_eq!(article.id, ArticleId::new(42));
    assert_eq!(article.slug, "a-slug");
    assert_eq!(article.title, "A title: with a colon");
    assert_eq!(article.category, "email");
    assert_eq!(article.audience, Audience::Customer);
    assert_eq!(article.updated_at, Timestamp::from_micros(7));
}

#[test]
fn a_time_of_change_and_quotes_are_taken() {
    let head = HEAD
        .replace("A title: with a colon", "\"Quoted\"")
        .replace("id:", "updated_at: 2026-01-02\nid:");
    let article = read(&format!("{head}text")).unwrap();
    assert_eq!(article.title, "Quoted");
    assert_eq!(article.updated_at.to_string(), "2026-01-02T00:00:00Z");
}

#[test]
fn blank_lines_part_blocks_and_fences_keep_theirs() {
    use Audience::{Customer, Staff};
    let cases: [(&str, &[(Audience, &str)]); 7] = [
        (
            "one\ntwo\n\n\n  \nthree",
            &[(Customer, "one\ntwo"), (Customer, "three")],
        ),
        (
            "a\r\nb\r\n\r\nc\r\n",
            &[(Customer, "a\nb"), (Customer, "c")],
        ),
        (
            "before\n```sh\nls\n\n:::staff\n```\nafter",
            &[
                (Customer, "before"),
                (Customer, "```sh\nls\n\n:::staff\n```"),
                (Customer, "after"),
            ],
        ),
        (
            "~~~~\n~~~\n\n```\n~~~~\n",
            &[(Customer, "~~~~\n~~~\n\n```\n~~~~")],
        ),
        (
            "a\n:::staff\nb\n\nc\n:::\nd",
            &[(Customer, "a"), (Staff, "b"), (Staff, "c"), (Customer, "d")],
        ),
        ("::: staff\nb\n:::\n", &[(Staff, "b")]),
        ("``` a`b\nc", &[(Customer, "``` a`b\nc")]),
    ];
    for (body, expected) in cases {
        check_blocks(body, expected);
    }
}

#[test]
fn an_article_for_staff_has_staff_blocks_only() {
    let head = HEAD.replace("customer", "staff");
    let article = read(&format!("{head}one\n\n:::staff\ntwo\n:::\n\nthree")).unwrap();
    assert_eq!(article.blocks.len(), 3);
    assert!(
        article
            .blocks
            .iter()
            .all(|block| block.audience == Audience::Staff)
    );
}

#[test]
fn each_fault_names_its_line_and_field() {
    let head = |from: &str, to: &str| format!("{}text", HEAD.replace(from, to));
    let body = |text: &str| format!("{HEAD}{text}");
    let cases = [
        (
            "text".to_owned(),
            None,
            None,
            "must begin with front matter",
        ),
        (String::new(), None, None, "must begin with front matter"),
        (
            "---\nid: KB-1\n".to_owned(),
            None,
            None,
            "not closed by a line of `---`",
        ),
        (HEAD.to_owned(), None, None, "has no text"),
        (head("slug: a-slug\n", ""), None, Some("slug"), "is missing"),
        (
            head("slug: a-slug\n", "slug:\n"),
            None,
            Some("slug"),
            "is missing",
        ),
        (
            head("slug:", "slig:"),
            Some(3),
            Some("slig"),
            "valid are: id, slug, title",
        ),
        (head("slug:", "slug"), Some(3), None, "is not `name: value`"),
        (
            head("slug: a-slug", "id: KB-2"),
            Some(3),
            Some("id"),
            "given twice",
        ),
        (
            head("KB-042", "T-42"),
            Some(2),
            Some("id"),
            "is the id of a ticket",
        ),
        (
            head("customer", "everyone"),
            Some(6),
            Some("audience"),
            "not one of: customer, staff",
        ),
        (
            head("id:", "updated_at: soon\nid:"),
            Some(2),
            Some("updated_at"),
            "is not a time",
        ),
        (
            head("email", &"x".repeat(61)),
            Some(5),
            Some("category"),
            "at most 60 characters",
        ),
        (
            body("a\n```\nb"),
            Some(9),
            None,
            "fenced code that is not closed",
        ),
        (body(":::staff\nb"), Some(8), None, "not closed by `:::`"),
        (body("a\n:::"), Some(9), None, "no part for staff is open"),
        (body(":::staff\n:::staff"), Some(9), None, "began on line 8"),
        (
            body(":::secret"),
            Some(8),
            None,
            "only `:::staff` and `:::`",
        ),
        (body("a\n\nb\0"), Some(10), Some("block"), "NUL"),
    ];
    for (text, line, field, part) in cases {
        check_fault(&text, line, field, part);
    }
}
