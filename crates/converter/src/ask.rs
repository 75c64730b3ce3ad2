//! The client's side of the Convert Protocol: asks a converter for a connection to a server.

use crate::relay::{BUFFER_BYTES, LOOK, Pipe, is_later};
use crate::sockets::{OPENS, Speaks, opened, poll};
use rustix::event::{PollFd, PollFlags};
use socket2::Socket;
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::SocketAddr;
use std::sync::Mutex;
use std::time::Instant;
use wire::convert::{Code, HEADER_BYTES, Tlv, message, message_len, tlvs};

/// A converter, and the cookie that it gave.
pub struct Converter {
    address: SocketAddr,
    congestion_control: Option<String>,
    cookie: Mutex<Option<Vec<u8>>>,
}

/// What the converter answered.
enum Reply {
    Opened,
    Cookie(Vec<u8>),
    /// Of a client without the right cookie, or of none at all.
    Unauthorized,
}

impl Converter {
    pub fn new(address: SocketAddr, congestion_control: Option<String>) -> Converter {
        Converter { address, congestion_control, cookie: Mutex::default() }
    }

    /// Opens a connection to a server by it, for the client that is `near`. What the client sends meanwhile goes along, and
    /// what of it is still to be sent is given back, as the up direction.
    ///
    /// # Errors
    /// There is none, and the client is to be reset.
    pub fn connect(&self, server: SocketAddr, near: &Socket) -> Result<(Socket, Pipe)> {
        let mut early = Early::default();
        let cookie = self.cookie.lock().expect("nobody panics with it").clone();
        let mut reply = self.ask(server, cookie.as_deref(), near, &mut early)?;
        if cookie.is_some() && matches!(reply, (_, Reply::Unauthorized)) {
            // It may be of a secret that the converter has no more.
            *self.cookie.lock().expect("nobody panics with it") = None;
            reply = self.ask(server, None, near, &mut early)?;
        }
        if let (_, Reply::Cookie(cookie)) = &reply {
            // RFC 8803 §6.2.8: kept, and sent from now on.
            *self.cookie.lock().expect("nobody panics with it") = Some(cookie.clone());
            reply = self.ask(server, Some(&cookie.clone()), near, &mut early)?;
        }
        match reply {
            (far, Reply::Opened) => Ok((far, early.rest())),
            (_, Reply::Cookie(_)) => Err(Error::other("the converter takes no cookie")),
            (_, Reply::Unauthorized) => Err(says(Code::NOT_AUTHORIZED)),
        }
    }

    fn ask(
        &self,
        server: SocketAddr,
        cookie: Option<&[u8]>,
        near: &Socket,
        early: &mut Early,
    ) -> Result<(Socket, Reply)> {
        let connect = Tlv::Connect { remote: server, options: &[] };
        let tlvs = [cookie.map(|cookie| Tlv::Cookie { cookie }), Some(connect)];
        let tlvs: Vec<_> = tlvs.into_iter().flatten().collect();
        let request = message(&tlvs).map_err(Error::other)?;
        let (far, sent) = opened(self.address, Speaks::Mptcp(self.congestion_control.as_deref()), &request)?;
        early.begin(request, sent);
        let until = Instant::now() + OPENS;
        let mut answer = Vec::new();
        loop {
            if Instant::now() >= until {
                return Err(ErrorKind::TimedOut.into());
            }
            let mut events = PollFlags::IN;
            events.set(PollFlags::OUT, early.is_waiting());
            let mut polled = vec![PollFd::new(&far, events)];
            if early.has_room() {
                polled.push(PollFd::new(near, PollFlags::IN));
            }
            poll(&mut polled, LOOK)?;
            let near_came = polled.get(1).is_some_and(|near| !near.revents().is_empty());
            let far_came = polled[0].revents();
            if near_came {
                early.read(near)?;
            }
            early.write(&far)?;
            if far_came.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR)
                && let Some(reply) = read(&far, &mut answer)?
            {
                return Ok((far, reply));
            }
        }
    }
}

/// Reads no more than the message, and judges it once it is whole.
fn read(mut far: &Socket, answer: &mut Vec<u8>) -> Result<Option<Reply>> {
    loop {
        let length = match answer.first_chunk() {
            None => HEADER_BYTES,
            Some(&header) => message_len(header).map_err(Error::other)?,
        };
        let begin = answer.len();
        if begin >= HEADER_BYTES && begin == length {
            return judged(&answer[HEADER_BYTES..]).map(Some);
        }
        answer.resize(length, 0);
        let read = far.read(&mut answer[begin..]);
        answer.truncate(begin + *read.as_ref().unwrap_or(&0));
        match read {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Err(error) if is_later(error.kind()) => return Ok(None),
            Err(error) => return Err(error),
            Ok(_) => {}
        }
    }
}

fn judged(answer: &[u8]) -> Result<Reply> {
    for tlv in tlvs(answer) {
        match tlv.map_err(Error::other)? {
            Tlv::Error { code: Code::MISSING_COOKIE, value: [0, cookie @ ..] } if !cookie.is_empty() => {
                return Ok(Reply::Cookie(cookie.to_vec()));
            }
            Tlv::Error { code: Code::NOT_AUTHORIZED, .. } => return Ok(Reply::Unauthorized),
            Tlv::Error { code, .. } => return Err(says(code)),
            // Reserved (RFC 8803 §6.2.2).
            Tlv::Unknown { kind: 0, .. } => return Err(Error::other("the converter says what nobody may")),
            _ => {}
        }
    }
    Ok(Reply::Opened)
}

fn says(code: Code) -> Error {
    Error::other(format!("the converter says: {code}"))
}

/// The request, and what the client sends before it is answered. It is kept whole until then: another try sends it again.
#[derive(Default)]
struct Early {
    request: usize,
    bytes: Vec<u8>,
    sent: usize,
    ended: bool,
}

impl Early {
    fn begin(&mut self, request: Vec<u8>, sent: usize) {
        self.bytes.splice(..self.request, request.iter().copied());
        self.request = request.len();
        self.sent = sent;
    }

    fn has_room(&self) -> bool {
        !self.ended && self.bytes.len() < BUFFER_BYTES
    }

    fn is_waiting(&self) -> bool {
        self.sent < self.bytes.len()
    }

    fn read(&mut self, mut near: &Socket) -> Result<()> {
        let begin = self.bytes.len();
        self.bytes.resize(BUFFER_BYTES, 0);
        let read = near.read(&mut self.bytes[begin..]);
        self.bytes.truncate(begin + *read.as_ref().unwrap_or(&0));
        match read {
            Ok(0) => self.ended = true,
            Err(error) if !is_later(error.kind()) => return Err(error),
            _ => {}
        }
        Ok(())
    }

    fn write(&mut self, mut far: &Socket) -> Result<()> {
        if self.is_waiting() {
            match far.write(&self.bytes[self.sent..]) {
                Ok(count) => self.sent += count,
                Err(error) if is_later(error.kind()) => {}
                // What it answered says more.
                Err(error) if error.kind() == ErrorKind::BrokenPipe => self.sent = self.bytes.len(),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn rest(mut self) -> Pipe {
        let mut pipe = Pipe::new(self.bytes.split_off(self.sent), self.ended);
        pipe.bytes = (self.sent - self.request.min(self.sent)) as u64;
        pipe
    }
}
