//! What is compiled in is what the folder holds, and all of it comes in.

use std::path::Path;

use domain::{ArticleId, Status, TicketFilter};

use super::*;
use crate::ops::import::{RecordKind, Source};
use crate::ops::tests::{TestDesk, run};
use crate::tickets::TicketList;

#[test]
fn the_embedded_files_are_those_that_an_import_of_the_folder_reads() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../demo");
    let on_disk = Source::Disk(folder).importable().unwrap();
    let embedded = Source::Embedded(FILES).importable().unwrap();
    assert_eq!(embedded, on_disk);
}

#[test]
fn the_demonstration_desk_comes_in_whole_and_only_once() {
    let desk = TestDesk::new();
    let first = run(seed(&desk.desk, &desk.caller)).unwrap();
    assert_eq!(first.refused, []);
    assert!(!first.aborted);
    let least = [
        (RecordKind::Customer, 15),
        (RecordKind::Ticket, 40),
        (RecordKind::Comment, 100),
        (RecordKind::Call, 100),
        (RecordKind::Csat, 100),
        (RecordKind::Article, 11),
    ];
    for (kind, least) in least {
        assert!(first.of(kind).created >= least, "{kind:?}: {first}");
    }
    let second = run(seed(&desk.desk, &desk.caller)).unwrap();
    assert_eq!(second.total().existing, first.total().created);
    assert_eq!(second.total().created + second.total().updated, 0);
}

#[test]
fn history_is_kept_as_it_was() {
    let TestDesk { desk, caller, .. } = &TestDesk::new();
    run(seed(desk, caller)).unwrap();
    let list = TicketList {
        filter: TicketFilter {
            status: Some(Status::Closed),
            ..TicketFilter::default()
        },
        ..TicketList::default()
    };
    let closed = run(desk.list_tickets(caller, list)).unwrap();
    assert!(!closed.rows.is_empty());
    assert!(
        closed
            .rows
            .iter()
            .all(|ticket| ticket.updated_at < crate::ops::tests::NOW)
    );
    let staff = run(desk.get_article(caller, ArticleId::new(6))).unwrap();
    assert!(
        staff
            .blocks
            .iter()
            .all(|block| block.audience == domain::Audience::Staff)
    );
}
