//! Writing a write down and reading it back.

use proptest::option;
use proptest::prelude::*;

use super::*;

fn patch() -> impl Strategy<Value = TicketPatch> {
    let text = || option::of(".*");
    let assign = || {
        prop_oneof![
            Just(Assign::Keep),
            Just(Assign::Clear),
            ".*".prop_map(Assign::Set)
        ]
    };
    (
        option::of(prop::sample::select(Status::ALL)),
        option::of((1..=3i64).prop_map(|tier| Tier::new(tier).unwrap())),
        option::of(prop::sample::select(Priority::ALL)),
        (text(), text(), text(), text()),
        (assign(), assign()),
    )
        .prop_map(
            |(status, tier, priority, (category, subject, description, note), (team, assignee))| {
                TicketPatch {
                    status,
                    tier,
                    priority,
                    category,
                    team,
                    assignee,
                    subject,
                    description,
                    note,
                }
            },
        )
}

/// One write of every operation.
fn every_write() -> Vec<GuardedWrite> {
    let ticket = TicketId::new(7);
    let comment = |origin| NewComment {
        body: "said".to_owned(),
        origin,
    };
    let open = GuardedWrite::Open;
    vec![
        GuardedWrite::UpdateTicket {
            ticket,
            patch: TicketPatch::default(),
        },
        GuardedWrite::PublishComment {
            ticket,
            publication: Publication {
                body: "Dear Ana".to_owned(),
            },
        },
        GuardedWrite::CloseTicket { ticket },
        GuardedWrite::DeleteTicket { ticket },
        GuardedWrite::UpdateCustomer {
            customer: CustomerId::new(7),
            patch: CustomerPatch {
                phone: Assign::Clear,
                status: Some(CustomerStatus::Inactive),
                ..CustomerPatch::default()
            },
        },
        GuardedWrite::DeleteCustomer {
            customer: CustomerId::new(7),
        },
        GuardedWrite::RecordPaymentVerification {
            ticket,
            verification: PaymentVerification {
                channel_on_file: "phone".to_owned(),
                confirmer: "Ana".to_owned(),
                approver: "Ben".to_owned(),
            },
        },
        GuardedWrite::RecordSecurityReview {
            ticket,
            review: SecurityReview {
                verdict: ReviewVerdict::NoIncident,
                reason: "it is a drill".to_owned(),
            },
        },
        open(OpenWrite::CreateCustomer {
            new: NewCustomer {
                name: "Ana".to_owned(),
                email: "ana@desk.example".to_owned(),
                phone: None,
                organisation: Some("Acme".to_owned()),
            },
        }),
        open(OpenWrite::CreateTicket {
            new: NewTicket {
                customer: CustomerId::new(3),
                channel: Channel::Phone,
                subject: "s".to_owned(),
                description: "d".to_owned(),
                category: "email".to_owned(),
                priority: Priority::High,
                tier: Tier::LAST,
                assigned_team: None,
                assignee: Some("kim".to_owned()),
            },
        }),
        open(OpenWrite::AssignTicket {
            ticket,
            assignment: Assignment {
                team: Assign::Set("field".to_owned()),
                assignee: Assign::Clear,
            },
        }),
        open(OpenWrite::AddComment {
            ticket,
            comment: comment(Origin::Customer),
        }),
        open(OpenWrite::MoveTicket {
            ticket,
            to: OpenStatus::Resolved,
        }),
        open(OpenWrite::ResolveTicket {
            ticket,
            resolution: Some(comment(Origin::Team)),
        }),
    ]
}

fn read_back(write: &GuardedWrite) -> Result<GuardedWrite, BadArguments> {
    let (_, entity) = write.entity();
    GuardedWrite::read(write.operation(), entity, &write.arguments())
}

#[test]
fn every_operation_is_read_back_as_it_was_noted() {
    let writes = every_write();
    for write in &writes {
        assert_eq!(read_back(write).as_ref(), Ok(write));
    }
    let operations: Vec<Operation> = writes.iter().map(GuardedWrite::operation).collect();
    assert_eq!(operations, Operation::ALL);
}

#[test]
fn arguments_of_another_operation_are_refused() {
    for write in every_write() {
        for other in every_write() {
            let read = GuardedWrite::read(write.operation(), 7, &other.arguments());
            if let Ok(read) = read {
                assert_eq!(read.arguments(), other.arguments());
            }
            let extra = write.arguments().text("no_such", Some("x"));
            assert!(GuardedWrite::read(write.operation(), 7, &extra).is_err());
        }
    }
}

#[test]
fn closing_needs_the_approval_of_closing_by_whatever_tool() {
    let update = |status| GuardedWrite::UpdateTicket {
        ticket: TicketId::new(1),
        patch: TicketPatch {
            status,
            ..TicketPatch::default()
        },
    };
    let of = |write: GuardedWrite| write.operations().collect::<Vec<_>>();
    assert_eq!(
        of(update(Some(Status::Closed))),
        [Operation::UpdateTicket, Operation::CloseTicket]
    );
    assert_eq!(of(update(Some(Status::Open))), [Operation::UpdateTicket]);
}

proptest! {
    #[test]
    fn any_patch_is_read_back_as_it_was_noted(patch in patch()) {
        let write = GuardedWrite::UpdateTicket { ticket: TicketId::new(1), patch };
        prop_assert_eq!(read_back(&write), Ok(write));
    }

    #[test]
    fn repeating_some_arguments_changes_nothing_and_any_other_value_does(
        patch in patch(),
        keep in prop::collection::vec(any::<bool>(), 9),
    ) {
        let all = patch.arguments();
        let some: Arguments = all
            .0
            .iter()
            .zip(&keep)
            .filter(|(_, keep)| **keep)
            .map(|(argument, _)| argument.clone())
            .collect();
        prop_assert_eq!(&all.overlaid(&some), &all);
        for (name, _) in &all.0 {
            let other = Arguments::default().flag(name, Some(true));
            prop_assert_ne!(&all.overlaid(&other), &all);
        }
        prop_assert_ne!(&all.overlaid(&Arguments::default().flag("more", Some(true))), &all);
    }
}
