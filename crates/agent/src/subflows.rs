//! Subflows of everybody's connections, by inet_diag (linux/inet_diag.h): needs CAP_NET_ADMIN for those of others.

use crate::netlink::{Asking, attribute, put, u32_at, u64_at};
use std::io::Result;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

const SOCK_DIAG: isize = 4;
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const TCP: u8 = 6;
/// INET_DIAG_*
const INFO: u16 = 2;
const ULP_INFO: u16 = 19;
/// INET_ULP_INFO_MPTCP
const ULP_MPTCP: u16 = 3;
/// MPTCP_SUBFLOW_ATTR_TOKEN_LOC
const TOKEN: u16 = 2;
const INET: u8 = 2;
const INET6: u8 = 10;
/// Established, and those whose peer has said that it sends no more.
const STATES: u32 = 1 << 1 | 1 << 8;
/// IPPROTO_MPTCP, and the attribute of a request that names a protocol above 255.
const MPTCP: u32 = 262;
const PROTOCOL: u16 = 3;
/// A program of conditions in a request (INET_DIAG_REQ_BYTECODE; INET_DIAG_BC_*).
const BYTECODE: u16 = 1;
const JUMP: u8 = 1;
const LOCAL_ADDRESS: u8 = 7;
const JUMP_BYTES: usize = 4;
/// Of struct inet_diag_msg: which socket, the peer's port, both addresses, the cookie, its length.
const SOCKET: usize = 4;
const REMOTE_PORT: usize = 6;
const LOCAL: usize = 8;
const REMOTE: usize = 24;
const COOKIE: usize = 44;
const MESSAGE_BYTES: usize = 72;
/// Of struct inet_diag_sockid.
const SOCKET_BYTES: usize = 48;
/// Of struct inet_diag_req_v2.
const REQUEST_BYTES: usize = 8 + SOCKET_BYTES;
/// Of struct tcp_info.
const RETRANSMITS: usize = 2;
const UNACKED: usize = 24;
const LAST_DATA_RECV: usize = 52;
const LAST_ACK_RECV: usize = 56;
const RTT: usize = 68;
const RTTVAR: usize = 72;
const BYTES_ACKED: usize = 120;
const BYTES_RECEIVED: usize = 128;
const OUT_OF_ORDER: usize = 224;

/// A subflow that is established.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subflow {
    /// What the kernel knows it by: its family, ports, addresses, interface and cookie.
    pub socket: (u8, [u8; SOCKET_BYTES]),
    /// Never used again for another.
    pub cookie: u64,
    /// Which connection of this host it belongs to.
    pub token: u32,
    /// Its addresses.
    pub local: IpAddr,
    /// The peer's, and its port.
    pub remote: SocketAddr,
    /// Segments sent and not acknowledged.
    pub unacked: u32,
    /// Bytes that the peer acknowledged.
    pub acked_bytes: u64,
    /// Bytes that came, in order.
    pub received_bytes: u64,
    /// Segments that came before others that they follow; 0 before Linux 5.4.
    pub out_of_order: u32,
    /// For how long nothing was acknowledged, and nothing came, by the kernel's clock.
    pub acked_ms: u32,
    /// Likewise.
    pub received_ms: u32,
    /// Smoothed round-trip time and deviation; 0 before the first sample.
    pub rtt_us: u32,
    /// Its deviation.
    pub rttvar_us: u32,
    /// Time-outs in a row without an answer.
    pub timeouts: u32,
}

/// Every so manieth time also sockets of IPv6 are asked for that may not have any: the kernel looks through all of its table each time.
const RARELY: u32 = 25;

/// What asks for them.
pub struct Subflows {
    asking: Asking,
    asked: u32,
    has_ipv6: bool,
}

impl Subflows {
    /// Nobody is asked yet.
    pub fn new() -> Result<Subflows> {
        Ok(Subflows { asking: Asking::new(SOCK_DIAG)?, asked: 0, has_ipv6: false })
    }

    /// All from these addresses.
    pub fn list(&mut self, from: &[IpAddr]) -> Result<Vec<Subflow>> {
        let mut found = self.of(INET, from)?;
        // A socket of IPv6 has subflows of IPv4, too.
        if self.has_ipv6 || self.asked.is_multiple_of(RARELY) {
            let others = self.of(INET6, from)?;
            self.has_ipv6 = !others.is_empty();
            found.extend(others);
        }
        self.asked = self.asked.wrapping_add(1);
        Ok(found)
    }

    fn of(&mut self, family: u8, from: &[IpAddr]) -> Result<Vec<Subflow>> {
        let mut body = request(family, TCP, &[0; SOCKET_BYTES]).to_vec();
        if let Some(program) = program(from) {
            put(&mut body, BYTECODE, &program);
        }
        let answers = self.asking.dump(SOCK_DIAG_BY_FAMILY, &body)?;
        Ok(answers.iter().filter_map(|answer| read(answer)).collect())
    }

    /// What has become of some that were listed; none: it has ended.
    pub fn again(&mut self, which: &[Subflow], into: &mut Vec<Option<Subflow>>) -> Result<()> {
        into.clear();
        into.resize(which.len(), None);
        let bodies = which.iter().map(|one| request(one.socket.0, TCP, &one.socket.1));
        self.asking.each(SOCK_DIAG_BY_FAMILY, bodies, |at, answer| into[at] = read(answer))
    }

    /// Whether there is a connection.
    pub fn has_connection(&mut self) -> Result<bool> {
        for family in [INET, INET6] {
            let mut body = request(family, MPTCP as u8, &[0; SOCKET_BYTES]).to_vec();
            put(&mut body, PROTOCOL, &MPTCP.to_ne_bytes());
            if !self.asking.dump(SOCK_DIAG_BY_FAMILY, &body)?.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// struct inet_diag_req_v2
fn request(family: u8, protocol: u8, socket: &[u8; SOCKET_BYTES]) -> [u8; REQUEST_BYTES] {
    let mut body = [0; REQUEST_BYTES];
    body[..4].copy_from_slice(&[family, protocol, 1 << (INFO - 1), 0]);
    body[4..8].copy_from_slice(&STATES.to_ne_bytes());
    body[8..].copy_from_slice(socket);
    body
}

/// Conditions for the kernel to leave sockets from elsewhere out; none without addresses.
fn program(from: &[IpAddr]) -> Option<Vec<u8>> {
    let mut out: Vec<u8> = Vec::new();
    for address in from.iter().rev() {
        let (family, octets) = match address {
            IpAddr::V4(address) => (INET, address.octets().to_vec()),
            IpAddr::V6(address) => (INET6, address.octets().to_vec()),
        };
        // struct inet_diag_bc_op with struct inet_diag_hostcond, of any port. Without a match
        // the operations that follow on one are skipped.
        let own = 12 + octets.len();
        let mut one = operation(LOCAL_ADDRESS, own, own + JUMP_BYTES);
        one.extend([family, octets.len() as u8 * 8, 0, 0]);
        one.extend((-1_i32).to_ne_bytes());
        one.extend(octets);
        if !out.is_empty() {
            one.extend(operation(JUMP, JUMP_BYTES, JUMP_BYTES + out.len()));
        }
        one.extend(out);
        out = one;
    }
    (!out.is_empty()).then_some(out)
}

fn operation(code: u8, yes: usize, no: usize) -> Vec<u8> {
    let mut out = vec![code, yes as u8];
    out.extend((no as u16).to_ne_bytes());
    out
}

fn read(answer: &[u8]) -> Option<Subflow> {
    let attributes = answer.get(MESSAGE_BYTES..)?;
    let mptcp = attribute(attribute(attributes, ULP_INFO)?, ULP_MPTCP)?;
    let info = attribute(attributes, INFO)?;
    Some(Subflow {
        socket: (answer[0], *answer.get(SOCKET..)?.first_chunk()?),
        cookie: u64_at(answer, COOKIE),
        token: attribute(mptcp, TOKEN).map_or(0, |token| u32_at(token, 0)),
        local: address(answer, LOCAL)?,
        remote: SocketAddr::new(
            address(answer, REMOTE)?,
            u16::from_be_bytes(*answer.get(REMOTE_PORT..)?.first_chunk()?),
        ),
        unacked: u32_at(info, UNACKED),
        acked_bytes: u64_at(info, BYTES_ACKED),
        received_bytes: u64_at(info, BYTES_RECEIVED),
        out_of_order: u32_at(info, OUT_OF_ORDER),
        acked_ms: u32_at(info, LAST_ACK_RECV),
        received_ms: u32_at(info, LAST_DATA_RECV),
        rtt_us: u32_at(info, RTT),
        rttvar_us: u32_at(info, RTTVAR),
        timeouts: u32::from(*info.get(RETRANSMITS)?),
    })
}

/// An address; one of IPv4 in IPv6 is of IPv4.
fn address(answer: &[u8], at: usize) -> Option<IpAddr> {
    let bytes = answer.get(at..)?;
    Some(match answer[0] {
        INET => Ipv4Addr::from(*bytes.first_chunk::<4>()?).into(),
        _ => Ipv6Addr::from(*bytes.first_chunk::<16>()?).to_canonical(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn the_kernel_takes_conditions_of_any_number() {
        // Its audit refuses jumps to where no operation begins.
        let mut subflows = Subflows::new().unwrap();
        for count in [1, 2, 3, 40] {
            let from: Vec<IpAddr> =
                (0..count)
                    .map(|n| {
                        if n % 2 == 0 {
                            Ipv4Addr::new(10, 0, 0, n).into()
                        } else {
                            Ipv6Addr::from(u128::from(n)).into()
                        }
                    })
                    .collect();
            subflows.list(&from).unwrap();
        }
    }

    #[test]
    fn conditions_choose_by_the_local_address() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let _client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (own, other): (IpAddr, IpAddr) = ("127.0.0.1".parse().unwrap(), "192.0.2.1".parse().unwrap());
        let mut asking = Asking::new(SOCK_DIAG).unwrap();
        let mut count = |from: &[IpAddr]| {
            let mut body = request(INET, TCP, &[0; SOCKET_BYTES]).to_vec();
            put(&mut body, BYTECODE, &program(from).unwrap());
            asking.dump(SOCK_DIAG_BY_FAMILY, &body).unwrap().len()
        };
        assert_eq!(count(&[other]), 0);
        assert!(count(&[own]) >= 2 && count(&[other, own]) >= 2 && count(&[own, other]) >= 2);
    }

    #[test]
    fn one_socket_is_found_by_what_a_list_said_of_it() {
        is_found(INET, "127.0.0.1:0");
        // One of IPv6 that has an address of IPv4.
        is_found(INET6, "[::ffff:127.0.0.1]:0");
    }

    fn is_found(family: u8, listens: &str) {
        let listener = TcpListener::bind(listens).unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let port = client.local_addr().unwrap().port().to_be_bytes();
        let mut asking = Asking::new(SOCK_DIAG).unwrap();
        let all = asking.dump(SOCK_DIAG_BY_FAMILY, &request(family, TCP, &[0; SOCKET_BYTES])).unwrap();
        let socket = |answer: &[u8]| -> [u8; SOCKET_BYTES] { *answer[SOCKET..].first_chunk().unwrap() };
        let own = socket(all.iter().find(|answer| answer[SOCKET..SOCKET + 2] == port).unwrap());
        // Another that had its addresses before.
        let mut stale = own;
        stale[SOCKET_BYTES - 8] ^= 1;
        let mut gone = own;
        gone[0] ^= 0xff;
        let mut found = Vec::new();
        let bodies = [own, stale, gone, own].map(|socket| request(family, TCP, &socket));
        asking.each(SOCK_DIAG_BY_FAMILY, bodies.into_iter(), |at, answer| found.push((at, socket(answer)))).unwrap();
        assert_eq!(found, [(0, own), (3, own)]);
    }
}
