//! The private key file: made on first use beside a stdio store, rotated by command (design section 6).
//!
//! Every process on one store reads the same file. Rotation replaces it in one step: the new key signs, the one before it
//! still verifies, and older ones are retired: they accept nothing, and verify the audit log that they sealed for as long as
//! there is one. So a key file only grows, and whoever loses it loses the proof of the log. A process that meets a token of a key it does not know reads the file again.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use domain::IdSource;
use writegate::{
    ApprovalMethod, Binding, CheckpointKey, Gate, Grant, Key, KeyError, KeyFileError, KeyRing, Kid,
    Presented, Refused, Token, TokenId,
};

/// Why there is no key ring to guard with. It is for whoever starts the server, so it names the file.
#[derive(Debug, thiserror::Error)]
pub enum KeysError {
    /// There is none.
    #[error("there is no key file at `{}`; make one with `keys create`", path.display())]
    Missing {
        /// Where it would be.
        path: PathBuf,
    },
    /// There is one already.
    #[error("there is a key file at `{}` already; `keys rotate` changes its key", path.display())]
    Exists {
        /// Where it is.
        path: PathBuf,
    },
    /// Others than its owner may read or write it.
    #[error("the key file `{}` is open to other users (mode {mode:03o}); make it private with mode 600", path.display())]
    NotPrivate {
        /// Where it is.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// It can't be read or written.
    #[error("the key file `{}` cannot be used", path.display())]
    Io {
        /// Where it is.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is no key file, or a key in it is weak.
    #[error("the key file `{}` is refused", path.display())]
    Bad {
        /// Where it is.
        path: PathBuf,
        /// Why.
        source: KeyFileError,
    },
    /// No good key could be made.
    #[error("no key could be made")]
    Key(#[from] KeyError),
}

/// The key file of a SQLite store: beside it, so that all processes on the store share it.
pub fn beside(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push("-keys");
    PathBuf::from(name)
}

/// The id and the bytes of a key that nobody has had before.
fn fresh(ids: &dyn IdSource) -> (Kid, zeroize::Zeroizing<[u8; 32]>) {
    let mut secret = zeroize::Zeroizing::new([0_u8; 32]);
    let (high, low) = secret.split_at_mut(16);
    high.copy_from_slice(&ids.nonce());
    low.copy_from_slice(&ids.nonce());
    let [a, b, c, d, ..] = ids.nonce();
    (Kid::from_random([a, b, c, d]), secret)
}

fn fresh_key(ids: &dyn IdSource) -> Result<Key, KeysError> {
    let (kid, secret) = fresh(ids);
    Ok(Key::new(kid, secret.as_slice())?)
}

/// The ring with a key for checkpoints, a new one where it has none.
fn with_checkpoint_key(ring: KeyRing, ids: &dyn IdSource) -> Result<KeyRing, KeysError> {
    if ring.checkpoint_key().is_some() {
        return Ok(ring);
    }
    let (kid, seed) = fresh(ids);
    Ok(ring.with_checkpoint_key(CheckpointKey::new(kid, seed.as_slice())?)?)
}

/// A ring that lives as long as its process, for stores that do too.
pub fn passing(ids: &dyn IdSource) -> Result<KeyRing, KeysError> {
    with_checkpoint_key(KeyRing::new(fresh_key(ids)?), ids)
}

fn io(path: &Path) -> impl Fn(std::io::Error) -> KeysError {
    move |source| KeysError::Io {
        path: path.to_owned(),
        source,
    }
}

/// The ring in a key file. A file that others can read is refused: whoever read it can forge every confirmation.
pub fn load(path: &Path) -> Result<KeyRing, KeysError> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(KeysError::Missing {
                path: path.to_owned(),
            });
        }
        Err(error) => return Err(io(path)(error)),
    };
    check_private(path, &file)?;
    let mut text = zeroize::Zeroizing::new(String::new());
    file.read_to_string(&mut text).map_err(io(path))?;
    KeyRing::parse(&text).map_err(|source| KeysError::Bad {
        path: path.to_owned(),
        source,
    })
}

#[cfg(unix)]
fn check_private(path: &Path, file: &File) -> Result<(), KeysError> {
    use std::os::unix::fs::PermissionsExt;

    let mode = file.metadata().map_err(io(path))?.permissions().mode() & 0o777;
    // The six low bits are the rights of the group and of everybody.
    if mode.trailing_zeros() >= 6 {
        return Ok(());
    }
    Err(KeysError::NotPrivate {
        path: path.to_owned(),
        mode,
    })
}

/// Other systems have access lists, which the user's own directories are given by default.
#[cfg(not(unix))]
fn check_private(_path: &Path, _file: &File) -> Result<(), KeysError> {
    Ok(())
}

/// Writes a ring to a new private file.
fn write_new(path: &Path, ring: &KeyRing) -> Result<(), KeysError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path).map_err(io(path))?;
    file.write_all(ring.render().as_bytes()).map_err(io(path))?;
    file.sync_all().map_err(io(path))
}

fn beside_with(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Makes a key file. Of two processes that do so at once, one file is kept, whole.
pub fn create(path: &Path, ids: &dyn IdSource) -> Result<KeyRing, KeysError> {
    let ring = passing(ids)?;
    let draft = beside_with(path, &format!("-{:032x}", ids.next_id()));
    write_new(&draft, &ring)?;
    // A link fails where the name is taken, and never shows half a file.
    let linked = std::fs::hard_link(&draft, path);
    std::fs::remove_file(&draft).map_err(io(&draft))?;
    match linked {
        Ok(()) => Ok(ring),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Err(KeysError::Exists {
            path: path.to_owned(),
        }),
        Err(error) => Err(io(path)(error)),
    }
}

/// The ring in a key file, which is made where there is none. A file of an older build gets its key for checkpoints.
pub fn load_or_create(path: &Path, ids: &dyn IdSource) -> Result<KeyRing, KeysError> {
    let ring = match load(path) {
        Err(KeysError::Missing { .. }) => match create(path, ids) {
            Err(KeysError::Exists { .. }) => load(path)?,
            made => made?,
        },
        loaded => loaded?,
    };
    if ring.checkpoint_key().is_some() {
        return Ok(ring);
    }
    // Of two processes that do so at once the one that comes last wins, and the other takes the key that the file has now.
    replace(path, &with_checkpoint_key(ring, ids)?, ids)?;
    load(path)
}

/// Writes a ring in the place of a key file, whole or not at all.
fn replace(path: &Path, ring: &KeyRing, ids: &dyn IdSource) -> Result<(), KeysError> {
    let draft = beside_with(path, &format!("-{:032x}", ids.next_id()));
    write_new(&draft, ring)?;
    std::fs::rename(&draft, path).map_err(io(path))
}

/// Puts a new key in place; the one before it verifies what it has signed, older ones verify the log only.
pub fn rotate(path: &Path, ids: &dyn IdSource) -> Result<KeyRing, KeysError> {
    let mut ring = load(path)?;
    let before = ring.current_kid().clone();
    let older: Vec<Kid> = ring
        .kids()
        .map(|(kid, _)| kid.clone())
        .filter(|kid| *kid != before)
        .collect();
    for kid in older {
        ring = ring.retire(&kid)?;
    }
    let key = fresh_key(ids)?;
    let kid = key.kid().clone();
    let ring = with_checkpoint_key(ring.add(key)?.promote(&kid)?, ids)?;
    replace(path, &ring, ids)?;
    Ok(ring)
}

/// What an operator does with a key file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeysTask {
    /// Makes it.
    Create,
    /// Puts a new key in place.
    Rotate,
}

/// Does it, and says so in one line; the key itself is shown nowhere.
pub fn run(task: KeysTask, path: &Path, ids: &dyn IdSource) -> Result<String, KeysError> {
    let (ring, does) = match task {
        KeysTask::Create => (create(path, ids)?, "signs with"),
        KeysTask::Rotate => (rotate(path, ids)?, "now signs with"),
    };
    Ok(format!(
        "`{}` {does} the key {}",
        path.display(),
        ring.current_kid()
    ))
}

/// A gate over the ring of a key file, which follows the file: a token of a key that it does not know makes it look again.
pub fn gate(path: PathBuf, ring: KeyRing) -> Arc<dyn Gate> {
    let known = kids(&ring);
    Arc::new(FileGate {
        inner: writegate::gate(ring),
        path,
        known: Mutex::new(known),
    })
}

fn kids(ring: &KeyRing) -> Vec<Kid> {
    ring.kids().map(|(kid, _)| kid.clone()).collect()
}

struct FileGate {
    inner: Arc<dyn Gate>,
    path: PathBuf,
    known: Mutex<Vec<Kid>>,
}

impl FileGate {
    /// Reads the file again where a token's key is not known. A file that is bad now leaves the good ring in place.
    fn follow(&self, token: &Token) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.contains(token.kid()) {
            return;
        }
        if let Ok(ring) = load(&self.path) {
            *known = kids(&ring);
            self.inner.replace_ring(ring);
        }
    }
}

impl Gate for FileGate {
    fn mint(&self, binding: &Binding, nonce: [u8; 16]) -> Token {
        self.inner.mint(binding, nonce)
    }

    fn redeem(
        &self,
        token: &Token,
        record: Option<&[u8]>,
        presented: &Presented<'_>,
        now: Option<i64>,
    ) -> Result<Grant, Refused> {
        self.follow(token);
        self.inner.redeem(token, record, presented, now)
    }

    fn recognise(
        &self,
        token: &Token,
        record: Option<&[u8]>,
        presented: &Presented<'_>,
    ) -> Result<Binding, Refused> {
        self.follow(token);
        self.inner.recognise(token, record, presented)
    }

    fn seal_approval(&self, token: TokenId, record: &[u8], method: ApprovalMethod) -> Token {
        self.inner.seal_approval(token, record, method)
    }

    fn is_approval(
        &self,
        seal: &Token,
        token: TokenId,
        record: &[u8],
        method: ApprovalMethod,
    ) -> bool {
        self.follow(seal);
        self.inner.is_approval(seal, token, record, method)
    }

    fn current_kid(&self) -> Kid {
        self.inner.current_kid()
    }

    fn replace_ring(&self, ring: KeyRing) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = kids(&ring);
        self.inner.replace_ring(ring);
    }
}

#[cfg(test)]
mod tests;
