use crate::Error;
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::thread;

/// An anonymous network namespace. It lives while this, a process or a device in it does.
#[derive(Debug)]
pub struct Namespace(File);

impl Namespace {
    /// A new one, with nothing in it but a loopback that is down.
    ///
    /// # Errors
    /// Without the right to.
    pub fn new() -> Result<Namespace, Error> {
        // A thread of its own: the others stay where they are.
        let made = alone(|| {
            unshare_network()?;
            File::open("/proc/thread-self/ns/net")
        });
        made.map(Namespace).map_err(|source| Error::Namespace { attempt: "make a network namespace", source })
    }
}

impl AsFd for Namespace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Does something in a network namespace, on a thread of its own.
///
/// # Errors
/// When the namespace cannot be entered, and those of `act`.
pub fn within<T: Send>(namespace: BorrowedFd<'_>, act: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
    alone(|| {
        move_into_link_name_space(namespace, Some(LinkNameSpaceType::Network))
            .map_err(|source| Error::Namespace { attempt: "enter a network namespace", source: source.into() })?;
        act()
    })
}

fn alone<T: Send>(act: impl FnOnce() -> T + Send) -> T {
    let done = thread::scope(|scope| scope.spawn(act).join());
    done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

#[expect(unsafe_code, reason = "a system call without a safe wrapper")]
fn unshare_network() -> io::Result<()> {
    // SAFETY: what may not be unshared carelessly is the table of file descriptors, and this leaves it shared.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNET) }.map_err(io::Error::from)
}
