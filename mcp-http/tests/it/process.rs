//! The binary itself: its commands, and what stops a start.

use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

pub(crate) fn binary() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_deskgate-http"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("DESKGATE_") {
            command.env_remove(name);
        }
    }
    command.env("RUST_LOG", "trace");
    command
}

pub(crate) fn run(folder: &Path, arguments: &[&str]) -> Output {
    let database = format!("sqlite:{}", folder.join("desk.db").display());
    binary()
        .args(arguments)
        .args(["--database", &database, "--key-file"])
        .arg(folder.join("keys"))
        .output()
        .unwrap()
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn tokens_are_made_shown_once_listed_and_ended() {
    let folder = TempDir::new().unwrap();
    assert!(run(folder.path(), &["keys", "create"]).status.success());
    let made = run(
        folder.path(),
        &[
            "token",
            "create",
            "--subject",
            "anna",
            "--role",
            "agent",
            "--scope",
            "audit:read",
            "--days",
            "30",
        ],
    );
    assert!(made.status.success(), "{}", text(&made.stderr));
    let shown = text(&made.stdout);
    let token = shown.lines().next().unwrap();
    assert!(token.starts_with("dgt_") && token.len() == 68, "{shown}");
    assert!(shown.contains("desk:write audit:read"), "{shown}");
    let list = text(&run(folder.path(), &["token", "list"]).stdout);
    assert!(
        list.starts_with("1\tanna\tuntil ") && list.contains("never used"),
        "{list}"
    );
    assert!(!list.contains("dgt_"));
    let store = std::fs::read(folder.path().join("desk.db")).unwrap();
    assert!(
        !text(&store).contains(token),
        "the store holds the token itself"
    );
    assert!(
        run(folder.path(), &["token", "revoke", "1"])
            .status
            .success()
    );
    assert!(text(&run(folder.path(), &["token", "list"]).stdout).contains("\tended "));
    for bad in [
        vec!["token", "create", "--subject", "anna"],
        vec!["token", "create", "--subject", "", "--role", "viewer"],
        vec!["token", "create", "--subject", "anna", "--role", "admin"],
        vec![
            "token",
            "create",
            "--subject",
            "anna",
            "--scope",
            "DESK:READ",
        ],
        vec![
            "token",
            "create",
            "--subject",
            "anna",
            "--role",
            "viewer",
            "--days",
            "367",
        ],
        vec!["token", "revoke", "99"],
    ] {
        assert!(!run(folder.path(), &bad).status.success(), "{bad:?}");
    }
}

#[test]
fn an_unsafe_or_misspelt_setting_stops_the_start() {
    let folder = TempDir::new().unwrap();
    assert!(run(folder.path(), &["keys", "create"]).status.success());
    for (arguments, word) in [
        (vec!["serve", "--confirm", "off"], "standard, strict"),
        (vec!["serve", "--bind", "0.0.0.0:0"], "public_url"),
        (
            vec!["serve", "--personal-tokens=false"],
            "nobody could sign in",
        ),
        (vec!["serve", "--read-only=yes"], "only `true` and `false`"),
        (vec!["serve", "--readonly"], "unexpected argument"),
        (vec!["serve", "--allowed-origins", "*"], "allowed origin"),
        (
            vec!["serve", "--trusted-proxies", "everybody"],
            "trusted proxy",
        ),
        (vec!["serve", "--public-url", "desk.example"], "public_url"),
    ] {
        let mut arguments = arguments;
        if !arguments.contains(&"--bind") {
            arguments.extend(["--bind", "127.0.0.1:0"]);
        }
        let output = run(folder.path(), &arguments);
        let error = text(&output.stderr);
        assert!(!output.status.success(), "{arguments:?}");
        assert!(error.contains(word), "{arguments:?}: {error}");
    }
    let misspelt = binary()
        .args(["doctor"])
        .env("DESKGATE_READONLY", "true")
        .output()
        .unwrap();
    assert!(!misspelt.status.success() && text(&misspelt.stderr).contains("DESKGATE_READ_ONLY"));
    let demo = binary()
        .args([
            "serve",
            "--demo",
            "--bind",
            "0.0.0.0:0",
            "--public-url",
            "https://a.example/mcp",
        ])
        .output()
        .unwrap();
    assert!(!demo.status.success() && text(&demo.stderr).contains("loopback only"));
    let unknown_alg = folder.path().join("hs.toml");
    std::fs::write(&unknown_alg, "[[issuers]]\nissuer = \"https://a.example\"\nalgorithms = [\"HS256\"]\njwks_file = \"k\"\n").unwrap();
    let hmac = run(
        folder.path(),
        &[
            "serve",
            "--bind",
            "127.0.0.1:0",
            "--config",
            unknown_alg.to_str().unwrap(),
        ],
    );
    assert!(
        !hmac.status.success() && text(&hmac.stderr).contains("use asymmetric algorithms"),
        "{}",
        text(&hmac.stderr)
    );
}

#[test]
fn without_a_good_private_key_nothing_is_served() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("keys");
    let serve = ["serve", "--bind", "127.0.0.1:0"];
    let refused = |word: &str| {
        let output = run(folder.path(), &serve);
        let error = text(&output.stderr);
        assert!(
            !output.status.success() && error.contains(word),
            "{word}: {error}"
        );
        let doctor = run(folder.path(), &["doctor"]);
        assert!(
            text(&doctor.stdout).contains(word),
            "{}",
            text(&doctor.stdout)
        );
    };
    refused("there is no key file");
    let made = run(folder.path(), &["keys", "create"]);
    assert!(made.status.success(), "{}", text(&made.stderr));
    let good = std::fs::read_to_string(&path).unwrap();
    assert!(!run(folder.path(), &["keys", "create"]).status.success());
    assert!(run(folder.path(), &["keys", "rotate"]).status.success());
    assert_ne!(std::fs::read_to_string(&path).unwrap(), good);
    for secret in good.split_ascii_whitespace().filter(|word| word.len() > 40) {
        assert!(!text(&made.stdout).contains(secret));
    }
    for bad in ["", "k1 AAAA\n", "nonsense"] {
        std::fs::write(&path, bad).unwrap();
        refused("is refused");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::write(&path, &good).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        refused("is open to other users");
    }
    let unnamed = binary()
        .args(["serve", "--bind", "127.0.0.1:0", "--database"])
        .arg(format!(
            "sqlite:{}",
            folder.path().join("other.db").display()
        ))
        .output()
        .unwrap();
    assert!(!unnamed.status.success() && text(&unnamed.stderr).contains("DESKGATE_KEY_FILE"));
}

#[test]
fn a_pipe_decides_no_approval() {
    let folder = TempDir::new().unwrap();
    for first in [["keys", "create"].as_slice(), &["migrate"]] {
        assert!(run(folder.path(), first).status.success());
    }
    let list = run(folder.path(), &["approvals", "list"]);
    assert_eq!(text(&list.stdout), "Nothing waits for a person.\n");
    for (id, word) in [("A-1", "nothing waits"), ("T-1", "approval")] {
        let output = run(folder.path(), &["approvals", "approve", id]);
        let error = text(&output.stderr);
        assert!(
            !output.status.success() && error.contains(word),
            "{id}: {error}"
        );
    }
}

#[test]
fn migrate_check_config_import_and_doctor_do_what_they_say() {
    let folder = TempDir::new().unwrap();
    let unsealed = run(folder.path(), &["migrate"]);
    assert!(text(&unsealed.stderr).contains("make one with `keys create`"));
    assert!(run(folder.path(), &["keys", "create"]).status.success());
    assert!(text(&run(folder.path(), &["migrate"]).stdout).starts_with("applied 0001"));
    assert!(text(&run(folder.path(), &["migrate"]).stdout).contains("up to date"));
    let alone = run(folder.path(), &["doctor"]);
    assert!(text(&alone.stdout).contains("truncation and a full rewrite of the audit log"));
    let notes = folder.path().join("notes");
    let kept = ["--checkpoint-file", notes.to_str().unwrap()];
    let healthy = run(folder.path(), &["doctor", kept[0], kept[1]]);
    assert!(healthy.status.success(), "{}", text(&healthy.stdout));
    let loud = run(
        folder.path(),
        &["doctor", "--log", "trace", kept[0], kept[1]],
    );
    assert_eq!(loud.status.code(), Some(1));
    assert!(text(&loud.stdout).contains("`log` is `trace`"));
    let printed = run(
        folder.path(),
        &["serve", "--check-config", "--sessions", "9"],
    );
    assert!(text(&printed.stdout).contains("sessions = 9"));
    let row = r#"{"external_id":"c1","name":"Ada","email":"ada@example.com","status":"active","created_at":"2026-01-01T00:00:00Z"}"#;
    std::fs::write(folder.path().join("customers.jsonl"), row).unwrap();
    let path = folder.path().join("customers.jsonl");
    let imported = run(folder.path(), &["import", path.to_str().unwrap()]);
    assert!(
        imported.status.success(),
        "{} {}",
        text(&imported.stdout),
        text(&imported.stderr)
    );
}

#[test]
fn a_customer_is_erased_when_both_ids_are_the_same() {
    let folder = TempDir::new().unwrap();
    assert!(run(folder.path(), &["keys", "create"]).status.success());
    let row = r#"{"external_id":"c1","name":"Ada","email":"ada@example.com","status":"active","created_at":"2026-01-01T00:00:00Z"}"#;
    let path = folder.path().join("customers.jsonl");
    std::fs::write(&path, row).unwrap();
    assert!(
        run(folder.path(), &["import", path.to_str().unwrap()])
            .status
            .success()
    );
    for (arguments, word) in [
        (vec!["erase-customer", "C-1"], "--repeat"),
        (
            vec!["erase-customer", "C-1", "--repeat", "C-2"],
            "nothing was erased",
        ),
        (
            vec!["erase-customer", "C-2", "--repeat", "C-2"],
            "no customer",
        ),
        (vec!["erase-customer", "T-1", "--repeat", "T-1"], "ticket"),
    ] {
        let refused = run(folder.path(), &arguments);
        let error = text(&refused.stderr);
        assert!(
            !refused.status.success() && error.contains(word),
            "{arguments:?}: {error}"
        );
    }
    let erased = run(folder.path(), &["erase-customer", "C-1", "--repeat", "1"]);
    assert!(erased.status.success(), "{}", text(&erased.stderr));
    assert!(text(&erased.stdout).starts_with("C-1 is erased: 0 tickets"));
    let again = run(folder.path(), &["erase-customer", "C-1", "--repeat", "C-1"]);
    assert!(!again.status.success());
    let verified = run(folder.path(), &["audit", "verify"]);
    assert_eq!(
        verified.status.code(),
        Some(0),
        "{}",
        text(&verified.stdout)
    );
}

#[test]
fn the_audit_log_is_proved_from_outside_with_an_exit_code_for_each_verdict() {
    let (folder, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let notes = folder.path().join("notes");
    let kept = ["--checkpoint-file", notes.to_str().unwrap()];
    let token = ["token", "create", "--subject", "anna", "--role", "agent"];
    let early = run(folder.path(), &["audit", "verify"]);
    assert_eq!(early.status.code(), Some(2), "there is no key file");
    assert!(run(folder.path(), &["keys", "create"]).status.success());
    assert!(run(folder.path(), &token).status.success());
    let signed = run(folder.path(), &["audit", "checkpoint", kept[0], kept[1]]);
    let shown = text(&signed.stdout);
    assert!(
        signed.status.success() && shown.starts_with("deskgate/"),
        "{shown}"
    );
    assert!(shown.contains("\nVerified with: deskgate/"), "{shown}");
    assert!(run(folder.path(), &["keys", "rotate"]).status.success());
    assert!(run(folder.path(), &token).status.success());
    let sound = run(
        folder.path(),
        &["audit", "verify", "--json", kept[0], kept[1]],
    );
    let verdict: serde_json::Value = serde_json::from_str(&text(&sound.stdout)).unwrap();
    assert_eq!(sound.status.code(), Some(0), "{verdict}");
    assert_eq!(
        (&verdict["rows"], &verdict["anchored"]),
        (&2.into(), &1.into())
    );
    let alone = run(folder.path(), &["audit", "verify"]);
    assert!(text(&alone.stdout).contains("not detectable"));
    let exported = text(&run(folder.path(), &["audit", "export"]).stdout);
    assert_eq!(exported.lines().count(), 2);
    // The same keys and another store: somebody has put it in the place of this one.
    std::fs::copy(folder.path().join("keys"), other.path().join("keys")).unwrap();
    assert!(run(other.path(), &token).status.success());
    let swapped = run(other.path(), &["audit", "verify", kept[0], kept[1]]);
    assert_eq!(swapped.status.code(), Some(1));
    assert!(text(&swapped.stdout).starts_with("TAMPERED at row 1: "));
}
