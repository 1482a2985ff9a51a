//! What a query finds, and what a reader may learn from it.

use domain::terms::query_terms;
use domain::{Block, Timestamp};

use super::*;

const CUSTOMER: Audience = Audience::Customer;
const STAFF: Audience = Audience::Staff;

fn article(number: i64, category: &str, title: &str, blocks: &[(Audience, &str)]) -> Article {
    Article {
        id: ArticleId::new(number),
        slug: format!("article-{number}"),
        title: title.to_owned(),
        category: category.to_owned(),
        audience: if blocks.iter().all(|(audience, _)| *audience == STAFF) {
            STAFF
        } else {
            CUSTOMER
        },
        blocks: blocks
            .iter()
            .map(|(audience, text)| Block {
                audience: *audience,
                text: (*text).to_owned(),
            })
            .collect(),
        updated_at: Timestamp::from_micros(0),
    }
}

fn shelf() -> Index {
    Index::build(
        1,
        vec![
            article(
                1,
                "password_account",
                "Forgotten password",
                &[
                    (CUSTOMER, "# Reset"),
                    (CUSTOMER, "Choose a new password in the portal."),
                    (STAFF, "Never read out a password; ask about the gateway."),
                ],
            ),
            article(
                2,
                "network_vpn",
                "VPN",
                &[
                    (CUSTOMER, "Restart the client. The password stays the same."),
                    (CUSTOMER, "## Tunnel"),
                ],
            ),
            article(
                3,
                "security",
                "Incident response",
                &[(STAFF, "Call the gateway team.")],
            ),
        ],
    )
}

/// Numbers of the articles that are found, each with the blocks that are shown.
fn found(query: &str, reader: Audience, category: Option<&str>) -> Vec<(i64, Vec<usize>)> {
    let hits = shelf().rank(&query_terms(query), reader, category);
    hits.into_iter()
        .map(|hit| (hit.article.id.number(), hit.matches))
        .collect()
}

#[test]
fn the_best_article_comes_first_and_one_telling_word_is_enough() {
    assert_eq!(found("new password", CUSTOMER, None)[0], (1, vec![1]));
    assert_eq!(found("portals?", CUSTOMER, None), [(1, vec![1])]);
    assert_eq!(found("restarting", CUSTOMER, None), [(2, vec![0])]);
    assert!(found("printer", CUSTOMER, None).is_empty());
}

#[test]
fn what_is_for_staff_is_neither_shown_to_customers_nor_found_by_them() {
    assert!(found("gateway", CUSTOMER, None).is_empty());
    assert_eq!(found("gateway", STAFF, None), [(1, vec![2]), (3, vec![0])]);
    for hit in shelf().rank(&query_terms("password"), CUSTOMER, None) {
        assert!(
            hit.article
                .blocks
                .iter()
                .all(|block| block.audience == CUSTOMER)
        );
    }
}

#[test]
fn a_category_narrows_and_never_makes_a_match() {
    assert_eq!(
        found("password", STAFF, Some("network_vpn")),
        [(2, vec![0])]
    );
    assert!(found("printer", STAFF, Some("network_vpn")).is_empty());
}

#[test]
fn the_block_below_stands_in_for_a_heading() {
    assert_eq!(found("reset", CUSTOMER, None), [(1, vec![1])]);
    // Nothing is below the last one.
    assert_eq!(found("tunnel", CUSTOMER, None), [(2, vec![1])]);
    // A block that is found by its own words too is shown once.
    assert_eq!(found("reset portal", CUSTOMER, None), [(1, vec![1])]);
}
