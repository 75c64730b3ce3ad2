//! The converter's side of the Convert Protocol: reads what a client asks for, and answers.

use crate::cookies::Cookies;
use crate::networks::{comes_back, is_host, may};
use crate::relay::is_later;
use crate::sockets::{Speaks, opened, wait};
use rustix::event::PollFlags;
use socket2::Socket;
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::{IpAddr, Shutdown, SocketAddr};
use std::time::{Duration, Instant};
use wire::convert::{Code, Fault, HEADER_BYTES, MOST_BYTES, Tlv, VERSION, message, message_len, tlvs};

/// How long a client may take to ask, and to hear that it is refused.
const ASKS: Duration = Duration::from_secs(10);
const HEARS: Duration = Duration::from_secs(2);
/// Kinds of TCP options: those that every stack chooses for itself (RFC 8803 §7), and Multipath TCP.
const OF_THE_STACK: [u8; 7] = [0, 1, 2, 3, 4, 5, 8];
const MPTCP: u8 = 30;
const MSS: u8 = 2;
/// ICMP codes: the network (of ICMPv6: no route), the host, of ICMPv6 the address is unreachable (RFC 792, RFC 4443 §3.1).
const NETWORK: u8 = 0;
const HOST: u8 = 1;
const ADDRESS: u8 = 3;

/// What the answers depend on.
pub struct Rules {
    /// Where the converter itself is.
    pub listens: SocketAddr,
    pub allow: Vec<(IpAddr, u8)>,
    pub cookies: Option<Cookies>,
    /// Of MPTCP, where a client wants that for the server.
    pub congestion_control: Option<String>,
}

/// An error to be reported, and what belongs to it.
#[derive(Debug, PartialEq)]
pub struct Refusal(pub Code, pub Vec<u8>);

impl Refusal {
    fn of(code: Code) -> Refusal {
        Refusal(code, vec![0])
    }

    /// Repeats the message, as far as there is room.
    fn repeating(code: Code, asked: &[u8]) -> Refusal {
        Refusal(code, asked[..asked.len().min(MOST_BYTES - HEADER_BYTES - 3)].to_vec())
    }
}

/// Why there is no connection.
pub struct Failure {
    pub error: Error,
    /// It was reported to the client, so that its connection has ended as it should.
    pub answered: bool,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure { error, answered: false }
    }
}

/// What a client wants.
#[derive(Debug, PartialEq)]
pub enum Wanted {
    Connection { server: SocketAddr, mptcp: bool, info: bool },
    Info,
}

impl Rules {
    /// Reads a message and opens the connection that it asks for; `None` where it only asked what there is, and was
    /// answered.
    ///
    /// # Errors
    /// There is none.
    pub fn serve(
        &self,
        near: &Socket,
        client: IpAddr,
        full: bool,
    ) -> std::result::Result<Option<(Socket, SocketAddr)>, Failure> {
        let asked = read(near)?;
        if let Some(Err(empty @ Fault::Empty)) = asked.first_chunk().map(|&header| message_len(header)) {
            return Err(Error::other(empty).into());
        }
        let wanted = self.judge(&asked, client).and_then(|wanted| match wanted {
            // Told only to those who may know it.
            Wanted::Connection { .. } if full => Err(Refusal::of(Code::RESOURCE_EXCEEDED)),
            wanted => Ok(wanted),
        });
        let opens = wanted.and_then(|wanted| match wanted {
            Wanted::Info => Ok(None),
            Wanted::Connection { server, mptcp, info } => {
                let speaks = if mptcp { Speaks::Mptcp(self.congestion_control.as_deref()) } else { Speaks::Tcp };
                let (far, _) = opened(server, speaks, &[]).map_err(|error| unreachable(&error, server))?;
                Ok(Some((far, server, info)))
            }
        });
        let supported = Tlv::Supported { kinds: &[MPTCP] };
        match opens {
            Ok(None) => {
                tell(near, &[supported])?;
                hang_up(near)?;
                Ok(None)
            }
            Ok(Some((far, server, info))) => {
                // Of the options of the server's SYN/ACK, Linux tells programs the segment size alone.
                let [high, low] = (far.tcp_mss()? as u16).to_be_bytes();
                let header = Tlv::ExtendedHeader { options: &[MSS, 4, high, low] };
                tell(near, &[supported, header][usize::from(!info)..])?;
                Ok(Some((far, server)))
            }
            Err(Refusal(code, value)) => {
                tell(near, &[Tlv::Error { code, value: &value }])?;
                hang_up(near)?;
                Err(Failure { error: Error::other(code.to_string()), answered: true })
            }
        }
    }

    /// Judges what was asked.
    fn judge(&self, asked: &[u8], client: IpAddr) -> std::result::Result<Wanted, Refusal> {
        let malformed = || Refusal::repeating(Code::MALFORMED_MESSAGE, asked);
        let unsupported = || Refusal::repeating(Code::UNSUPPORTED_MESSAGE, asked);
        let Some(&header) = asked.first_chunk() else { return Err(malformed()) };
        match message_len(header) {
            Ok(length) if length == asked.len() => {}
            Err(Fault::Version(_)) => return Err(Refusal(Code::UNSUPPORTED_VERSION, vec![VERSION])),
            _ => return Err(malformed()),
        }
        let (mut connect, mut cookie, mut info) = (None, None, false);
        for tlv in tlvs(&asked[HEADER_BYTES..]) {
            match tlv.map_err(|_| malformed())? {
                Tlv::Info => info = true,
                Tlv::Cookie { cookie: given } => cookie = Some(given),
                Tlv::Connect { remote, options } => connect = Some((remote, options)),
                _ => return Err(unsupported()),
            }
        }
        if !may(client, &self.allow) {
            return Err(Refusal::of(Code::NOT_AUTHORIZED));
        }
        // RFC 8803 §6.2.7: one that is wrong is no missing one.
        if let Some(expected) = self.cookies.as_ref().map(|cookies| cookies.of(client)) {
            match cookie {
                None => return Err(Refusal(Code::MISSING_COOKIE, [&[0], &expected[..]].concat())),
                Some(cookie) if cookie != expected => return Err(Refusal::of(Code::NOT_AUTHORIZED)),
                Some(_) => {}
            }
        }
        let Some((server, options)) = connect else { return if info { Ok(Wanted::Info) } else { Err(unsupported()) } };
        if !is_host(server.ip()) || server.port() == 0 || comes_back(server, self.listens) {
            return Err(malformed());
        }
        let kinds = kinds(options).ok_or_else(malformed)?;
        let others: Vec<u8> =
            kinds.iter().copied().filter(|kind| *kind != MPTCP && !OF_THE_STACK.contains(kind)).collect();
        if !others.is_empty() {
            return Err(Refusal(Code::UNSUPPORTED_TCP_OPTION, others));
        }
        Ok(Wanted::Connection { server, mptcp: kinds.contains(&MPTCP), info })
    }
}

/// The kinds of a list of options, each with its length, padded with zeros; `None` if that is what it is not.
fn kinds(mut options: &[u8]) -> Option<Vec<u8>> {
    let mut found = Vec::new();
    while let [kind, rest @ ..] = options {
        // No-Operation has no length, and is ignored (RFC 8803 §7.1).
        if *kind == 1 {
            options = rest;
            continue;
        }
        if *kind == 0 {
            return rest.iter().all(|&byte| byte == 0).then_some(found);
        }
        let length = usize::from(*rest.first()?);
        options = options.get(length.max(2)..).filter(|_| length >= 2)?;
        found.push(*kind);
    }
    Some(found)
}

/// What a failed attempt to reach a server is called.
fn unreachable(error: &Error, server: SocketAddr) -> Refusal {
    match error.kind() {
        ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset => Refusal::of(Code::CONNECTION_RESET),
        ErrorKind::NetworkUnreachable => Refusal(Code::DESTINATION_UNREACHABLE, vec![NETWORK]),
        ErrorKind::HostUnreachable => {
            Refusal(Code::DESTINATION_UNREACHABLE, vec![if server.is_ipv4() { HOST } else { ADDRESS }])
        }
        ErrorKind::PermissionDenied => Refusal::of(Code::NOT_AUTHORIZED),
        ErrorKind::OutOfMemory | ErrorKind::AddrNotAvailable => Refusal::of(Code::RESOURCE_EXCEEDED),
        // EMFILE and ENFILE.
        _ if matches!(error.raw_os_error(), Some(23 | 24)) => Refusal::of(Code::RESOURCE_EXCEEDED),
        _ => Refusal::of(Code::NETWORK_FAILURE),
    }
}

/// Reads a message, or what there is of something else.
fn read(mut near: &Socket) -> Result<Vec<u8>> {
    let until = Instant::now() + ASKS;
    let mut asked = Vec::new();
    loop {
        let length = match asked.first_chunk() {
            None => HEADER_BYTES,
            Some(&header) => message_len(header).unwrap_or(HEADER_BYTES),
        };
        let begin = asked.len();
        if begin >= length {
            return Ok(asked);
        }
        asked.resize(length, 0);
        let read = near.read(&mut asked[begin..]);
        asked.truncate(begin + *read.as_ref().unwrap_or(&0));
        match read {
            Ok(0) if asked.is_empty() => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(0) => return Ok(asked),
            Err(error) if is_later(error.kind()) => wait(near, PollFlags::IN, until)?,
            Err(error) => return Err(error),
            Ok(_) => {}
        }
    }
}

/// Sends a message; the send buffer is empty and has room for it.
fn tell(mut near: &Socket, tlvs: &[Tlv<'_>]) -> Result<()> {
    near.write_all(&message(tlvs).map_err(Error::other)?)
}

/// Ends a connection so that what was written arrives: a reset, which data that nobody reads brings about, might overtake
/// it.
fn hang_up(mut near: &Socket) -> Result<()> {
    near.shutdown(Shutdown::Write)?;
    let until = Instant::now() + HEARS;
    let mut rest = [0; 4096];
    loop {
        match near.read(&mut rest) {
            Ok(0) => return Ok(()),
            Err(error) if is_later(error.kind()) => wait(near, PollFlags::IN, until)?,
            Err(error) => return Err(error),
            Ok(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLIENT: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 1, 2));

    fn judged(rules: &Rules, tlvs: &[Tlv<'_>]) -> std::result::Result<Wanted, Refusal> {
        rules.judge(&message(tlvs).unwrap(), CLIENT)
    }

    fn open() -> Rules {
        let listens = "192.0.2.9:5124".parse().unwrap();
        let allow = vec![("0.0.0.0".parse().unwrap(), 0)];
        Rules { listens, allow, cookies: None, congestion_control: None }
    }

    fn connect<'a>(remote: &str, options: &'a [u8]) -> Tlv<'a> {
        Tlv::Connect { remote: remote.parse().unwrap(), options }
    }

    #[test]
    fn what_is_asked_for_is_what_is_wanted() {
        let server = "192.0.2.1:443".parse().unwrap();
        let wanted = |mptcp, info| Ok(Wanted::Connection { server, mptcp, info });
        assert_eq!(judged(&open(), &[connect("192.0.2.1:443", &[])]), wanted(false, false));
        assert_eq!(judged(&open(), &[Tlv::Info, connect("192.0.2.1:443", &[])]), wanted(false, true));
        assert_eq!(judged(&open(), &[connect("192.0.2.1:443", &[4, 2, 30, 2])]), wanted(true, false));
        assert_eq!(judged(&open(), &[connect("192.0.2.1:443", &[1, 1, 30, 2])]), wanted(true, false));
        assert_eq!(judged(&open(), &[Tlv::Info]), Ok(Wanted::Info));
    }

    #[test]
    fn every_mistake_has_its_error() {
        let asked = |tlvs: &[Tlv<'_>]| judged(&open(), tlvs).unwrap_err();
        let repeated = |code, tlvs: &[Tlv<'_>]| Refusal(code, message(tlvs).unwrap());
        for tlvs in [
            &[connect("127.0.0.1:443", &[])][..],
            &[connect("224.0.0.1:443", &[])],
            &[connect("255.255.255.255:443", &[])],
            &[connect("[::1]:443", &[])],
            &[connect("192.0.2.1:0", &[])],
            &[Tlv::Info, Tlv::Info],
            &[connect("192.0.2.1:443", &[30, 1, 0, 0])],
            &[connect("192.0.2.1:443", &[30, 9, 0, 0])],
        ] {
            assert_eq!(asked(tlvs), repeated(Code::MALFORMED_MESSAGE, tlvs));
        }
        for tlvs in [&[][..], &[Tlv::Unknown { kind: 99, value: &[0, 0] }], &[Tlv::Supported { kinds: &[30] }]] {
            assert_eq!(asked(tlvs), repeated(Code::UNSUPPORTED_MESSAGE, tlvs));
        }
        let options = asked(&[connect("192.0.2.1:443", &[29, 2, 30, 2, 34, 2, 0, 0])]);
        assert_eq!(options, Refusal(Code::UNSUPPORTED_TCP_OPTION, vec![29, 34]));
        let other = open().judge(&[2, 1, 0x22, 0x63], CLIENT).unwrap_err();
        assert_eq!(other, Refusal(Code::UNSUPPORTED_VERSION, vec![1]));
        let text = b"GET / HTTP/1.1\r\n";
        assert_eq!(open().judge(&text[..4], CLIENT).unwrap_err(), Refusal(Code::MALFORMED_MESSAGE, text[..4].to_vec()));
        // Cut in the middle, and longer than what can be repeated.
        assert_eq!(open().judge(&[1, 2, 0x22, 0x63], CLIENT).unwrap_err().0, Code::MALFORMED_MESSAGE);
        let long = message(&[Tlv::Unknown { kind: 99, value: &[7; MOST_BYTES - HEADER_BYTES - 2] }]).unwrap();
        let Refusal(code, value) = open().judge(&long, CLIENT).unwrap_err();
        assert!(message(&[Tlv::Error { code, value: &value }]).is_ok());
    }

    #[test]
    fn clients_are_those_that_may() {
        let rules = Rules { allow: vec![("10.0.2.0".parse().unwrap(), 24)], ..open() };
        let wanted = [connect("192.0.2.1:443", &[])];
        assert_eq!(judged(&rules, &wanted), Err(Refusal(Code::NOT_AUTHORIZED, vec![0])));
    }

    #[test]
    fn a_cookie_is_given_and_taken_back() {
        let rules = Rules { cookies: Some(Cookies::default()), ..open() };
        let wanted = connect("192.0.2.1:443", &[]);
        let Err(Refusal(Code::MISSING_COOKIE, value)) = judged(&rules, &[wanted]) else { panic!("no cookie") };
        assert_eq!((value.len(), value[0]), (9, 0));
        assert!(judged(&rules, &[Tlv::Cookie { cookie: &value[1..] }, wanted]).is_ok());
        let wrong = judged(&rules, &[Tlv::Cookie { cookie: &[0; 8] }, wanted]);
        assert_eq!(wrong, Err(Refusal(Code::NOT_AUTHORIZED, vec![0])));
    }

    #[test]
    fn failures_have_their_codes() {
        let [v4, v6] = ["192.0.2.1:443", "[2001:db8::1]:443"].map(|server| server.parse().unwrap());
        let answered = |kind: ErrorKind| unreachable(&kind.into(), v4);
        assert_eq!(answered(ErrorKind::ConnectionRefused), Refusal(Code::CONNECTION_RESET, vec![0]));
        assert_eq!(answered(ErrorKind::NetworkUnreachable), Refusal(Code::DESTINATION_UNREACHABLE, vec![0]));
        assert_eq!(answered(ErrorKind::HostUnreachable), Refusal(Code::DESTINATION_UNREACHABLE, vec![1]));
        let unreachable_v6 = unreachable(&ErrorKind::HostUnreachable.into(), v6);
        assert_eq!(unreachable_v6, Refusal(Code::DESTINATION_UNREACHABLE, vec![3]));
        assert_eq!(answered(ErrorKind::TimedOut), Refusal(Code::NETWORK_FAILURE, vec![0]));
        assert_eq!(unreachable(&Error::from_raw_os_error(24), v4), Refusal(Code::RESOURCE_EXCEEDED, vec![0]));
    }
}
