//! Devices joined by nothing but a thread, and what passes them.
#![allow(dead_code, reason = "each test uses a part")]

use crate::common::inside;
use emulator::Namespace;
use emulator::device::{Device, Sent};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{AddressFamily, SocketFlags, SocketType, ipproto, socket_with, sockopt};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use wire::{Packet, pattern};

/// A thread that moves packets between two devices.
pub struct Forwarder {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<[Sent; 2]>,
}

impl Forwarder {
    /// `inspect` is shown every packet and the device it came from.
    pub fn start(mut devices: [Device; 2], mut inspect: impl FnMut(usize, &mut Packet) + Send + 'static) -> Forwarder {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let mut sums = [Sent::default(); 2];
            let mut packets = Vec::new();
            while !stopped.load(Ordering::Relaxed) {
                for from in 0..2 {
                    let mut frames = 0;
                    while frames < 64 && devices[from].receive(&mut |packet| packets.push(packet)).unwrap() {
                        frames += 1;
                    }
                    packets.iter_mut().for_each(|packet| inspect(from, packet));
                    let sent = devices[1 - from].send(&mut packets).unwrap();
                    assert!(packets.is_empty());
                    sums[1 - from].packets += sent.packets;
                    sums[1 - from].frames += sent.frames;
                }
                let mut ready = [PollFd::new(&devices[0], PollFlags::IN), PollFd::new(&devices[1], PollFlags::IN)];
                let _ = poll(&mut ready, Some(&Timespec { tv_sec: 0, tv_nsec: 10_000_000 }));
            }
            sums
        });
        Forwarder { stop, thread }
    }

    /// What each device was given.
    pub fn stop(self) -> [Sent; 2] {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

/// Who speaks with whom, and who sends: the client (0) or the server (1).
pub struct Flow<'a> {
    pub client: &'a Namespace,
    pub server: &'a Namespace,
    pub from: usize,
    pub is_multipath: bool,
}

/// Those that were begun.
static TRANSFERS: AtomicU16 = AtomicU16::new(0);

/// Sends bytes of the pattern, and says what is wrong with what arrives.
pub fn transfer(flow: &Flow, local: &str, remote: &str, bytes: usize) -> Result<(), String> {
    let mut remote: SocketAddr = remote.parse().unwrap();
    // The last listener may live on for a moment in a child of another test that is not yet another program.
    remote.set_port(remote.port() + TRANSFERS.fetch_add(1, Ordering::Relaxed));
    let local = SocketAddr::new(local.parse().unwrap(), 0);
    let open = |space| inside(space, || stream_socket(&remote, flow.is_multipath));
    let listener = open(flow.server);
    rustix::net::bind(&listener, &remote).map_err(|error| format!("bind: {error}"))?;
    rustix::net::listen(&listener, 1).unwrap();
    let connecting = open(flow.client);
    rustix::net::bind(&connecting, &local).unwrap();
    rustix::net::connect(&connecting, &remote).map_err(|error| format!("connect: {error}"))?;
    let client = TcpStream::from(connecting);
    // Joins are refused where nobody listens any more.
    let listener = TcpListener::from(listener);
    let (server, _) = listener.accept().unwrap();
    let (mut sender, mut receiver) = if flow.from == 0 { (client, server) } else { (server, client) };
    receiver.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let sending = thread::spawn(move || {
        let mut stream = vec![0; bytes];
        pattern::fill(0, &mut stream);
        sender.write_all(&stream)
    });
    let mut stream = Vec::with_capacity(bytes);
    receiver.read_to_end(&mut stream).map_err(|error| format!("after {} bytes: {error}", stream.len()))?;
    sending.join().unwrap().map_err(|error| format!("sending: {error}"))?;
    match stream.len() == bytes && pattern::matches(0, &stream) {
        true => Ok(()),
        false => Err(format!("{} bytes, not those that were sent", stream.len())),
    }
}

fn stream_socket(remote: &SocketAddr, is_multipath: bool) -> OwnedFd {
    let family = if remote.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    // Programs that other tests start meanwhile must not inherit it.
    let (close, protocol) = (SocketFlags::CLOEXEC, is_multipath.then_some(ipproto::MPTCP));
    let socket = socket_with(family, SocketType::STREAM, close, protocol).unwrap();
    sockopt::set_socket_reuseaddr(&socket, true).unwrap();
    socket
}

/// Sends GSO packets of datagrams, which nobody takes.
#[expect(unsafe_code, reason = "a system call without a safe wrapper")]
pub fn datagrams(space: &Namespace, local: &str, remote: &str) {
    let socket = inside(space, || UdpSocket::bind(SocketAddr::new(local.parse().unwrap(), 0)).unwrap());
    let (size, len) = (1400_i32, size_of::<i32>() as libc::socklen_t);
    let fd = socket.as_raw_fd();
    // SAFETY: the option reads an int, which `size` is.
    let set = unsafe { libc::setsockopt(fd, libc::SOL_UDP, libc::UDP_SEGMENT, (&raw const size).cast(), len) };
    assert_eq!(set, 0, "UDP_SEGMENT");
    for len in [1400, 1401, 30_000, 56_000] {
        let _ = socket.send_to(&vec![len as u8; len], remote);
        thread::sleep(Duration::from_millis(20));
    }
}

/// The packet as it is written, with its checksums.
pub fn bytes(packet: &Packet) -> Vec<u8> {
    let mut out = Vec::new();
    packet.emit(&mut out, None).unwrap();
    out
}

/// Gives an interface to another namespace.
pub fn move_to(space: &Namespace, name: &str, other: &Namespace) {
    let path = format!("/proc/{}/fd/{}", std::process::id(), other.as_fd().as_raw_fd());
    crate::common::ip(space, &format!("link set {name} netns {path}"));
}

/// The interface's MAC address.
pub fn mac(space: &Namespace, name: &str) -> [u8; 6] {
    let shown = inside(space, || Command::new("ip").args(["-o", "link", "show", name]).output().unwrap());
    let shown = String::from_utf8(shown.stdout).unwrap();
    let mut words = shown.split_whitespace().skip_while(|word| *word != "link/ether");
    let digits = words.nth(1).unwrap().split(':').map(|two| u8::from_str_radix(two, 16).unwrap());
    digits.collect::<Vec<_>>().try_into().unwrap()
}
