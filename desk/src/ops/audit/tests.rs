//! When a checkpoint is due, what a file of them is worth, and what a verdict says.

use super::*;
use crate::ops::tests::{TestDesk, run};
use crate::{Caller, ErrorCode};

fn refuse(desk: &Desk, caller: &Caller) {
    run(desk.record_refusal(caller, domain::Action::UpdateTicket, ErrorCode::Forbidden)).unwrap();
}

#[test]
fn a_checkpoint_is_due_after_a_thousand_rows_or_a_minute_with_news() {
    let kept = Kept {
        seq: 500,
        at: Timestamp::from_micros(0),
        in_file: None,
    };
    for (end, seconds, due) in [
        (500, 0, false),
        (500, 3_600, false),
        (501, 59, false),
        (501, 60, true),
        (1_499, 0, false),
        (1_500, 0, true),
    ] {
        let now = Timestamp::from_micros(seconds * 1_000_000);
        assert_eq!(is_due(end, kept, now), due, "{end} after {seconds} s");
    }
}

#[test]
fn a_file_has_each_checkpoint_once_and_tells_what_the_store_cannot() {
    let TestDesk {
        desk,
        caller,
        folder,
    } = TestDesk::new();
    let (desk, file) = (Arc::new(desk), folder.path().join("notes"));
    let keeper = || Keeper::new(Arc::clone(&desk), Some(file.clone()));
    let first = keeper();
    assert_eq!(run(first.take()).unwrap(), None);
    refuse(&desk, &caller);
    run(first.tick()).unwrap();
    assert!(!file.exists(), "one row is no news before a minute is over");
    for _ in 0..2 {
        run(first.take()).unwrap();
        run(keeper().take()).unwrap();
    }
    refuse(&desk, &caller);
    run(keeper().take()).unwrap();
    let verdict = run(verify(&desk, Some(&file))).unwrap();
    assert_eq!((verdict.report.outside, verdict.report.anchored), (2, 2));
    assert!(verdict.is_sound() && !verdict.torn);
    assert!(verdict.to_string().ends_with("vouch for the rows up to 2."));
    let alone = run(verify(&desk, None)).unwrap();
    assert!(alone.is_sound());
    let told = "truncation and a full rewrite are not detectable.";
    assert!(alone.to_string().ends_with(told), "{alone}");
}

#[test]
fn a_note_that_was_cut_short_costs_that_note_and_no_other() {
    let TestDesk {
        desk,
        caller,
        folder,
    } = TestDesk::new();
    let (desk, file) = (Arc::new(desk), folder.path().join("notes"));
    let keep = || {
        refuse(&desk, &caller);
        run(Keeper::new(Arc::clone(&desk), Some(file.clone())).take()).unwrap();
        String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned()
    };
    let one = keep();
    let two = keep();
    let note = one.strip_suffix('\n').unwrap();
    for cut in one.len() + 1..two.len() {
        std::fs::write(&file, &two.as_bytes()[..cut]).unwrap();
        append(&file, note).unwrap();
        let bytes = std::fs::read(&file).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert_eq!(notes_in(&text), (vec![note.to_owned(); 2], true), "{cut}");
    }
    std::fs::write(&file, &two.as_bytes()[..two.len() - 30]).unwrap();
    let three = keep();
    let verdict = run(verify(&desk, Some(&file))).unwrap();
    assert_eq!(verdict.report.flaw, None, "{three}");
    assert_eq!((verdict.report.outside, verdict.torn), (2, true));
}

#[test]
fn a_verdict_names_the_row_in_words_and_for_programs() {
    let fault = storage::AuditFault::Changed;
    let verdict = Verdict {
        report: AuditReport {
            rows: 3,
            flaw: Some(storage::AuditFlaw { seq: 4, fault }),
            ..AuditReport::default()
        },
        torn: false,
    };
    assert!(verdict.to_string().starts_with("TAMPERED at row 4: "));
    let json: serde_json::Value = serde_json::from_str(&verdict.to_json()).unwrap();
    assert_eq!(json["flaw"]["seq"], 4);
    assert_eq!(json["flaw"]["code"], "changed");
    assert_eq!(json["ok"], false);
}

#[test]
fn an_export_has_every_row_with_its_proof() {
    let TestDesk {
        desk,
        caller,
        folder: _folder,
    } = TestDesk::new();
    for _ in 0..3 {
        refuse(&desk, &caller);
    }
    let mut output = Vec::new();
    assert_eq!(run(export(&desk, &mut output)).unwrap(), 3);
    let text = String::from_utf8(output).unwrap();
    let lines: Vec<serde_json::Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[0]["prev"], "0".repeat(64));
    assert_eq!(lines[1]["prev"], lines[0]["hash"]);
    assert!(
        lines[2]["payload"]
            .as_str()
            .unwrap()
            .starts_with("{\"v\":1,")
    );
}
