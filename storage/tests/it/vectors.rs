//! Vectors beside the records: only those of records as they are count, and keeping them is no act.

use std::sync::Arc;

use storage::import::{ImportRecord, OnError};
use storage::{Options, Record, RecordVectors, Storage, StoreError};

use crate::import::{call, import};
use crate::knowledge::article;
use crate::support::{Place, audit_rows, err, ok};

on_every_engine!(
    what_was_kept_is_not_made_again,
    a_changed_article_lacks_vectors_and_takes_none_of_before,
    vectors_of_another_model_are_as_good_as_none,
    vectors_go_with_their_record,
    vectors_leave_no_audit_row_and_none_is_kept_for_reading_only,
);

const MODEL: &str = "model 1";

const BOTH: [Record; 2] = [Record::Article, Record::Call];

/// Three articles and three calls.
fn filled(place: &Place) -> Arc<dyn Storage> {
    let store = place.open();
    let articles = (1..=3).map(|id| ImportRecord::Article(article(id, "One")));
    let calls = ["a", "b", "c"].map(|word| ImportRecord::Call(call(word)));
    let report = import(&store, articles.chain(calls).collect(), OnError::Abort);
    assert_eq!(report.created, 6);
    store
}

fn vectors(record: i64, version: i64) -> RecordVectors {
    // Not text, and not of one length.
    let windows = [0, 255, 39, 128].repeat(usize::try_from(record).unwrap() - 1);
    RecordVectors {
        record,
        version,
        windows,
    }
}

#[track_caller]
fn keep(store: &Arc<dyn Storage>, of: Record, model: &str, kept: &[RecordVectors]) -> usize {
    ok(store.keep_vectors(of, model.to_owned(), kept.to_vec()))
}

#[track_caller]
fn lacking(store: &Arc<dyn Storage>, of: Record, model: &str) -> Vec<(i64, i64)> {
    let lacking = ok(store.list_lacking_vectors(of, model.to_owned(), 9));
    assert_eq!(i64::try_from(lacking.records.len()), Ok(lacking.total));
    lacking.records
}

#[track_caller]
fn kept(store: &Arc<dyn Storage>, of: Record, model: &str) -> Vec<RecordVectors> {
    ok(store.list_vectors(of, model.to_owned(), 0, 9))
}

fn what_was_kept_is_not_made_again(place: &Place) {
    let store = filled(place);
    for of in BOTH {
        let some = ok(store.list_lacking_vectors(of, MODEL.to_owned(), 2));
        assert_eq!((some.records, some.total), (vec![(1, 1), (2, 1)], 3));
        assert_eq!(keep(&store, of, MODEL, &[vectors(1, 1), vectors(2, 1)]), 2);
        assert_eq!(lacking(&store, of, MODEL), [(3, 1)]);
    }
    // Whoever made them went away; the next goes on from there.
    drop(store);
    let store = place.open();
    for of in BOTH {
        assert_eq!(lacking(&store, of, MODEL), [(3, 1)]);
        assert_eq!(keep(&store, of, MODEL, &[vectors(3, 1)]), 1);
        assert_eq!(lacking(&store, of, MODEL), []);
        let all = [vectors(1, 1), vectors(2, 1), vectors(3, 1)];
        assert_eq!(kept(&store, of, MODEL), all);
        let page = |after, limit| ok(store.list_vectors(of, MODEL.to_owned(), after, limit));
        assert_eq!(page(0, 2), all[..2]);
        assert_eq!(page(2, 2), all[2..]);
    }
}

fn a_changed_article_lacks_vectors_and_takes_none_of_before(place: &Place) {
    let store = filled(place);
    let of = Record::Article;
    let all = [vectors(1, 1), vectors(2, 1), vectors(3, 1)];
    assert_eq!(keep(&store, of, MODEL, &all), 3);
    let changed = vec![ImportRecord::Article(article(2, "Another"))];
    assert_eq!(import(&store, changed, OnError::Abort).updated, 1);
    assert_eq!(lacking(&store, of, MODEL), [(2, 2)]);
    assert_eq!(kept(&store, of, MODEL), [vectors(1, 1), vectors(3, 1)]);
    // What was made of the article as it was comes too late.
    assert_eq!(keep(&store, of, MODEL, &[vectors(2, 1)]), 0);
    assert_eq!(lacking(&store, of, MODEL), [(2, 2)]);
    assert_eq!(keep(&store, of, MODEL, &[vectors(2, 2)]), 1);
    assert_eq!(lacking(&store, of, MODEL), []);
    assert_eq!(
        kept(&store, of, MODEL),
        [vectors(1, 1), vectors(2, 2), vectors(3, 1)]
    );
}

fn vectors_of_another_model_are_as_good_as_none(place: &Place) {
    let store = filled(place);
    for of in BOTH {
        keep(&store, of, MODEL, &[vectors(1, 1), vectors(2, 1)]);
        assert_eq!(lacking(&store, of, "model 2"), [(1, 1), (2, 1), (3, 1)]);
        assert_eq!(kept(&store, of, "model 2"), []);
        assert_eq!(keep(&store, of, "model 2", &[vectors(1, 1)]), 1);
        assert_eq!(kept(&store, of, "model 2"), [vectors(1, 1)]);
        assert_eq!(kept(&store, of, MODEL), [vectors(2, 1)]);
    }
}

fn vectors_go_with_their_record(place: &Place) {
    let store = filled(place);
    for of in BOTH {
        keep(&store, of, MODEL, &[vectors(1, 1), vectors(2, 1)]);
    }
    // A connection to SQLite that is no server's keeps no foreign keys unless it is told to.
    let first = place.in_words_of("PRAGMA foreign_keys = ON;", "");
    place.execute(&format!(
        "{first} DELETE FROM articles WHERE id = 1; DELETE FROM calls WHERE id = 1"
    ));
    for of in BOTH {
        assert_eq!(kept(&store, of, MODEL), [vectors(2, 1)]);
        assert_eq!(keep(&store, of, MODEL, &[vectors(1, 1)]), 0);
    }
    for table in ["article_vectors", "call_vectors"] {
        assert_eq!(place.query(&format!("SELECT count(*) FROM {table}")), "1");
    }
}

fn vectors_leave_no_audit_row_and_none_is_kept_for_reading_only(place: &Place) {
    let store = filled(place);
    let rows = audit_rows(&store).len();
    assert_eq!(keep(&store, Record::Call, MODEL, &[vectors(1, 1)]), 1);
    assert_eq!(audit_rows(&store).len(), rows);
    assert_eq!(ok(store.verify_audit(Vec::new())).flaw, None);
    drop(store);
    let store = place.open_with(Options {
        read_only: true,
        ..Options::default()
    });
    let error = err(store.keep_vectors(Record::Call, MODEL.to_owned(), vec![vectors(2, 1)]));
    assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
    assert_eq!(kept(&store, Record::Call, MODEL), [vectors(1, 1)]);
}
