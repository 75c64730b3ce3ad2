//! Takes connections, and serves each in a thread of its own.

use crate::answer::{Failure, Rules};
use crate::ask::Converter;
use crate::cookies::Cookies;
use crate::networks::comes_back;
use crate::options::{End, Options, Server};
use crate::relay::{LOOK, Pipe, relay};
use crate::sockets::{Speaks, listening, may_have, opened, poll, prepare, reset};
use rustix::event::{PollFd, PollFlags};
use rustix::process::{Resource, getrlimit, setrlimit};
use socket2::Socket;
use std::io::{Error, ErrorKind, Write};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError};
use std::thread::{Builder, sleep};
use std::time::{Duration, Instant};

/// Threads relay, no more.
const STACK_BYTES: usize = 1 << 18;
/// How long connections have to be reset when the program ends.
const ENDS: Duration = Duration::from_secs(1);
/// Open files that are no connections.
const FILES: u64 = 64;
/// How long to wait where there are too many open files to take one more.
const PAUSE: Duration = Duration::from_millis(10);

/// The other connection and what is to be sent up at first; `None` where none was asked for.
type Opened = Result<Option<(Socket, Pipe)>, Failure>;

/// What all connections share.
struct Shared {
    options: Options,
    /// Where connections come in.
    listens: SocketAddr,
    converter: Option<Converter>,
    rules: Rules,
    ends: Arc<AtomicBool>,
    open: AtomicUsize,
    done: AtomicU64,
    failed: AtomicU64,
    bytes: [AtomicU64; 2],
    out: std::sync::Mutex<()>,
}

/// Serves until it is to end.
pub fn serve(options: Options, ends: Arc<AtomicBool>) -> Result<(), String> {
    if let Some(name) = &options.congestion_control {
        may_have(name).map_err(|error| cannot(&options, &error))?;
    }
    let mptcp = Speaks::Mptcp(options.congestion_control.as_deref());
    let speaks = if options.end == End::Client { Speaks::Tcp } else { mptcp };
    let listener = listening(options.listen, speaks, options.server == Server::Transparent)
        .map_err(|error| cannot(&options, &error))?;
    let address = listener.local_addr().ok().and_then(|address| address.as_socket()).unwrap_or(options.listen);
    allow_files(options.connections);
    crate::say(&begins(&options, address));
    let shared = Arc::new(Shared {
        converter: options.converter.map(|address| Converter::new(address, options.congestion_control.clone())),
        rules: Rules {
            listens: address,
            allow: options.allow.clone(),
            cookies: options.cookies.then(Cookies::default),
            congestion_control: options.congestion_control.clone(),
        },
        options,
        listens: address,
        ends,
        open: AtomicUsize::new(0),
        done: AtomicU64::new(0),
        failed: AtomicU64::new(0),
        bytes: Default::default(),
        out: std::sync::Mutex::new(()),
    });
    while !shared.is_over() {
        let came = poll(&mut [PollFd::new(&listener, PollFlags::IN)], LOOK).map_err(|error| error.to_string())?;
        while came && !shared.is_over() {
            match listener.accept() {
                Ok((near, client)) => begin(&shared, near, client.as_socket()),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                // Of that connection, or of too many open files.
                Err(_) => {
                    sleep(PAUSE);
                    break;
                }
            }
        }
    }
    let until = Instant::now() + ENDS;
    while shared.open.load(Ordering::Acquire) > 0 && Instant::now() < until {
        sleep(PAUSE);
    }
    crate::say(&shared.said());
    Ok(())
}

/// Has as many open files as connections need, if the machine lets it: two each, and some of its own.
fn allow_files(connections: usize) {
    let mut limit = getrlimit(Resource::Nofile);
    let wanted = Some((connections as u64).saturating_mul(2).saturating_add(FILES));
    let most = if limit.maximum.is_some() { limit.maximum.min(wanted) } else { wanted };
    if limit.current.is_some() && limit.current < most {
        limit.current = most;
        let _ = setrlimit(Resource::Nofile, limit);
    }
}

fn cannot(options: &Options, error: &Error) -> String {
    match error.kind() {
        ErrorKind::PermissionDenied => {
            let is_transparent = options.server == Server::Transparent;
            let capability = if is_transparent { "CAP_NET_ADMIN" } else { "CAP_NET_BIND_SERVICE" };
            format!("cannot listen on {}: this needs {capability}: run it as root", options.listen)
        }
        ErrorKind::NotFound => {
            format!("this kernel has no congestion control {}", options.congestion_control.as_deref().unwrap_or(""))
        }
        // EPROTONOSUPPORT, or ENOPROTOOPT with net.mptcp.enabled=0.
        _ if matches!(error.raw_os_error(), Some(92 | 93)) => {
            "this kernel has no MPTCP, or it is switched off: see net.mptcp.enabled".into()
        }
        _ => format!("cannot listen on {}: {error}", options.listen),
    }
}

/// What it does, in a line.
fn begins(options: &Options, listens: SocketAddr) -> String {
    let (from, to) = if options.end == End::Client { ("TCP", "MPTCP") } else { ("MPTCP", "TCP") };
    let server = match options.server {
        Server::Fixed(address) => address.to_string(),
        Server::Transparent => "whom clients connect to".to_owned(),
        Server::Named => "whom clients name".to_owned(),
    };
    let by = options.converter.map(|address| format!(" by the converter {address}")).unwrap_or_default();
    format!("listens on {listens}, {from} to {to}, for {server}{by}")
}

fn begin(shared: &Arc<Shared>, near: Socket, client: Option<SocketAddr>) {
    let open = shared.open.fetch_add(1, Ordering::AcqRel);
    let most = shared.options.connections;
    // By the Convert Protocol a client is told; many more than there may be are not.
    let is_full = open >= most;
    let is_refused = is_full && (shared.options.server != Server::Named || open >= 2 * most);
    let (Some(client), false) = (client, is_refused) else {
        reset(near);
        shared.open.fetch_sub(1, Ordering::AcqRel);
        shared.failed.fetch_add(1, Ordering::Relaxed);
        return;
    };
    let own = Arc::clone(shared);
    let thread = Builder::new().stack_size(STACK_BYTES).spawn(move || {
        own.convert(near, client, is_full);
        own.open.fetch_sub(1, Ordering::AcqRel);
    });
    if thread.is_err() {
        // The connection is closed with its data unread: a reset.
        shared.open.fetch_sub(1, Ordering::AcqRel);
        shared.failed.fetch_add(1, Ordering::Relaxed);
    }
}

impl Shared {
    fn is_over(&self) -> bool {
        self.ends.load(Ordering::Relaxed)
    }

    fn convert(&self, near: Socket, client: SocketAddr, full: bool) {
        let begun = Instant::now();
        let mut down = Pipe::new(Vec::new(), false);
        let (server, opens) = self.open(&near, client, full);
        let (outcome, up_bytes) = match opens {
            Ok(None) => return,
            Ok(Some((far, mut up))) => {
                let relayed = relay([&near, &far], [&mut up, &mut down], self.options.idle, &self.ends);
                if relayed.is_err() {
                    reset(far);
                    reset(near);
                }
                (relayed, up.bytes)
            }
            Err(Failure { error, answered }) => {
                if !answered {
                    reset(near);
                }
                (Err(error), 0)
            }
        };
        let count = if outcome.is_ok() { &self.done } else { &self.failed };
        count.fetch_add(1, Ordering::Relaxed);
        for (sum, bytes) in self.bytes.iter().zip([up_bytes, down.bytes]) {
            sum.fetch_add(bytes, Ordering::Relaxed);
        }
        self.report(client, server, [up_bytes, down.bytes], begun.elapsed(), outcome.err());
    }

    /// Opens the other connection; gives the server, as far as it is known, and what is to be sent up at first.
    fn open(&self, near: &Socket, client: SocketAddr, full: bool) -> (Option<SocketAddr>, Opened) {
        if let Err(error) = prepare(near) {
            return (None, Err(error.into()));
        }
        let server = match self.options.server {
            Server::Fixed(address) => address,
            Server::Transparent => match near.local_addr() {
                Ok(address) => address.as_socket().map_or(self.options.listen, canonical),
                Err(error) => return (None, Err(error.into())),
            },
            Server::Named => {
                return match self.rules.serve(near, client.ip(), full) {
                    Ok(None) => (None, Ok(None)),
                    Ok(Some((far, server))) => (Some(server), Ok(Some((far, Pipe::new(Vec::new(), false))))),
                    Err(error) => (None, Err(error)),
                };
            }
        };
        if comes_back(self.options.converter.unwrap_or(server), self.listens) {
            return (Some(server), Err(Error::other("it would come in here again").into()));
        }
        let mptcp = Speaks::Mptcp(self.options.congestion_control.as_deref());
        let speaks = if self.options.end == End::Client { mptcp } else { Speaks::Tcp };
        let opens = match &self.converter {
            Some(converter) => converter.connect(server, near),
            None => opened(server, speaks, &[]).map(|(far, _)| (far, Pipe::new(Vec::new(), false))),
        };
        (Some(server), opens.map(Some).map_err(Failure::from))
    }

    fn report(
        &self,
        client: SocketAddr,
        server: Option<SocketAddr>,
        bytes: [u64; 2],
        lasted: Duration,
        error: Option<Error>,
    ) {
        let (client, [up, down]) = (canonical(client), bytes);
        let server = server.map(|server| server.to_string());
        let error = error.map(|error| if self.is_over() { "this program ended".to_owned() } else { error.to_string() });
        let line = if self.options.json {
            serde_json::json!({
                "client": client.to_string(), "server": server, "up_bytes": up, "down_bytes": down,
                "duration_s": lasted.as_secs_f64(), "error": error,
            })
            .to_string()
        } else {
            let server = server.as_deref().unwrap_or("no server");
            let error = error.map(|error| format!("; reset: {error}")).unwrap_or_default();
            format!("{client} to {server}: {up} bytes up, {down} bytes down in {:.3} s{error}", lasted.as_secs_f64())
        };
        let _out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        // The reader may be gone.
        let _ = writeln!(std::io::stdout(), "{line}").and_then(|()| std::io::stdout().flush());
    }

    fn said(&self) -> String {
        let [done, failed, up, down] =
            [&self.done, &self.failed, &self.bytes[0], &self.bytes[1]].map(|count| count.load(Ordering::Relaxed));
        format!("connections: {done} converted, {failed} reset or refused; {up} bytes up, {down} bytes down")
    }
}

/// An address of IPv4 as such, also where a socket of IPv6 took the connection.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}
