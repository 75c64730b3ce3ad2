//! A host between a client and a server that ends one connection and opens another: MPTCP over its paths, TCP with who is
//! behind it.

use crate::Interface;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use transport::{ConnectionId, Endpoint, Event, Outcome};
use wire::Time;
use wire::convert::{HEADER_BYTES, Tlv, message, tlvs};

/// Bytes of a request, a Connect TLV, and of its answer, an Extended TCP Header TLV with a segment size.
const REQUEST_BYTES: usize = 24;
const ANSWER_BYTES: usize = 12;

/// How a converter goes on with connections that come in.
#[derive(Clone, Debug, Default)]
pub struct Converting {
    /// Addresses that it connects from; the first that is up and of the server's family.
    pub from: Vec<IpAddr>,
    /// The other converter, which is asked for the connection (RFC 8803). Without it, it is whom the client connected to.
    pub asks: Option<SocketAddr>,
    /// Whether clients ask it so.
    pub is_asked: bool,
    /// Whether requests go in the SYN.
    pub fast_open: bool,
    /// Whether what it opens goes over the paths, and who is behind it opened the other connection.
    pub opens_paths: bool,
}

/// A converter, and the connections that it has.
pub(crate) struct Converter {
    converting: Converting,
    sides: BTreeMap<ConnectionId, Side>,
    open: usize,
}

/// One of two connections that belong together.
#[derive(Clone, Copy, Debug, Default)]
struct Side {
    /// The other.
    other: Option<ConnectionId>,
    /// It was opened here.
    is_far: bool,
    /// The peer speaks of the connection before its data.
    hears: bool,
    /// The peer writes nothing more, and the other end was not told yet.
    ended: bool,
}

impl Converter {
    pub fn new(converting: Converting) -> Converter {
        Converter { converting, sides: BTreeMap::new(), open: 0 }
    }

    /// Its connections over the paths.
    pub fn connections(&self) -> impl Iterator<Item = ConnectionId> {
        self.sides.iter().filter(|(_, side)| side.is_far == self.converting.opens_paths).map(|(id, _)| *id)
    }

    /// How many of them have not ended.
    pub fn open(&self) -> usize {
        self.open
    }

    /// Something happened on a connection.
    pub fn on(
        &mut self,
        now: Time,
        connection: ConnectionId,
        event: &Event,
        endpoint: &mut Endpoint,
        interfaces: &[Interface],
    ) {
        match event {
            Event::Accepted { .. } => {
                let hears = self.converting.is_asked;
                if hears {
                    endpoint.expect_preface(connection, REQUEST_BYTES);
                }
                self.insert(connection, Side { hears, ..Side::default() }, endpoint);
            }
            Event::Closed(outcome) => {
                let Some(side) = self.sides.get(&connection) else { return };
                self.open -= 1;
                if *outcome != Outcome::Complete
                    && let Some(other) = side.other
                {
                    endpoint.abort(now, other);
                }
                return;
            }
            Event::Connected => self.answer(connection, endpoint),
            Event::Finished => {
                if let Some(side) = self.sides.get_mut(&connection) {
                    side.ended = true;
                }
            }
            Event::Readable | Event::Writable => {}
            _ => return,
        }
        let Some(side) = self.sides.get(&connection) else { return };
        match side.other {
            None => self.extend(now, connection, event, endpoint, interfaces),
            Some(other) => {
                self.pass_on(now, connection, other, endpoint);
                self.pass_on(now, other, connection, endpoint);
            }
        }
    }

    fn insert(&mut self, connection: ConnectionId, side: Side, endpoint: &mut Endpoint) {
        endpoint.set_no_delay(connection, true);
        self.sides.insert(connection, side);
        self.open += 1;
    }

    /// Opens the other connection of one that came in, once it is known whom to connect to.
    fn extend(
        &mut self,
        now: Time,
        near: ConnectionId,
        event: &Event,
        endpoint: &mut Endpoint,
        interfaces: &[Interface],
    ) {
        let Converting { from, asks, is_asked, fast_open, .. } = &self.converting;
        let wanted = if *is_asked {
            let Some(request) = endpoint.take_preface(now, near) else { return };
            named(&request)
        } else if *event == Event::Connected {
            endpoint.snapshot(near).and_then(|snapshot| snapshot.subflows.first().map(|subflow| subflow.local))
        } else {
            return;
        };
        let is_up = |address: &&IpAddr| {
            let has = |interface: &&Interface| interface.addresses.contains(address);
            interfaces.iter().find(has).is_some_and(Interface::is_up)
        };
        let onward = wanted.and_then(|server| {
            let remote = asks.unwrap_or(server);
            let local = from.iter().filter(is_up).find(|local| local.is_ipv4() == remote.is_ipv4())?;
            Some((SocketAddr::new(*local, 0), remote, server))
        });
        let Some((local, remote, server)) = onward else { return endpoint.abort(now, near) };
        let request = asks.map(|_| message(&[Tlv::Connect { remote: server, options: &[] }]).expect("it is short"));
        let far = match request {
            Some(request) if *fast_open => endpoint.connect_fast(now, local, remote, request),
            request => {
                let far = endpoint.connect(now, local, remote);
                request.iter().for_each(|request| endpoint.send_preface(far, request));
                far
            }
        };
        let hears = asks.is_some();
        if hears {
            endpoint.expect_preface(far, ANSWER_BYTES);
        }
        self.insert(far, Side { other: Some(near), is_far: true, hears, ..Side::default() }, endpoint);
        let side = self.sides.get_mut(&near).expect("it came in");
        (side.other, side.hears) = (Some(far), false);
        self.pass_on(now, near, far, endpoint);
    }

    /// The server has accepted: says so to who asked, with the segment size that its SYN/ACK announced, as Linux does.
    fn answer(&self, far: ConnectionId, endpoint: &mut Endpoint) {
        let Some(&Side { other: Some(near), is_far: true, .. }) = self.sides.get(&far) else { return };
        if self.converting.is_asked {
            let path = endpoint.snapshot(far).and_then(|snapshot| snapshot.subflows.first()?.path);
            let [high, low] = path.map_or(0, |path| path.mss_bytes as u16).to_be_bytes();
            let answer = message(&[Tlv::ExtendedHeader { options: &[2, 4, high, low] }]).expect("it is short");
            endpoint.send_preface(near, &answer);
        }
    }

    /// Moves what can be read of one connection into the other, as far as there is room, and the end of it.
    fn pass_on(&mut self, now: Time, from: ConnectionId, to: ConnectionId, endpoint: &mut Endpoint) {
        let side = self.sides.get_mut(&from).expect("both are known");
        if side.hears {
            if endpoint.take_preface(now, from).is_none() {
                return;
            }
            side.hears = false;
        }
        let readable = endpoint.readable(from);
        let taken = endpoint.write(to, readable);
        endpoint.read(now, from, taken);
        if taken == readable && std::mem::take(&mut side.ended) {
            endpoint.finish(now, to);
        }
    }
}

/// The server that a request names.
fn named(request: &[u8]) -> Option<SocketAddr> {
    tlvs(request.get(HEADER_BYTES..)?).find_map(|tlv| match tlv {
        Ok(Tlv::Connect { remote, .. }) => Some(remote),
        _ => None,
    })
}
