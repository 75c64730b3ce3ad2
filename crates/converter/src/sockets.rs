//! Sockets of TCP and MPTCP.

use rustix::event::{PollFd, PollFlags, Timespec};
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use std::io::{Error, ErrorKind, Result};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// linux/socket.h: connect, and send this in the SYN.
const MSG_FASTOPEN: i32 = 0x2000_0000;
/// linux/errno.h; it has no kind of its own.
const EINPROGRESS: i32 = 115;
/// How many connections may wait to be taken.
const BACKLOG: i32 = 4096;
/// How long a connection may take to open.
pub const OPENS: Duration = Duration::from_secs(30);

/// What a socket speaks; the congestion control of MPTCP is the host's, unless one is named.
#[derive(Clone, Copy)]
pub enum Speaks<'a> {
    Tcp,
    Mptcp(Option<&'a str>),
}

/// A listener; `transparent` ones take connections to any address that packets are brought here for.
pub fn listening(address: SocketAddr, speaks: Speaks<'_>, transparent: bool) -> Result<Socket> {
    let socket = stream(address, speaks)?;
    socket.set_reuse_address(true)?;
    if address.is_ipv6() {
        socket.set_only_v6(false)?;
    }
    if transparent {
        // The flag is the same for both versions of IP.
        socket.set_ip_transparent_v4(true)?;
    }
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket)
}

/// Opens a connection, with `first` in the SYN where the kernel may; gives how much of it was sent.
pub fn opened(address: SocketAddr, speaks: Speaks<'_>, first: &[u8]) -> Result<(Socket, usize)> {
    let socket = stream(address, speaks)?;
    let to = SockAddr::from(address);
    let sent =
        if first.is_empty() { None } else { socket.send_to_with_flags(first, &to, MSG_FASTOPEN).ok_or_pending()? };
    match sent {
        // A SYN goes out now: with it, or to ask for a cookie.
        Some(_) => {}
        None => {
            socket.connect(&to).ok_or_pending()?;
        }
    }
    wait(&socket, PollFlags::OUT, Instant::now() + OPENS)?;
    match socket.take_error()? {
        Some(error) => Err(error),
        None => Ok((socket, sent.unwrap_or(0))),
    }
}

trait Pending<T> {
    /// What is pending is no error; what the kernel has not is nothing.
    fn ok_or_pending(self) -> Result<Option<T>>;
}

impl<T: Default> Pending<T> for Result<T> {
    fn ok_or_pending(self) -> Result<Option<T>> {
        match self {
            Ok(done) => Ok(Some(done)),
            Err(error) if error.raw_os_error() == Some(EINPROGRESS) => Ok(Some(T::default())),
            // Fast Open is switched off (EOPNOTSUPP), or this kernel's MPTCP has none.
            Err(error) if error.raw_os_error() == Some(95) || error.kind() == ErrorKind::NotConnected => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Asks the kernel for a congestion control: before it has a subflow, MPTCP takes any name.
pub fn may_have(congestion_control: &str) -> Result<()> {
    Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?.set_tcp_congestion(congestion_control.as_bytes())
}

fn stream(address: SocketAddr, speaks: Speaks<'_>) -> Result<Socket> {
    let (protocol, congestion_control) = match speaks {
        Speaks::Tcp => (Protocol::TCP, None),
        Speaks::Mptcp(congestion_control) => (Protocol::MPTCP, congestion_control),
    };
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(protocol))?;
    if let Some(name) = congestion_control {
        socket.set_tcp_congestion(name.as_bytes())?;
    }
    prepare(&socket)?;
    Ok(socket)
}

/// What all sockets have.
pub fn prepare(socket: &Socket) -> Result<()> {
    socket.set_nonblocking(true)?;
    socket.set_tcp_nodelay(true)?;
    socket.set_keepalive(true)
}

/// Waits for a socket.
///
/// # Errors
/// Nothing came until then.
pub fn wait(socket: &Socket, events: PollFlags, until: Instant) -> Result<()> {
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        if poll(&mut [PollFd::new(socket, events)], left)? {
            return Ok(());
        }
    }
}

/// Says whether something came within a time; signals end it early.
pub fn poll(sockets: &mut [PollFd<'_>], at_most: Duration) -> Result<bool> {
    let at_most = Timespec { tv_sec: at_most.as_secs() as i64, tv_nsec: i64::from(at_most.subsec_nanos()) };
    match rustix::event::poll(sockets, Some(&at_most)) {
        Ok(count) => Ok(count > 0),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(Error::from(error)),
    }
}

/// Ends a connection so that its peer does not take it for complete: RST, MP_FASTCLOSE.
pub fn reset(socket: Socket) {
    // As a whole, whatever subflows there are; closing with a time of zero is left to each of them.
    if rustix::net::connect_unspec(&socket).is_err() {
        let _ = socket.set_linger(Some(Duration::ZERO));
    }
}
