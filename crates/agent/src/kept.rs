//! What was taken away, on file: who was killed is followed by another who puts it back. One guard of a host at a time.

use crate::endpoints::Endpoint;
use serde_json::{Value, json};
use std::fs::{self, File, TryLockError};
use std::io::{Error, ErrorKind, Result};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// An endpoint that was taken away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// The endpoint.
    pub endpoint: Endpoint,
    /// The interface that had its address; empty: none.
    pub interface: String,
}

/// Where that is kept.
pub struct Kept {
    path: PathBuf,
    _lock: File,
}

/// Of this network namespace; gone when the host starts anew, as endpoints are.
pub fn usual() -> Result<PathBuf> {
    let name = match cookie() {
        Ok(cookie) => format!("namespace-{cookie}"),
        // Before Linux 5.14 there is its inode's number alone, which later ones get again.
        Err(_) => {
            let namespace = fs::read_link("/proc/self/ns/net")?;
            namespace.to_string_lossy().chars().filter(char::is_ascii_digit).collect()
        }
    };
    Ok(PathBuf::from(format!("/run/mptcplab-guard/{name}.json")))
}

/// What the kernel knows this network namespace by, and never another.
#[expect(unsafe_code, reason = "a system call without a safe wrapper")]
fn cookie() -> Result<u64> {
    // Of any kind.
    let socket = netlink_sys::Socket::new(netlink_sys::protocols::NETLINK_GENERIC)?;
    let (mut cookie, mut length) = (0_u64, size_of::<u64>() as libc::socklen_t);
    // SAFETY: the kernel writes no more than `length` bytes to `cookie`, and both outlive the call.
    let done = unsafe {
        let (cookie, length) = ((&raw mut cookie).cast(), &raw mut length);
        libc::getsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_NETNS_COOKIE, cookie, length)
    };
    if done == 0 { Ok(cookie) } else { Err(Error::last_os_error()) }
}

impl Kept {
    /// Takes what is kept there for its own; gives what an earlier guard had taken away and not put back.
    ///
    /// # Errors
    /// Another guard is at work, or nothing can be kept there.
    pub fn open(path: &Path) -> Result<(Kept, Vec<Taken>)> {
        let about = |error: Error| Error::new(error.kind(), format!("{}: {error}", path.display()));
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory).map_err(about)?;
        }
        let lock = locked(&path.with_extension("lock")).map_err(|error| match error.kind() {
            ErrorKind::ResourceBusy => error,
            _ => about(error),
        })?;
        // From here on the lock goes with it, also where this fails.
        let kept = Kept { path: path.to_owned(), _lock: lock };
        let taken = match fs::read_to_string(path) {
            Ok(text) => read(&text).ok_or_else(|| {
                let said = "this is not a list of endpoints that a guard removed: look at it, then delete it";
                about(Error::new(ErrorKind::InvalidData, said))
            })?,
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(about(error)),
        };
        Ok((kept, taken))
    }

    /// Keeps this, in the place of what was kept; nothing of nothing.
    ///
    /// # Errors
    /// It cannot be written; what was kept still is.
    pub fn write(&self, taken: &[Taken]) -> Result<()> {
        if taken.is_empty() {
            return match fs::remove_file(&self.path) {
                Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            };
        }
        let new = self.path.with_extension("new");
        let rows: Vec<_> = taken.iter().map(row).collect();
        fs::write(&new, format!("{}\n", json!({ "taken": rows })))?;
        fs::rename(&new, &self.path)
    }
}

/// Nothing is left of a guard that ended; who was killed leaves a lock that nobody holds.
impl Drop for Kept {
    fn drop(&mut self) {
        // Still held: whoever waits for it finds out that it is not there any more.
        let _ = fs::remove_file(self.path.with_extension("lock"));
    }
}

/// Locks a file, made if there is none.
///
/// # Errors
/// Another holds it (`ResourceBusy`), or it cannot be made.
fn locked(path: &Path) -> Result<File> {
    loop {
        let lock = File::create(path)?;
        match lock.try_lock() {
            // The process that held it may have removed it, and another may lock a new one.
            Ok(()) if is_at(&lock, path)? => return Ok(lock),
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::new(ErrorKind::ResourceBusy, "another guard is at work here: end that one first"));
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// Whether a path still leads to this file.
fn is_at(file: &File, path: &Path) -> Result<bool> {
    let own = file.metadata()?;
    match fs::metadata(path) {
        Ok(found) => Ok((found.dev(), found.ino()) == (own.dev(), own.ino())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn row(taken: &Taken) -> Value {
    let Endpoint { id, address, flags, interface } = taken.endpoint;
    json!({ "address": address.to_string(), "id": id, "flags": flags, "index": interface, "interface": taken.interface })
}

fn read(text: &str) -> Option<Vec<Taken>> {
    let whole: Value = serde_json::from_str(text).ok()?;
    let one = |row: &Value| {
        let number = |name| row.get(name)?.as_u64();
        let endpoint = Endpoint {
            id: u8::try_from(number("id")?).ok()?,
            address: row.get("address")?.as_str()?.parse().ok()?,
            flags: u32::try_from(number("flags")?).ok()?,
            interface: u32::try_from(number("index")?).ok()?,
        };
        Some(Taken { endpoint, interface: row.get("interface")?.as_str()?.to_owned() })
    };
    whole.get("taken")?.as_array()?.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file_of(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("guard-{}-{name}", std::process::id())).join("kept.json")
    }

    #[test]
    fn what_was_kept_is_read_by_the_next() {
        let path = file_of("next");
        let endpoint = Endpoint { id: 3, address: "fd00::2".parse().unwrap(), flags: 6, interface: 12 };
        let taken = vec![Taken { endpoint, interface: "wwan0".into() }];
        let (kept, nothing) = Kept::open(&path).unwrap();
        assert!(nothing.is_empty());
        kept.write(&taken).unwrap();
        // A running process keeps others out; one that was killed does not.
        assert!(Kept::open(&path).is_err_and(|error| error.to_string().contains("another guard")));
        drop(kept);
        let (kept, found) = Kept::open(&path).unwrap();
        assert_eq!(found, taken);
        kept.write(&[]).unwrap();
        drop(kept);
        assert!(Kept::open(&path).unwrap().1.is_empty());
        // Nor is there anything else.
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 0);
        fs::remove_dir_all(path.parent().unwrap()).unwrap();
    }

    #[test]
    fn a_lock_that_was_removed_keeps_nobody_out() {
        let path = file_of("removed");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let old = locked(&path).unwrap();
        assert!(is_at(&old, &path).unwrap());
        fs::remove_file(&path).unwrap();
        assert!(!is_at(&old, &path).unwrap());
        // As if another had been quicker.
        let new = locked(&path).unwrap();
        assert!(is_at(&new, &path).unwrap() && !is_at(&old, &path).unwrap());
        assert!(locked(&path).is_err_and(|error| error.kind() == ErrorKind::ResourceBusy));
        fs::remove_dir_all(path.parent().unwrap()).unwrap();
    }

    #[test]
    fn what_makes_no_sense_is_not_guessed_at() {
        let path = file_of("nonsense");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        for text in ["", "{}", r#"{"taken": [{"address": "here"}]}"#] {
            fs::write(&path, text).unwrap();
            let Err(error) = Kept::open(&path) else { panic!("{text} was taken") };
            assert!(error.to_string().contains("kept.json"), "{error}");
            assert!(!path.with_extension("lock").exists(), "{text}");
        }
        fs::remove_dir_all(path.parent().unwrap()).unwrap();
    }
}
