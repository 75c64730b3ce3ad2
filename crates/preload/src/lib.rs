//! A library to preload (`LD_PRELOAD`, ld.so(8)): its `socket` takes the place of the C library's and makes sockets of
//! MPTCP where a program asks for TCP. Programs that make system calls themselves pass it by.

#![cfg(target_os = "linux")]
#![expect(
    unsafe_code,
    reason = "the linker finds a function by its C name, and only C's `syscall` goes past that name"
)]

use libc::{AF_INET, AF_INET6, IPPROTO_MPTCP, IPPROTO_TCP, SOCK_CLOEXEC, SOCK_NONBLOCK, SOCK_STREAM, c_int};

/// socket(2), of MPTCP where TCP is asked for. If the kernel refuses that, the call is made as it was: one without MPTCP
/// (`EPROTONOSUPPORT`, before 5.6 `EINVAL`) or with `net.mptcp.enabled=0` (`ENOPROTOOPT`) gives TCP, and every other
/// error comes again.
#[unsafe(no_mangle)]
pub extern "C" fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int {
    if asks_for_tcp(domain, kind, protocol) {
        let socket = call(domain, kind, IPPROTO_MPTCP);
        if socket >= 0 {
            return socket;
        }
    }
    call(domain, kind, protocol)
}

fn asks_for_tcp(domain: c_int, kind: c_int, protocol: c_int) -> bool {
    matches!(domain, AF_INET | AF_INET6)
        && kind & !(SOCK_CLOEXEC | SOCK_NONBLOCK) == SOCK_STREAM
        && matches!(protocol, 0 | IPPROTO_TCP)
}

/// The system call itself, which sets `errno`.
fn call(domain: c_int, kind: c_int, protocol: c_int) -> c_int {
    // SAFETY: socket(2) takes three integers and touches no memory of ours.
    unsafe { libc::syscall(libc::SYS_socket, domain, kind, protocol) as c_int }
}
