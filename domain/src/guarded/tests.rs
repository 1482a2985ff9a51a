//! A change names what would differ, and only that.

use super::*;
use crate::{Channel, LastCommentBy, SecurityFlag, Timestamp, Version};

fn ticket() -> Ticket {
    Ticket {
        id: TicketId::new(1),
        customer: CustomerId::new(1),
        channel: Channel::Email,
        subject: "Printer".to_owned(),
        description: "It is offline".to_owned(),
        category: "hardware".to_owned(),
        priority: Priority::Medium,
        status: Status::Open,
        tier: Tier::FIRST,
        assigned_team: Some("Desk".to_owned()),
        assignee: None,
        security_flag: SecurityFlag::None,
        last_comment_by: LastCommentBy::Customer,
        created_at: Timestamp::from_micros(0),
        updated_at: Timestamp::from_micros(0),
        version: Version::FIRST,
    }
}

#[test]
fn a_change_holds_only_what_would_differ() {
    let patch = TicketPatch {
        priority: Some(Priority::Medium),
        tier: Some(Tier::LAST),
        team: Assign::Clear,
        assignee: Assign::Clear,
        note: Some("because".to_owned()),
        ..TicketPatch::default()
    };
    let change = patch.change(&ticket());
    let fields: Vec<_> = change
        .fields
        .iter()
        .map(|change| change.field.as_ref())
        .collect();
    assert_eq!(fields, ["tier", "team", "note"]);
    assert!(TicketPatch::default().change(&ticket()).is_empty());
}
