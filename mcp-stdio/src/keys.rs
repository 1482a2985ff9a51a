//! Where the keys of a store are: beside its file, or where the operator says.

use std::path::PathBuf;

use anyhow::Context as _;
use desk::Guard;
use desk::ops::keys;
use desk::system::SystemIds;
use storage::DatabaseUrl;

use crate::config::Config;

/// The key file of a store.
pub(crate) fn file(config: &Config, url: &DatabaseUrl) -> anyhow::Result<PathBuf> {
    let beside = || url.file().map(keys::beside);
    config.key_file.clone().or_else(beside).context(
        "a store on a database server needs the key file that all of its servers share: name it with `--key-file FILE` or \
         DESKGATE_KEY_FILE; `keys create` makes one",
    )
}

/// A guard over the keys of a store. Beside a SQLite file they are made where there are none; a server's are not, since the
/// rows of its audit log are sealed with those of another machine.
pub(crate) fn guard(config: &Config, url: &DatabaseUrl) -> anyhow::Result<Guard> {
    let path = file(config, url)?;
    let policy = config.policy.clone();
    Ok(if url.file().is_some() {
        Guard::from_file(path, &SystemIds, policy)?
    } else {
        Guard::from_kept_file(path, policy)?
    })
}
