//! Articles and calls, which come in by import.

use domain::{Article, ArticleId, Audience, Block, CallId, CallOutcome, EntityKind, Speaker, Turn};
use storage::StoreError;
use storage::import::{ImportRecord, OnError};

use crate::import::{call, import, import_customer, ticket};
use crate::support::{Place, at, err, ok};

on_every_engine!(
    an_article_keeps_its_blocks_in_order,
    articles_are_listed_by_category,
    the_stamp_changes_with_every_change_of_an_article_and_only_then,
    a_call_keeps_its_transcript,
);

/// An article with two blocks.
pub(crate) fn article(id: i64, title: &str) -> Article {
    Article {
        id: ArticleId::new(id),
        slug: format!("article-{id}"),
        title: title.to_owned(),
        category: "security".to_owned(),
        audience: Audience::Customer,
        blocks: vec![
            Block {
                audience: Audience::Customer,
                text: "# For you\r\n".to_owned(),
            },
            Block {
                audience: Audience::Staff,
                text: "For us: \u{1f600}".to_owned(),
            },
        ],
        updated_at: at(0),
    }
}

fn bring_in(store: &std::sync::Arc<dyn storage::Storage>, articles: &[Article]) -> (u64, u64, u64) {
    let records = articles
        .iter()
        .cloned()
        .map(ImportRecord::Article)
        .collect();
    let report = import(store, records, OnError::Abort);
    assert!(!report.aborted, "{report:?}");
    (report.created, report.updated, report.existing)
}

fn an_article_keeps_its_blocks_in_order(place: &Place) {
    let store = place.open();
    let mut long = article(6, "Incidents");
    long.blocks = (0..30)
        .map(|number| Block {
            audience: if number % 3 == 0 {
                Audience::Staff
            } else {
                Audience::Customer
            },
            text: format!("block {number}"),
        })
        .collect();
    let mut bare = article(0, "Empty");
    bare.blocks.clear();
    assert_eq!(bring_in(&store, &[long.clone(), bare.clone()]), (2, 0, 0));
    assert_eq!(ok(store.get_article(long.id)), long);
    assert_eq!(ok(store.get_article(bare.id)), bare);
    long.blocks.swap(3, 4);
    long.blocks.truncate(20);
    assert_eq!(bring_in(&store, std::slice::from_ref(&long)), (0, 1, 0));
    assert_eq!(ok(store.get_article(long.id)), long);
    assert_eq!(ok(store.list_articles(None)), [bare, long]);
    assert!(matches!(
        err(store.get_article(ArticleId::new(1))),
        StoreError::NotFound {
            entity: EntityKind::Article,
            id: 1
        }
    ));
}

fn articles_are_listed_by_category(place: &Place) {
    let store = place.open();
    assert!(ok(store.list_articles(None)).is_empty());
    let mut articles: Vec<Article> = (1..=6).map(|id| article(id, "Title")).collect();
    for odd in articles.iter_mut().step_by(2) {
        "billing".clone_into(&mut odd.category);
    }
    bring_in(&store, &articles);
    assert_eq!(ok(store.list_articles(None)), articles);
    for category in ["billing", "security", "email"] {
        let listed = ok(store.list_articles(Some(category.to_owned())));
        let expected: Vec<&Article> = articles
            .iter()
            .filter(|article| article.category == category)
            .collect();
        assert_eq!(listed.iter().collect::<Vec<_>>(), expected);
    }
}

fn the_stamp_changes_with_every_change_of_an_article_and_only_then(place: &Place) {
    let store = place.open();
    let mut stamps = vec![ok(store.knowledge_stamp())];
    bring_in(&store, &[article(1, "One")]);
    stamps.push(ok(store.knowledge_stamp()));
    crate::support::customer(&store, "ada@example.com");
    bring_in(&store, &[article(1, "One")]);
    assert_eq!(stamps.last().copied(), Some(ok(store.knowledge_stamp())));
    bring_in(&store, &[article(1, "Uno")]);
    stamps.push(ok(store.knowledge_stamp()));
    bring_in(&store, &[article(2, "Two")]);
    stamps.push(ok(store.knowledge_stamp()));
    assert!(stamps.is_sorted_by(|a, b| a < b), "{stamps:?}");
}

fn a_call_keeps_its_transcript(place: &Place) {
    let store = place.open();
    let mut row = call("call-1");
    row.customer = Some("ada@example.com".to_owned());
    row.ticket = Some("t-1".to_owned());
    row.duration_seconds = u32::MAX;
    row.turns = vec![
        Turn {
            speaker: Speaker::Agent,
            at_seconds: 0,
            text: "Hello \"you\"\r\n".to_owned(),
        },
        Turn {
            speaker: Speaker::Caller,
            at_seconds: u32::MAX,
            text: "\u{1f4de} e\u{301}".to_owned(),
        },
    ];
    let silent = call("call-2");
    let records = vec![
        ImportRecord::Customer(import_customer(None, "ada@example.com")),
        ImportRecord::Ticket(ticket("t-1", "ada@example.com")),
        ImportRecord::Call(row.clone()),
        ImportRecord::Call(silent),
    ];
    import(&store, records, OnError::Abort);
    let stored = ok(store.get_call(CallId::new(1)));
    assert_eq!(stored.turns, row.turns);
    assert_eq!(stored.customer.map(domain::CustomerId::number), Some(1));
    assert_eq!(stored.ticket.map(domain::TicketId::number), Some(1));
    assert_eq!(
        (stored.started_at, stored.duration_seconds),
        (at(0), u32::MAX)
    );
    assert_eq!(
        (stored.agent.as_str(), stored.category.as_str()),
        ("Sam", "general")
    );
    assert_eq!(stored.outcome, CallOutcome::Resolved);
    let silent = ok(store.get_call(CallId::new(2)));
    assert!(silent.turns.is_empty() && silent.customer.is_none() && silent.ticket.is_none());
    assert!(matches!(
        err(store.get_call(CallId::new(3))),
        StoreError::NotFound {
            entity: EntityKind::Call,
            id: 3
        }
    ));
}
