//! The rows of a seeded store, and the store.

use std::collections::{HashMap, HashSet};

use super::*;
use crate::ops::import::{RecordKind, Silent};
use crate::ops::tests::{TestDesk, run};

fn tickets(rows: &[ImportRow]) -> Vec<&ImportTicket> {
    rows.iter()
        .filter_map(|row| match &row.record {
            ImportRecord::Ticket(ticket) => Some(ticket),
            ImportRecord::Customer(_)
            | ImportRecord::Comment(_)
            | ImportRecord::Call(_)
            | ImportRecord::Csat(_)
            | ImportRecord::Article(_) => None,
        })
        .collect()
}

#[test]
fn the_same_size_gives_the_same_rows_and_the_sizes_are_right() {
    let rows: Vec<_> = scale(2_000).collect();
    assert_eq!(rows, scale(2_000).collect::<Vec<_>>());
    let count = |kind| rows.iter().filter(|row| row.record.kind() == kind).count();
    assert_eq!(count(RecordKind::Customer), 200);
    assert_eq!(count(RecordKind::Ticket), 2_000);
    let comments = count(RecordKind::Comment);
    assert!((3_800..4_200).contains(&comments), "{comments}");
    assert_eq!(scale(0).count(), 0);
}

#[test]
fn every_status_priority_team_channel_tier_and_category_occurs() {
    let rows: Vec<_> = scale(1_000).collect();
    let tickets = tickets(&rows);
    let distinct = |of: fn(&ImportTicket) -> String| {
        let values: HashSet<_> = tickets.iter().map(|ticket| of(ticket)).collect();
        values.len()
    };
    assert_eq!(distinct(|t| t.status.to_string()), Status::ALL.len());
    assert_eq!(distinct(|t| t.priority.to_string()), Priority::ALL.len());
    assert_eq!(distinct(|t| t.channel.to_string()), Channel::ALL.len());
    assert_eq!(distinct(|t| t.category.clone()), category::BUILT_IN.len());
    assert_eq!(distinct(|t| t.tier.number().to_string()), 3);
    assert_eq!(distinct(|t| format!("{:?}", t.assigned_team)), TEAMS.len());
    assert_eq!(distinct(|t| t.external_id.clone()), 1_000);
}

#[test]
fn times_lie_in_the_two_years() {
    let end = Timestamp::parse("2026-11-01").unwrap();
    let start = Timestamp::parse("2024-11-01").unwrap();
    assert_eq!(END, end);
    let rows: Vec<_> = scale(1_000).collect();
    let tickets = tickets(&rows);
    assert!(
        tickets
            .iter()
            .all(|t| t.created_at >= start && t.updated_at <= end)
    );
    let first_year = Timestamp::parse("2025-11-01").unwrap();
    let early = tickets.iter().filter(|t| t.created_at < first_year).count();
    assert!((490..=510).contains(&early), "{early}");
}

#[test]
fn words_are_common_and_rare_and_each_ticket_has_its_own() {
    let rows: Vec<_> = scale(2_000).collect();
    let mut texts_with: HashMap<String, usize> = HashMap::new();
    for ticket in tickets(&rows) {
        let words: HashSet<_> = ticket
            .description
            .split([' ', '.'])
            .filter(|word| !word.is_empty())
            .collect();
        for word in words {
            *texts_with.entry(word.to_owned()).or_default() += 1;
        }
    }
    assert!(texts_with["the"] > 1_500);
    assert!((100..1_500).contains(&texts_with["printer"]));
    assert_eq!(texts_with["AT0000042"], 1);
    let rare = texts_with.values().filter(|count| **count <= 20).count();
    assert!(rare > 2_000, "{rare}");
}

#[test]
fn a_seeded_store_takes_every_row_and_a_second_seed_changes_nothing() {
    let desk = TestDesk::new();
    let seed = || run(seed_scale(&desk.desk, &desk.caller, 300, &Silent)).unwrap();
    let first = seed();
    assert_eq!(first.of(RecordKind::Ticket).created, 300);
    assert_eq!(first.of(RecordKind::Customer).created, 30);
    assert_eq!(first.refused, []);
    let second = seed();
    assert_eq!(second.total().created, 0);
    assert_eq!(second.total().existing, first.total().created);
}
