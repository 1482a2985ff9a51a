//! The file with the weights, which is not in the tree: used only if it is the one that everything was measured with.

use std::fmt::Write as _;
use std::io::ErrorKind;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::embedder::Absent;
use crate::vector::ModelId;

/// The model.
pub const MODEL: ModelId = ModelId {
    name: "all-MiniLM-L6-v2-int8",
    version: [0x81, 0x99, 0xbe, 0x6f, 0x69, 0x9a, 0x39, 0x5f],
};

/// Name of the file with the weights (22.9 MB).
pub const WEIGHTS_FILE: &str = "all-MiniLM-L6-v2-int8.onnx";

/// SHA-256 of the file.
pub const WEIGHTS_SHA256: &str = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6";

/// Whether these bytes are the weights; otherwise their SHA-256.
pub fn check_weights(bytes: &[u8]) -> Result<(), String> {
    let mut found = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        // Writing to a string can't fail.
        let _written = write!(found, "{byte:02x}");
    }
    if found == WEIGHTS_SHA256 {
        Ok(())
    } else {
        Err(found)
    }
}

/// Reads and checks the file: what was checked is what is used.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, Absent> {
    let bytes = std::fs::read(path).map_err(|error| {
        let (path, kind) = (path.to_owned(), error.kind());
        if kind == ErrorKind::NotFound {
            Absent::Missing { path }
        } else {
            Absent::Unreadable { path, kind }
        }
    })?;
    match check_weights(&bytes) {
        Ok(()) => Ok(bytes),
        Err(found) => Err(Absent::Damaged {
            path: path.to_owned(),
            found,
        }),
    }
}
