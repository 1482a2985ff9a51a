//! What a person decides elsewhere, and what the person who was asked says.

use domain::{Action, ApprovalId, GuardedWrite, Outcome};
use storage::{Decided, Decision, Redeemed, Refusal, Verdict};
use writegate::{ApprovalLevel, ApprovalMethod};

use super::{TTL, act_of, gate, given, new_preview, previewed, redeem, redemption, refusal};
use crate::support::{Place, act, audit_rows, customer, ok, ticket};

on_every_engine!(
    a_token_that_needs_a_person_waits_for_one_and_then_commits,
    a_declined_change_is_never_applied,
    a_decision_is_made_once_in_time_and_about_what_waits,
    what_was_asked_and_not_answered_with_yes_is_closed,
    a_no_after_the_commit_is_told_so,
);

fn deletion(store: &std::sync::Arc<dyn storage::Storage>) -> (domain::Ticket, GuardedWrite) {
    let ada = customer(store, "ada@example.com").id;
    let filed = ticket(store, ada, "x");
    let write = GuardedWrite::DeleteTicket { ticket: filed.id };
    (filed, write)
}

fn a_token_that_needs_a_person_waits_for_one_and_then_commits(place: &Place) {
    let store = place.open();
    let (filed, write) = deletion(&store);
    let preview = previewed(&store, act(1), new_preview(&write, ApprovalLevel::Person));
    for _ in 0..2 {
        assert_eq!(
            refusal(ok(redeem(&store, act(2), &preview))),
            Refusal::Pending
        );
    }
    let waiting = ok(store.list_approvals(act(2).at));
    let [approval] = waiting.as_slice() else {
        panic!("{waiting:?}");
    };
    assert_eq!(approval.id, preview.approval);
    assert_eq!(approval.change, preview.change);
    assert_eq!(approval.actor, "local:ada");
    assert_eq!(approval.entity, write.entity());
    let operator = act_of("local:root", 3);
    let decided = ok(store.decide_approval(
        operator,
        approval.id,
        Verdict::Approve,
        ApprovalMethod::OperatorTerminal,
        gate(),
    ));
    assert_eq!(decided, Decided::Done(Box::new(approval.clone())));
    let row = audit_rows(&store).pop().unwrap();
    assert_eq!(
        (row.action, row.outcome),
        (Action::ApproveChange, Outcome::Applied)
    );
    assert_eq!(row.actor.id, "local:root");
    assert_eq!(
        ok(store.get_ticket(filed.id)),
        filed,
        "approving applies nothing"
    );
    assert!(ok(store.list_approvals(act(3).at)).is_empty());
    let Redeemed::Applied(answer) = ok(redeem(&store, act(4), &preview)) else {
        panic!("not applied");
    };
    assert_eq!(answer, "delete_ticket operator_terminal gone");
    // Approved for its owner only.
    let stranger = ok(redeem(&store, act_of("local:eve", 5), &preview));
    assert_eq!(refusal(stranger), Refusal::Invalid);
}

fn a_declined_change_is_never_applied(place: &Place) {
    let store = place.open();
    let (filed, write) = deletion(&store);
    let preview = previewed(&store, act(1), new_preview(&write, ApprovalLevel::Person));
    ok(store.decide_approval(
        act_of("local:root", 2),
        preview.approval,
        Verdict::Decline,
        ApprovalMethod::OperatorTerminal,
        gate(),
    ));
    let row = audit_rows(&store).pop().unwrap();
    assert_eq!(row.action, Action::DeclineChange);
    for method in [ApprovalMethod::TokenOnly, ApprovalMethod::ElicitationForm] {
        let mut asked = redemption(&preview, given(&write));
        asked.decision = Decision::Commit(method);
        let redeemed = ok(store.redeem_change(act(3), asked));
        assert_eq!(refusal(redeemed), Refusal::Declined);
    }
    assert_eq!(ok(store.get_ticket(filed.id)), filed);
}

fn a_decision_is_made_once_in_time_and_about_what_waits(place: &Place) {
    let store = place.open();
    let (_, write) = deletion(&store);
    let decide = |id, second, verdict| {
        ok(store.decide_approval(
            act_of("local:root", second),
            id,
            verdict,
            ApprovalMethod::OperatorTerminal,
            gate(),
        ))
    };
    let late = previewed(&store, act(1), new_preview(&write, ApprovalLevel::Person));
    let over = 1 + TTL / 1_000_000;
    assert_eq!(
        decide(late.approval, over, Verdict::Approve),
        Decided::NotWaiting
    );
    assert!(ok(store.list_approvals(act(over).at)).is_empty());
    let token_only = previewed(&store, act(1), new_preview(&write, ApprovalLevel::Token));
    assert_eq!(
        decide(token_only.approval, 2, Verdict::Approve),
        Decided::NotWaiting
    );
    assert_eq!(
        decide(ApprovalId::new(4_711), 2, Verdict::Approve),
        Decided::NotWaiting
    );
    let good = previewed(&store, act(1), new_preview(&write, ApprovalLevel::Person));
    assert!(matches!(
        decide(good.approval, 2, Verdict::Approve),
        Decided::Done(_)
    ));
    for verdict in [Verdict::Approve, Verdict::Decline] {
        assert_eq!(decide(good.approval, 3, verdict), Decided::NotWaiting);
    }
}

fn what_was_asked_and_not_answered_with_yes_is_closed(place: &Place) {
    let store = place.open();
    let (filed, write) = deletion(&store);
    for (decision, expected) in [
        (Decision::Decline, Refusal::Declined),
        (Decision::Lapse, Refusal::Expired),
    ] {
        let preview = previewed(&store, act(1), new_preview(&write, ApprovalLevel::Person));
        let mut foreign = redemption(&preview, given(&write));
        foreign.decision = decision;
        let redeemed = ok(store.redeem_change(act_of("local:eve", 2), foreign));
        assert_eq!(
            refusal(redeemed),
            Refusal::Invalid,
            "only its owner can close it"
        );
        let mut asked = redemption(&preview, given(&write));
        asked.decision = decision;
        let before = audit_rows(&store).len();
        assert_eq!(refusal(ok(store.redeem_change(act(2), asked))), expected);
        let rows = audit_rows(&store);
        assert_eq!(rows.len(), before + 1);
        assert_eq!(rows[before].code.as_deref(), Some(expected.code()));
        let mut late_yes = redemption(&preview, given(&write));
        late_yes.decision = Decision::Commit(ApprovalMethod::ElicitationForm);
        assert_eq!(refusal(ok(store.redeem_change(act(3), late_yes))), expected);
        assert_eq!(ok(store.get_ticket(filed.id)), filed);
    }
}

fn a_no_after_the_commit_is_told_so(place: &Place) {
    let store = place.open();
    let (_, write) = deletion(&store);
    let preview = previewed(&store, act(1), new_preview(&write, ApprovalLevel::Token));
    assert!(matches!(
        ok(redeem(&store, act(2), &preview)),
        Redeemed::Applied(_)
    ));
    let mut asked = redemption(&preview, given(&write));
    asked.decision = Decision::Decline;
    assert_eq!(
        refusal(ok(store.redeem_change(act(3), asked))),
        Refusal::AlreadyApplied
    );
}
