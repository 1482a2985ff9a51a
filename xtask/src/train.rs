//! `cargo xtask train`: makes the local model anew from the texts in the repository.

use std::path::Path;

use guardrail::train::train_files;

/// Trains, says how it did on writers that were kept out, and writes the model file.
pub(crate) fn run(root: &Path) -> anyhow::Result<()> {
    let model = train_files(&root.join("guardrail/training"))?;
    println!("{}", model.report());
    model.write(&root.join("guardrail/model/local.bin"))?;
    Ok(())
}
