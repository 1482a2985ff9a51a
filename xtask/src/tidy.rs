//! Rules about the tree that the compiler does not know: which crate may see which, where a dependency lives, that
//! every module says what it is for, and that the documents name what exists. Also a test, so `cargo test` checks it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use cargo_metadata::{CargoOpt, DependencyKind, Metadata, MetadataCommand, Package};

/// Which crate may depend on which (design section 1). What is not here is forbidden.
const ARROWS: [(&str, &[&str]); 11] = [
    ("domain", &[]),
    ("writegate", &["domain"]),
    ("guardrail", &["domain"]),
    ("retrieval", &["domain"]),
    ("storage", &["domain", "writegate"]),
    (
        "desk",
        &["domain", "guardrail", "retrieval", "storage", "writegate"],
    ),
    ("mcp-surface", &["desk", "domain"]),
    (
        "mcp-stdio",
        &[
            "desk",
            "domain",
            "guardrail",
            "mcp-surface",
            "storage",
            "writegate",
        ],
    ),
    (
        "mcp-http",
        &[
            "desk",
            "domain",
            "guardrail",
            "mcp-surface",
            "storage",
            "writegate",
        ],
    ),
    ("testkit", &["domain"]),
    (
        "xtask",
        &[
            "desk",
            "domain",
            "guardrail",
            "mcp-surface",
            "retrieval",
            "storage",
            "writegate",
        ],
    ),
];

/// What tests may see besides.
const TEST_ARROWS: [(&str, &[&str]); 6] = [
    ("guardrail", &["testkit"]),
    ("storage", &["testkit"]),
    ("desk", &["testkit"]),
    ("mcp-surface", &["guardrail", "storage", "testkit"]),
    ("mcp-stdio", &["testkit"]),
    ("mcp-http", &["testkit"]),
];

/// Where a dependency lives; it may be used nowhere else.
const HOMES: [(&str, &[&str]); 17] = [
    ("genai", &["guardrail"]),
    ("reqwest", &["guardrail", "mcp-http"]),
    ("opentelemetry", &["mcp-http"]),
    // testkit hands out databases to tests.
    ("diesel", &["storage", "testkit"]),
    ("diesel_migrations", &["storage"]),
    ("libsqlite3-sys", &["storage"]),
    ("pq-sys", &["storage"]),
    ("rmcp", &["mcp-surface", "mcp-stdio", "mcp-http", "xtask"]),
    ("schemars", &["mcp-surface"]),
    ("hmac", &["writegate", "storage"]),
    ("ed25519-dalek", &["writegate"]),
    ("regex-automata", &["guardrail"]),
    ("aho-corasick", &["guardrail"]),
    ("axum", &["mcp-http"]),
    ("rten", &["retrieval"]),
    ("tokenizers", &["retrieval"]),
    ("anyhow", &["mcp-stdio", "mcp-http", "xtask", "testkit"]),
];

/// Licences that a dependency may have; `OR` lists need one of them, `AND` lists all.
const LICENCES: [&str; 15] = [
    "MIT",
    "MIT-0",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    // The root certificates of Mozilla, as data.
    "CDLA-Permissive-2.0",
    "ISC",
    "MPL-2.0",
    // libpq.
    "PostgreSQL",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Crates that must not be in the tree at all, with the reason.
const BANNED: [(&str, &str); 2] = [
    (
        "openssl-sys",
        "a build needs Rust and a C compiler only (design section 10)",
    ),
    ("native-tls", "rustls is the one TLS here"),
];

/// Runs every rule and lists everything that breaks one.
pub(crate) fn run(root: &Path) -> anyhow::Result<()> {
    let metadata = MetadataCommand::new()
        .manifest_path(root.join("Cargo.toml"))
        // What a feature brings is shipped by whoever builds with it.
        .features(CargoOpt::AllFeatures)
        .other_options(vec!["--locked".to_owned(), "--offline".to_owned()])
        .exec()
        .or_else(|_offline| {
            MetadataCommand::new()
                .manifest_path(root.join("Cargo.toml"))
                .features(CargoOpt::AllFeatures)
                .exec()
        })
        .context("cargo metadata")?;
    let mut faults = Vec::new();
    arrows(&metadata, &mut faults);
    homes(&metadata, &mut faults);
    licences(&metadata, &mut faults);
    manifests(&metadata, &mut faults)?;
    versions(root, &metadata, &mut faults)?;
    sources(root, &metadata, &mut faults)?;
    architecture(root, &metadata, &mut faults)?;
    if faults.is_empty() {
        return Ok(());
    }
    bail!(
        "{} rule(s) broken:\n  {}",
        faults.len(),
        faults.join("\n  ")
    )
}

fn members(metadata: &Metadata) -> Vec<&Package> {
    metadata.workspace_packages()
}

fn allowed<'a>(table: &[(&str, &'a [&'a str])], name: &str) -> Option<&'a [&'a str]> {
    table
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, list)| *list)
}

fn arrows(metadata: &Metadata, faults: &mut Vec<String>) {
    let local: BTreeSet<&str> = members(metadata)
        .iter()
        .map(|package| package.name.as_str())
        .collect();
    for package in members(metadata) {
        let name = package.name.as_str();
        let Some(direct) = allowed(&ARROWS, name) else {
            faults.push(format!("`{name}` is not in the table of arrows"));
            continue;
        };
        let tests = allowed(&TEST_ARROWS, name).unwrap_or(&[]);
        for dependency in package
            .dependencies
            .iter()
            .filter(|dependency| local.contains(dependency.name.as_str()))
        {
            let wanted = dependency.name.as_str();
            let test_only = dependency.kind == DependencyKind::Development;
            let fine = direct.contains(&wanted) || (test_only && tests.contains(&wanted));
            if !fine {
                faults.push(format!("`{name}` must not depend on `{wanted}`"));
            }
        }
    }
}

fn homes(metadata: &Metadata, faults: &mut Vec<String>) {
    for package in members(metadata) {
        for dependency in package
            .dependencies
            .iter()
            .filter(|found| found.kind != DependencyKind::Development)
        {
            if let Some(homes) = allowed(&HOMES, &dependency.name)
                && !homes.contains(&package.name.as_str())
            {
                faults.push(format!(
                    "`{}` belongs to {homes:?}, not to `{}`",
                    dependency.name, package.name
                ));
            }
        }
    }
}

fn licences(metadata: &Metadata, faults: &mut Vec<String>) {
    for package in &metadata.packages {
        if let Some((_, reason)) = BANNED
            .iter()
            .find(|(name, _)| *name == package.name.as_str())
            && !only_for_libpq(metadata, package)
        {
            faults.push(format!("`{}` is banned: {reason}", package.name));
        }
        let licence = package.license.as_deref().unwrap_or_default();
        if !licence_is_fine(licence) {
            faults.push(format!(
                "`{}` has the licence `{licence}`, which is not on the list",
                package.name
            ));
        }
    }
}

/// Whether it is there for TLS to PostgreSQL alone, a feature that is off: libpq has no other TLS (design section 10).
fn only_for_libpq(metadata: &Metadata, package: &Package) -> bool {
    let nodes = metadata.resolve.iter().flat_map(|resolve| &resolve.nodes);
    nodes
        .filter(|node| node.dependencies.contains(&package.id))
        .all(|node| metadata[&node.id].name.as_str() == "pq-src")
}

/// Reads the SPDX expressions that occur: `A OR B`, `A AND B`, `(A OR B) AND C`, and the old `A/B`.
fn licence_is_fine(expression: &str) -> bool {
    let expression = expression.replace('/', " OR ");
    let known = |word: &str| LICENCES.contains(&word.trim().trim_matches(['(', ')']));
    !expression.trim().is_empty()
        && expression
            .split(" AND ")
            .all(|part| part.split(" OR ").any(known))
}

fn manifests(metadata: &Metadata, faults: &mut Vec<String>) -> anyhow::Result<()> {
    for package in members(metadata) {
        let text = std::fs::read_to_string(&package.manifest_path)?;
        if !text.contains("[lints]\nworkspace = true") {
            faults.push(format!(
                "`{}` lacks `[lints] workspace = true`",
                package.name
            ));
        }
        for line in text.lines().skip_while(|line| *line != "[dependencies]") {
            let versioned = line.contains(" = \"") || line.contains("version = ");
            if versioned
                && !line.starts_with('[')
                && !line.contains("path = ")
                && !line.contains("name = ")
            {
                faults.push(format!(
                    "`{}` names a version of its own: {line}",
                    package.name
                ));
            }
        }
    }
    Ok(())
}

/// A version that no crate asks for is left over.
fn versions(root: &Path, metadata: &Metadata, faults: &mut Vec<String>) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(root.join("Cargo.toml"))?;
    let used: BTreeSet<&str> = members(metadata)
        .iter()
        .flat_map(|package| &package.dependencies)
        .map(|dependency| dependency.name.as_str())
        .collect();
    let named = text
        .lines()
        .skip_while(|line| *line != "[workspace.dependencies]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.split_once(" = "))
        .map(|(name, _)| name);
    for name in named.filter(|name| !name.starts_with('#') && !used.contains(name)) {
        faults.push(format!(
            "no crate uses `{name}` of `[workspace.dependencies]`"
        ));
    }
    Ok(())
}

fn sources(root: &Path, metadata: &Metadata, faults: &mut Vec<String>) -> anyhow::Result<()> {
    for package in members(metadata) {
        let folder = package
            .manifest_path
            .parent()
            .context("a manifest has a folder")?;
        for file in rust_files(folder.as_std_path())? {
            let text = std::fs::read_to_string(&file)?;
            let shown = file
                .strip_prefix(root)
                .unwrap_or(&file)
                .display()
                .to_string();
            let shebang_free = text.trim_start();
            if !shebang_free.starts_with("//!") && !shebang_free.starts_with("#![doc") {
                faults.push(format!(
                    "{shown}: the module does not say what it is for (`//!`)"
                ));
            }
            for (mark, reason) in [
                (concat!("TO", "DO"), "write it or file it"),
                (concat!("FIX", "ME"), "write it or file it"),
                (concat!("#[ig", "nore"), "slow tests go by DESKGATE_FULL"),
                (concat!("#[should_", "panic"), "assert on the error instead"),
            ] {
                if text.contains(mark) {
                    faults.push(format!("{shown}: `{mark}` ({reason})"));
                }
            }
            if text.contains("desk::system::")
                && !["mcp-stdio", "mcp-http", "xtask"].contains(&package.name.as_str())
            {
                let in_tests = file.components().any(|part| part.as_os_str() == "tests")
                    || shown.ends_with("tests.rs");
                if !in_tests {
                    faults.push(format!(
                        "{shown}: only binaries construct the machine's clock and randomness"
                    ));
                }
            }
        }
    }
    Ok(())
}

fn rust_files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                if !path.ends_with("target") && !path.ends_with("node_modules") {
                    open.push(path);
                }
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// `ARCHITECTURE.md` names exactly the crates that exist: the maps of four of six models had drifted (style, 1.8).
fn architecture(root: &Path, metadata: &Metadata, faults: &mut Vec<String>) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(root.join("ARCHITECTURE.md")).context("ARCHITECTURE.md")?;
    if text.lines().count() > 250 {
        faults.push("ARCHITECTURE.md is over 250 lines".to_owned());
    }
    let mut named = BTreeMap::new();
    for line in text.lines().filter_map(|line| line.strip_prefix("### `")) {
        if let Some((name, _)) = line.split_once('`') {
            *named.entry(name.to_owned()).or_insert(0) += 1;
        }
    }
    let existing: BTreeSet<String> = members(metadata)
        .iter()
        .map(|package| package.name.to_string())
        .collect();
    for name in existing.iter().filter(|name| named.get(*name) != Some(&1)) {
        faults.push(format!(
            "ARCHITECTURE.md needs exactly one heading ### `{name}`"
        ));
    }
    for name in named.keys().filter(|name| !existing.contains(*name)) {
        faults.push(format!(
            "ARCHITECTURE.md names `{name}`, which does not exist"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    //! The tree keeps its rules, and the rules can be broken.

    use super::*;

    #[test]
    fn the_tree_is_tidy() {
        run(crate::root().as_path()).unwrap();
    }

    #[test]
    fn licences_are_read_as_spdx_means_them() {
        for good in [
            "MIT",
            "MIT OR Apache-2.0",
            "GPL-3.0 OR MIT",
            "MIT/Apache-2.0",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
        ] {
            assert!(licence_is_fine(good), "{good}");
        }
        for bad in [
            "",
            "GPL-3.0",
            "MIT AND GPL-3.0",
            "Proprietary",
            "AGPL-3.0 OR SSPL-1.0",
        ] {
            assert!(!licence_is_fine(bad), "{bad}");
        }
    }

    #[test]
    fn an_arrow_that_points_up_is_not_allowed() {
        assert!(!allowed(&ARROWS, "domain").unwrap().contains(&"storage"));
        assert!(!allowed(&ARROWS, "desk").unwrap().contains(&"mcp-surface"));
        assert_eq!(
            allowed(&HOMES, "rmcp")
                .unwrap()
                .iter()
                .filter(|home| **home == "desk")
                .count(),
            0
        );
    }
}
