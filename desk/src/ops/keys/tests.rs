//! Making, refusing, rotating and following a key file.

use tempfile::TempDir;
use testkit::CountingIds;
use writegate::{ApprovalLevel, ApprovalMethod, ChangeDigest, Purpose, ScreeningDigest};

use super::*;

struct Place(TempDir);

impl Place {
    fn path(&self) -> PathBuf {
        self.0.path().join("desk.db-keys")
    }
}

fn place() -> Place {
    Place(TempDir::new().unwrap())
}

fn binding() -> Binding {
    Binding {
        purpose: Purpose::Confirm,
        deployment: "d".to_owned(),
        channel: "stdio".to_owned(),
        actor: "ana".to_owned(),
        client: "stdio".to_owned(),
        tool: "update_ticket".to_owned(),
        entity_kind: "ticket".to_owned(),
        entity_id: 1,
        version: 1,
        change: ChangeDigest::of(&[]),
        screening: ScreeningDigest::of(&[]),
        required: ApprovalLevel::Token,
        issued: 0,
        expires: 10,
    }
}

fn is_good(gate: &dyn Gate, token: &Token) -> bool {
    let binding = binding();
    let presented = Presented {
        deployment: "d",
        channel: "stdio",
        actor: "ana",
        client: "stdio",
        tool: "update_ticket",
        entity_kind: "ticket",
        entity_id: 1,
        version: 1,
        change: binding.change,
        screening: binding.screening,
        required: ApprovalLevel::Token,
        method: ApprovalMethod::TokenOnly,
    };
    gate.redeem(token, Some(&binding.encode()), &presented, Some(5))
        .is_ok()
}

#[test]
fn a_key_file_is_made_once_and_read_by_everybody_else() {
    let (place, ids) = (place(), CountingIds::default());
    let first = load_or_create(&place.path(), &ids).unwrap();
    let second = load_or_create(&place.path(), &ids).unwrap();
    assert_eq!(first.current_kid(), second.current_kid());
    assert!(matches!(
        create(&place.path(), &ids),
        Err(KeysError::Exists { .. })
    ));
    let files = std::fs::read_dir(place.0.path()).unwrap().count();
    assert_eq!(files, 1, "no draft is left behind");
}

#[test]
#[cfg(unix)]
fn a_key_file_that_others_can_read_is_refused() {
    use std::os::unix::fs::PermissionsExt;

    let (place, ids) = (place(), CountingIds::default());
    create(&place.path(), &ids).unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&place.path()), 0o600);
    for open in [0o640, 0o604, 0o666, 0o620] {
        std::fs::set_permissions(place.path(), std::fs::Permissions::from_mode(open)).unwrap();
        assert!(
            matches!(load(&place.path()), Err(KeysError::NotPrivate { mode, .. }) if mode == open),
            "{open:o}"
        );
        assert!(load_or_create(&place.path(), &ids).is_err(), "{open:o}");
    }
}

#[test]
fn a_missing_empty_or_weak_key_file_is_refused_with_what_to_do() {
    let place = place();
    let missing = load(&place.path()).unwrap_err().to_string();
    assert!(missing.contains("make one with `keys create`"), "{missing}");
    let zeros = "A".repeat(43);
    let short = "sd-HQMrKU4j2G1SjPHe55g";
    for text in [
        String::new(),
        "deskgate-keys 1\n".to_owned(),
        format!("deskgate-keys 1\nk1 current {zeros}\n"),
        format!("deskgate-keys 1\nk1 current {short}\n"),
    ] {
        drop(std::fs::remove_file(place.path()));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(place.path()).unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let refused = load_or_create(&place.path(), &CountingIds::default());
        assert!(matches!(refused, Err(KeysError::Bad { .. })), "{text}");
    }
}

#[test]
fn rotation_refuses_no_token_in_a_process_that_has_not_heard_of_it() {
    let (place, ids) = (place(), CountingIds::default());
    let ring = load_or_create(&place.path(), &ids).unwrap();
    let (here, there) = (
        gate(place.path(), ring.clone()),
        gate(place.path(), ring.clone()),
    );
    let before = here.mint(&binding(), ids.nonce());
    let rotated = rotate(&place.path(), &ids).unwrap();
    there.replace_ring(rotated);
    let after = there.mint(&binding(), ids.nonce());
    assert_ne!(before.kid(), after.kid());
    for gate in [&here, &there] {
        assert!(is_good(gate.as_ref(), &before));
        assert!(is_good(gate.as_ref(), &after));
    }
    // The key before the last one is gone.
    there.replace_ring(rotate(&place.path(), &ids).unwrap());
    assert!(!is_good(there.as_ref(), &before));
    assert!(is_good(there.as_ref(), &after));
}
