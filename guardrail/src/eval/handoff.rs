//! Lays out what an outside author of a corpus gets: a brief, the format, a template and KB-006, and nothing else.

use std::path::{Path, PathBuf};

use super::EvalError;

const BRIEF: &str = include_str!("handoff/BRIEF.md");
const FORMAT: &str = include_str!("handoff/FORMAT.md");
const TEMPLATE: &str = include_str!("handoff/template.json");

/// Writes the handoff into `directory`, which is made. `repository` is the tree that the author must not see, and
/// `article` the text of KB-006.
///
/// A directory in, above or beside the repository is refused: from there an author could look around. Returns what was
/// written.
pub fn handoff(
    directory: &Path,
    repository: &Path,
    article: &str,
) -> Result<Vec<PathBuf>, EvalError> {
    let unwritable = |path: &Path| {
        let path = path.display().to_string();
        move |source| EvalError::Unwritable { path, source }
    };
    let repository = repository
        .canonicalize()
        .map_err(|source| EvalError::Unreadable {
            path: repository.display().to_string(),
            source,
        })?;
    let place = resolved(directory).map_err(unwritable(directory))?;
    let beside = place.parent().is_some() && place.parent() == repository.parent();
    if place.starts_with(&repository) || repository.starts_with(&place) || beside {
        return Err(EvalError::TooNear {
            path: directory.display().to_string(),
        });
    }
    std::fs::create_dir_all(&place).map_err(unwritable(&place))?;
    let mut written = Vec::new();
    for (name, text) in [
        ("BRIEF.md", BRIEF),
        ("FORMAT.md", FORMAT),
        ("template.json", TEMPLATE),
        ("KB-006.md", article),
    ] {
        let path = place.join(name);
        std::fs::write(&path, text).map_err(unwritable(&path))?;
        written.push(path);
    }
    Ok(written)
}

/// `path` with links resolved as far as it exists, so that neither a link nor `..` hides where it leads.
fn resolved(path: &Path) -> std::io::Result<PathBuf> {
    let absolute = std::path::absolute(path)?;
    let mut missing = Vec::new();
    let mut existing = absolute.as_path();
    loop {
        if let Ok(found) = existing.canonicalize() {
            let mut place = found;
            for name in missing.iter().rev() {
                if *name == ".." {
                    place.pop();
                } else {
                    place.push(name);
                }
            }
            return Ok(place);
        }
        let name = existing
            .components()
            .next_back()
            .map(|part| part.as_os_str().to_owned());
        let (Some(name), Some(parent)) = (name, existing.parent()) else {
            return Ok(absolute);
        };
        missing.push(name);
        existing = parent;
    }
}
