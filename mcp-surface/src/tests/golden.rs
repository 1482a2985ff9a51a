//! The surface as files: what changes for a model is seen in review.
//!
//! `UPDATE_SURFACE=1 cargo test -p mcp-surface golden` rewrites them, but never where `CI=true`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::{PROMPTS, TEMPLATES, tool_specs};

fn expected() -> BTreeMap<PathBuf, Value> {
    let tools = tool_specs().map(|spec| {
        let name = format!("tools/{}.json", spec.name);
        (name, serde_json::to_value(spec.tool()).unwrap())
    });
    let templates = TEMPLATES.iter().map(|spec| {
        let name = format!("resources/{}.json", spec.name);
        (name, serde_json::to_value(spec.template()).unwrap())
    });
    let prompts = PROMPTS.iter().map(|spec| {
        let name = format!("prompts/{}.json", spec.name);
        (name, serde_json::to_value(spec.prompt()).unwrap())
    });
    tools
        .chain(templates)
        .chain(prompts)
        .map(|(name, value)| (PathBuf::from(name), value))
        .collect()
}

fn found(root: &Path) -> BTreeMap<PathBuf, Value> {
    let mut files = BTreeMap::new();
    for folder in ["tools", "resources", "prompts"] {
        let Ok(entries) = std::fs::read_dir(root.join(folder)) else {
            continue;
        };
        for entry in entries {
            let path = entry.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            let name = path.strip_prefix(root).unwrap().to_owned();
            files.insert(
                name,
                serde_json::from_str(&text).unwrap_or(json!("unreadable")),
            );
        }
    }
    files
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the switches of a test, not of the product"
)]
fn the_surface_is_the_one_in_the_golden_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("surface");
    let wanted = expected();
    let is_on = |name: &str, value: &str| std::env::var(name).is_ok_and(|set| set == value);
    if is_on("UPDATE_SURFACE", "1") && !is_on("CI", "true") {
        if root.exists() {
            std::fs::remove_dir_all(&root).unwrap();
        }
        for (name, value) in &wanted {
            let path = root.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            let text = serde_json::to_string_pretty(value).unwrap();
            std::fs::write(path, text + "\n").unwrap();
        }
    }
    let found = found(&root);
    let names = |files: &BTreeMap<PathBuf, Value>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(
        names(&found),
        names(&wanted),
        "UPDATE_SURFACE=1 rewrites the files"
    );
    for (name, value) in wanted {
        assert_eq!(
            found[&name],
            value,
            "{}: UPDATE_SURFACE=1 rewrites it",
            name.display()
        );
    }
}
