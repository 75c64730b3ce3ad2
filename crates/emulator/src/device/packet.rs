//! AF_PACKET sockets (packet(7)) at one end of a veth pair, where TUN devices may not be made.

use rustix::net::netdevice::name_to_index;
use rustix::net::sockopt::{set_socket_recv_buffer_size, set_socket_recv_buffer_size_force};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// Frames that wait for us, with what the kernel counts besides.
const BUFFER_BYTES: usize = 64 << 20;
/// `ETH_P_ALL` (linux/if_ether.h), as it goes over the wire.
const ALL: u16 = 0x0003_u16.to_be();

/// A socket that sees what comes in at an interface, with a `virtio_net_hdr` before it.
pub(super) fn open(interface: &str) -> io::Result<OwnedFd> {
    // Without a protocol, nothing is received before all is set.
    let socket =
        socket_with(AddressFamily::PACKET, SocketType::RAW, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC, None)?;
    let index = name_to_index(&socket, interface)?;
    set(&socket, libc::PACKET_VNET_HDR)?;
    set(&socket, libc::PACKET_IGNORE_OUTGOING)?;
    if set_socket_recv_buffer_size_force(&socket, BUFFER_BYTES).is_err() {
        set_socket_recv_buffer_size(&socket, BUFFER_BYTES)?;
    }
    bind(&socket, index)?;
    Ok(socket)
}

#[expect(unsafe_code, reason = "a system call without a safe wrapper")]
fn set(socket: &OwnedFd, option: i32) -> io::Result<()> {
    let (on, len) = (1_i32, size_of::<i32>() as libc::socklen_t);
    // SAFETY: these options read an int, which `on` is, and keep no pointer to it.
    let done = unsafe { libc::setsockopt(socket.as_raw_fd(), libc::SOL_PACKET, option, (&raw const on).cast(), len) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[expect(unsafe_code, reason = "a system call without a safe wrapper")]
fn bind(socket: &OwnedFd, interface: u32) -> io::Result<()> {
    let address = libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as u16,
        sll_protocol: ALL,
        sll_ifindex: interface as i32,
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 0,
        sll_addr: [0; 8],
    };
    let len = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: the kernel reads as many bytes as the address has and keeps no pointer to it.
    let done = unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), len) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Frames that came while there was no room for them, since it was asked last.
#[expect(unsafe_code, reason = "a system call without a safe wrapper")]
pub(super) fn dropped(socket: &OwnedFd) -> io::Result<u64> {
    let mut statistics = libc::tpacket_stats { tp_packets: 0, tp_drops: 0 };
    let mut len = size_of::<libc::tpacket_stats>() as libc::socklen_t;
    let (into, option) = ((&raw mut statistics).cast(), libc::PACKET_STATISTICS);
    // SAFETY: the kernel writes no more than `len` bytes, which are those of the statistics, integers of any value.
    let done = unsafe { libc::getsockopt(socket.as_raw_fd(), libc::SOL_PACKET, option, into, &raw mut len) };
    if done == 0 { Ok(statistics.tp_drops.into()) } else { Err(io::Error::last_os_error()) }
}
