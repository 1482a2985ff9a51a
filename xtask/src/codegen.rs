//! Documents that are written from the code, so that they cannot say something else.

use std::path::Path;

use anyhow::{Context as _, bail};

/// Writes the documents, or with `check` fails where one is not what the code says.
pub(crate) fn run(root: &Path, check: bool) -> anyhow::Result<()> {
    let documents = [
        ("docs/tools.md", mcp_surface::docs_tools_markdown()),
        ("docs/roles.md", mcp_surface::docs_roles_markdown()),
        (
            "docs/error-contract.md",
            mcp_surface::docs_error_contract_markdown(),
        ),
    ];
    for (name, text) in documents {
        let path = root.join(name);
        if !check {
            std::fs::create_dir_all(path.parent().context("a document has a folder")?)?;
            std::fs::write(&path, text)?;
        } else if std::fs::read_to_string(&path).unwrap_or_default() != text {
            bail!("`{name}` is not what the code says; run `cargo xtask codegen`");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    //! Whatever CI checks, `cargo test` checks.

    #[test]
    fn documents_are_what_the_code_says() {
        super::run(&crate::root(), true).unwrap();
    }
}
