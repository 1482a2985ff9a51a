//! Whoever can write the database, and has no key, gets nothing by it: what a token is bound to and who approved it is covered
//! by tags (design section 6; promise G-1).

use std::sync::Arc;

use domain::{CustomerPatch, GuardedWrite, Status, TicketId};
use storage::screening::{Screener, TicketTexts};
use storage::{Options, Redeemed, Refusal, Storage, Verdict};
use writegate::{ApprovalLevel, ApprovalMethod};

use super::{
    act_of, bytes, gate, given, guarded_writes, new_preview, preview, previewed, redeem,
    redemption, refusal,
};
use crate::support::{Place, act, customer, ok, ticket};

on_every_engine!(
    no_bit_of_a_stored_record_can_be_flipped,
    no_column_of_a_stored_preview_can_be_rewritten,
    an_approval_that_only_the_database_claims_is_none,
    an_approval_counts_for_its_own_row_and_method,
    what_the_guardrail_reads_of_others_makes_a_preview_stale,
    a_flag_that_was_raised_since_asks_for_a_person,
    a_flood_of_previews_leaves_a_bounded_table,
);

/// A number of rows or of bits, as SQL says it.
fn number(place: &Place, query: &str) -> usize {
    place.query(query).parse().unwrap()
}

fn no_bit_of_a_stored_record_can_be_flipped(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    let filed = ticket(&store, ada, "x");
    let write = GuardedWrite::CloseTicket { ticket: filed.id };
    let preview = preview(&store, 1, &write);
    let hex = place.in_words_of("hex(record)", "upper(encode(record, 'hex'))");
    let good = place.query(&format!("SELECT {hex} FROM pending_changes"));
    let set = |hex: &str| {
        let record = place.blob(hex);
        place.execute(&format!("UPDATE pending_changes SET record = {record}"));
    };
    // Two flushes for each bit are half a minute on a server; every seventh has each place of a byte.
    let bits = (0..good.len() * 4).step_by(place.in_words_of(1, 7));
    for bit in bits {
        let mut digits: Vec<u8> = good.bytes().collect();
        let digit = u8::from_str_radix(&good[bit / 4..=bit / 4], 16).unwrap() ^ (1 << (bit % 4));
        digits[bit / 4] = format!("{digit:X}").into_bytes()[0];
        let bad = String::from_utf8(digits).unwrap();
        set(&bad);
        let redeemed = ok(redeem(&store, act(2), &preview));
        assert_eq!(refusal(redeemed), Refusal::Invalid, "bit {bit}");
    }
    for bad in ["", "00", &good[2..], &format!("{good}00")] {
        set(bad);
        let redeemed = ok(redeem(&store, act(2), &preview));
        assert_eq!(refusal(redeemed), Refusal::Invalid, "{bad}");
    }
    assert_eq!(ok(store.get_ticket(filed.id)), filed);
    // Nothing of that burned it.
    set(&good);
    assert!(matches!(
        ok(redeem(&store, act(2), &preview)),
        Redeemed::Applied(_)
    ));
}

/// What somebody who can write the database might make of a preview, and what its token is answered then.
const REWRITES: [(&str, Refusal); 12] = [
    (
        "operation = 'delete_ticket', arguments = '[]'",
        Refusal::Mismatch,
    ),
    ("operation = 'no_such'", Refusal::Invalid),
    ("entity_id = 2", Refusal::Mismatch),
    ("arguments = '[[\"priority\",\"low\"]]'", Refusal::Mismatch),
    (
        "arguments = '[[\"priority\",\"urgent\"],[\"note\",\"x\"]]'",
        Refusal::Mismatch,
    ),
    ("arguments = '{}'", Refusal::Invalid),
    (
        "shown = '[\"\",[[\"priority\",\"medium\",\"low\"]]]'",
        Refusal::Mismatch,
    ),
    (
        "shown = '[\"x\",[[\"priority\",\"medium\",\"urgent\"]]]'",
        Refusal::Mismatch,
    ),
    ("shown = '[]'", Refusal::Invalid),
    ("token_id = BLOB", Refusal::Invalid),
    (
        "state = 'declined', closed_as = 'CONFIRMATION_DECLINED'",
        Refusal::Declined,
    ),
    ("method = 'no_such'", Refusal::Invalid),
];

fn no_column_of_a_stored_preview_can_be_rewritten(place: &Place) {
    for (rewrite, expected) in REWRITES {
        let place = place.another();
        let store = place.open();
        let ada = customer(&store, "ada@example.com").id;
        let first = ticket(&store, ada, "first");
        let second = ticket(&store, ada, "second");
        let write = GuardedWrite::UpdateTicket {
            ticket: first.id,
            patch: domain::TicketPatch {
                priority: Some(domain::Priority::Urgent),
                ..domain::TicketPatch::default()
            },
        };
        let preview = preview(&store, 1, &write);
        if rewrite.starts_with("method") {
            place.execute(place.in_words_of(
                "PRAGMA ignore_check_constraints = ON; UPDATE pending_changes SET method = 'no_such'",
                "ALTER TABLE pending_changes DROP CONSTRAINT pending_changes_method_valid; \
                 UPDATE pending_changes SET method = 'no_such'",
            ));
        } else {
            let rewrite = rewrite.replace("BLOB", &place.blob("00112233445566778899aabbccddeeff"));
            place.execute(&format!("UPDATE pending_changes SET {rewrite}"));
        }
        let mut asked = redemption(&preview, given(&write));
        asked.given = super::nothing_given(&write);
        let redeemed = ok(store.redeem_change(act(2), asked));
        assert_eq!(refusal(redeemed), expected, "{rewrite}");
        assert_eq!(ok(store.get_ticket(first.id)), first, "{rewrite}");
        assert_eq!(ok(store.get_ticket(second.id)), second, "{rewrite}");
    }
}

fn deletion(store: &Arc<dyn Storage>) -> (TicketId, GuardedWrite) {
    let ada = customer(store, "ada@example.com").id;
    let ticket = ticket(store, ada, "x").id;
    (ticket, GuardedWrite::DeleteTicket { ticket })
}

const CLAIMS: [&str; 4] = [
    "state = 'approved', method = 'operator_terminal', approver = 'local:root'",
    "state = 'approved', method = 'approval_page', seal = 'ct1.k1.AAAA.AAAA'",
    "method = 'operator_terminal'",
    "required = 'token'",
];

fn an_approval_that_only_the_database_claims_is_none(place: &Place) {
    let store = place.open();
    let (id, write) = deletion(&store);
    let preview = previewed(&store, act(1), new_preview(&write, ApprovalLevel::Person));
    for claim in CLAIMS {
        place.execute(&format!("UPDATE pending_changes SET {claim}"));
        let redeemed = ok(redeem(&store, act(2), &preview));
        assert_eq!(refusal(redeemed), Refusal::Pending, "{claim}");
    }
    ok(store.get_ticket(id));
}

fn an_approval_counts_for_its_own_row_and_method(place: &Place) {
    let store = place.open();
    let (id, write) = deletion(&store);
    let person = || new_preview(&write, ApprovalLevel::Person);
    let approved = previewed(&store, act(1), person());
    let waiting = previewed(&store, act(1), person());
    ok(store.decide_approval(
        act_of("local:root", 2),
        approved.approval,
        Verdict::Approve,
        ApprovalMethod::OperatorTerminal,
        gate(),
    ));
    let seal = "(SELECT seal FROM pending_changes WHERE state = 'approved')";
    place.execute(&format!(
        "UPDATE pending_changes SET method = 'operator_terminal', seal = {seal} WHERE state = 'pending'"
    ));
    let redeemed = ok(redeem(&store, act(3), &waiting));
    assert_eq!(refusal(redeemed), Refusal::Pending, "a seal of another row");
    place.execute("UPDATE pending_changes SET method = 'approval_page' WHERE state = 'approved'");
    let redeemed = ok(redeem(&store, act(3), &approved));
    assert_eq!(refusal(redeemed), Refusal::Pending, "another method");
    place.execute(
        "UPDATE pending_changes SET method = 'operator_terminal' WHERE state = 'approved'",
    );
    assert_eq!(
        ok(redeem(&store, act(3), &approved)),
        Redeemed::Applied("delete_ticket operator_terminal gone".to_owned())
    );
    assert!(matches!(
        crate::support::err(store.get_ticket(id)),
        storage::StoreError::NotFound { .. }
    ));
}

/// Changes the name of a customer, which raises no ticket's version.
fn rename(store: &Arc<dyn Storage>, customer: domain::CustomerId, name: &str) {
    let patch = CustomerPatch {
        name: Some(name.to_owned()),
        ..CustomerPatch::default()
    };
    super::commit(store, 2, &GuardedWrite::UpdateCustomer { customer, patch });
}

fn what_the_guardrail_reads_of_others_makes_a_preview_stale(place: &Place) {
    let store = place.open();
    let ada = customer(&store, "ada@example.com").id;
    let id = ticket(&store, ada, "x").id;
    let [_, publication, closing, ..] = guarded_writes(id, ada)
        .try_into()
        .unwrap_or_else(|writes: Vec<GuardedWrite>| -> [GuardedWrite; 7] { panic!("{writes:?}") });
    let publication = preview(&store, 1, &publication);
    let closing = preview(&store, 1, &closing);
    rename(&store, ada, "Another Name");
    assert_eq!(
        refusal(ok(redeem(&store, act(3), &publication))),
        Refusal::Stale
    );
    let row = crate::support::audit_rows(&store).pop().unwrap();
    let differs = ("differs".to_owned(), "screening".to_owned());
    assert!(row.facts.contains(&differs), "{row:?}");
    // Nobody reads a closing, so the name has nothing to do with it.
    assert!(matches!(
        ok(redeem(&store, act(3), &closing)),
        Redeemed::Applied(_)
    ));
}

/// Flags the tickets of whoever is called Mallory.
struct Names;

impl Screener for Names {
    fn flag(&self, texts: &TicketTexts, _outgoing: Option<&str>) -> domain::SecurityFlag {
        if texts.customer.name == "Mallory" {
            domain::SecurityFlag::Incident
        } else {
            domain::SecurityFlag::None
        }
    }
}

fn a_flag_that_was_raised_since_asks_for_a_person(place: &Place) {
    let store = place.open_with(Options {
        screener: Some(Arc::new(Names)),
        ..Options::default()
    });
    let ada = customer(&store, "ada@example.com").id;
    let id = ticket(&store, ada, "x").id;
    let closing = preview(&store, 1, &GuardedWrite::CloseTicket { ticket: id });
    rename(&store, ada, "Mallory");
    let flagged = ok(store.get_ticket(id));
    assert_eq!(flagged.security_flag, domain::SecurityFlag::Incident);
    assert_eq!(flagged.version, domain::Version::FIRST, "no version moved");
    assert_eq!(
        refusal(ok(redeem(&store, act(3), &closing))),
        Refusal::Pending
    );
    assert_eq!(ok(store.get_ticket(id)).status, Status::Open);
}

fn a_flood_of_previews_leaves_a_bounded_table(place: &Place) {
    let store = place.open();
    let (_, write) = deletion(&store);
    let rows = || number(place, "SELECT count(*) FROM pending_changes");
    let flood = super::races::size(400, 20_000);
    for flooding in 0..flood {
        let mut new = new_preview(&write, ApprovalLevel::Person);
        new.nonce = bytes(1_000_000 + flooding as u64);
        previewed(&store, act(1), new);
        assert!(rows() <= 250 + 1, "{} after {flooding}", rows());
    }
    // Long after all of it has run out, the next preview is alone.
    let day = 24 * 3_600;
    previewed(&store, act(day), new_preview(&write, ApprovalLevel::Person));
    assert_eq!(rows(), 1);
}
