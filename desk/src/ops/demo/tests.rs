//! What is compiled in is what the folder holds.

use std::path::Path;

use super::*;
use crate::ops::import::Source;

#[test]
fn the_embedded_files_are_those_that_an_import_of_the_folder_reads() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../demo");
    let on_disk = Source::Disk(folder).importable().unwrap();
    let embedded = Source::Embedded(FILES).importable().unwrap();
    assert_eq!(embedded, on_disk);
}
