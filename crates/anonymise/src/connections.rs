//! Whose keys are whose: what tokens, HMACs and data sequence numbers are made of.

use std::collections::HashMap;
use std::net::SocketAddr;

use wire::mptcp::crypto::{self, Party};
use wire::mptcp::{DataNumber, Dss, MpCapable, MpJoin, Mptcp};
use wire::{Flags, Frame, L4, Tcp, TcpOption};

use crate::Secret;

/// So far from their beginning data sequence numbers are known as a connection's: in 4 GiB.
const FURTHEST: u32 = 16;
/// So many data sequence numbers of a subflow are tried: some may be damaged.
const MOST_SHOWN: usize = 4;

/// All connections of all captures.
#[derive(Default)]
pub(crate) struct Connections {
    subflows: HashMap<Ends, Vec<Subflow>>,
    all: Vec<Connection>,
    by_key: HashMap<u64, (usize, usize)>,
    by_token: HashMap<u32, (usize, usize)>,
    /// By the upper half of the number that its data begins with.
    by_data: HashMap<u32, (usize, usize)>,
}

/// Of one capture, subflow by subflow: the sequence number of the latest SYN.
#[derive(Default)]
pub(crate) struct Current(HashMap<Ends, u32>);

/// A 4-tuple: the lower end first.
type Ends = (SocketAddr, SocketAddr);

#[derive(Default)]
struct Subflow {
    /// The sequence number of its SYN; none where no capture has it.
    syn: Option<u32>,
    /// Whether the lower end is the client: whoever sent the SYN.
    low_is_client: Option<bool>,
    /// The connection that it began.
    began: Option<usize>,
    /// The token by which it joined one.
    joined: Option<u32>,
    /// Random numbers of client and server, where it joined.
    nonces: [Option<u32>; 2],
    /// Upper halves of data sequence numbers that it shows, and whether the lower end sent the data.
    shown: Vec<(u32, bool)>,
}

/// Client first, server second: those of the first subflow.
#[derive(Default)]
struct Connection {
    version: u8,
    keys: [Option<u64>; 2],
    /// The latest data sequence number of each, as it is written.
    latest: [Option<u64>; 2],
}

/// The sender of a segment.
#[derive(Clone, Copy)]
pub(crate) struct Sender {
    connection: usize,
    /// 0: the connection's client; 1: its server.
    side: usize,
    /// Random numbers of this subflow: the sender's and the receiver's.
    nonces: [Option<u32>; 2],
}

impl Connections {
    /// Takes what a segment tells of its connection.
    pub fn learn(&mut self, current: &mut Current, frame: &Frame) {
        let L4::Tcp(tcp) = &frame.l4 else { return };
        let (ends, from_low) = ends(frame, tcp);
        let syn = current.syn(ends, tcp);
        let subflows = self.subflows.entry(ends).or_default();
        let index = subflows.iter().position(|subflow| subflow.syn == syn).unwrap_or_else(|| {
            subflows.push(Subflow { syn, ..Subflow::default() });
            subflows.len() - 1
        });
        let mut subflow = std::mem::take(&mut subflows[index]);
        if tcp.flags.has(Flags::SYN) {
            subflow.low_is_client = Some(from_low != tcp.flags.has(Flags::ACK));
        }
        for option in tcp.options.iter().flatten() {
            match option {
                TcpOption::Mptcp(Mptcp::Capable(capable)) => self.learn_keys(&mut subflow, from_low, tcp, &capable),
                TcpOption::Mptcp(Mptcp::Join(MpJoin::Syn { token, nonce, .. })) => {
                    (subflow.joined, subflow.nonces[0]) = (Some(token), Some(nonce));
                }
                TcpOption::Mptcp(Mptcp::Join(MpJoin::SynAck { nonce, .. })) => subflow.nonces[1] = Some(nonce),
                TcpOption::Mptcp(Mptcp::Dss(dss)) => subflow.show(&dss, from_low),
                _ => {}
            }
        }
        self.subflows.get_mut(&ends).expect("entered above")[index] = subflow;
    }

    fn learn_keys(&mut self, subflow: &mut Subflow, from_low: bool, tcp: &Tcp, capable: &MpCapable) {
        let Some(sender_key) = capable.sender_key else { return };
        let keys = match capable.receiver_key {
            // Only clients tell both.
            Some(receiver_key) => {
                subflow.low_is_client.get_or_insert(from_low);
                [Some(sender_key), Some(receiver_key)]
            }
            None if tcp.flags.has(Flags::ACK) => [None, Some(sender_key)],
            None => [Some(sender_key), None],
        };
        let known = keys.iter().flatten().find_map(|key| self.by_key.get(key)).map(|&(index, _)| index);
        let index = known.or(subflow.began).unwrap_or_else(|| {
            self.all.push(Connection::default());
            self.all.len() - 1
        });
        subflow.began = Some(index);
        self.all[index].version = capable.version;
        for (side, key) in keys.into_iter().enumerate() {
            let Some(key) = key else { continue };
            self.all[index].keys[side].get_or_insert(key);
            self.by_key.insert(key, (index, side));
            for version in [0, 1] {
                self.by_token.insert(crypto::token(version, key), (index, side));
            }
            let begin = crypto::initial_data_seq(capable.version, key);
            self.by_data.insert((begin >> 32) as u32, (index, side));
        }
    }

    /// Who sent a segment, as far as that is known.
    pub fn sender(&self, current: &mut Current, frame: &Frame, tcp: &Tcp) -> Option<Sender> {
        let (ends, from_low) = ends(frame, tcp);
        let syn = current.syn(ends, tcp);
        let subflows = self.subflows.get(&ends)?;
        let same = |subflow: &&Subflow| subflow.syn == syn;
        let known = subflows.iter().find(|subflow| same(subflow) && subflow.is_known());
        // Where this capture begins later than the subflow, another may not.
        let known = known.or_else(|| subflows.iter().find(|subflow| syn.is_none() && subflow.is_known()));
        let named = known.and_then(|subflow| Some((subflow, self.named(subflow)?)));
        let (subflow, (connection, side_of_low)) =
            named.or_else(|| subflows.iter().filter(same).find_map(|subflow| Some((subflow, self.shown(subflow)?))))?;
        let mut nonces = subflow.nonces;
        if subflow.low_is_client.is_some_and(|low_is_client| low_is_client != from_low) {
            nonces.reverse();
        }
        Some(Sender { connection, side: if from_low { side_of_low } else { 1 - side_of_low }, nonces })
    }

    /// The connection of a subflow by keys and tokens, and the side of the lower end.
    fn named(&self, subflow: &Subflow) -> Option<(usize, usize)> {
        let (connection, client) = match subflow.joined {
            Some(token) => self.by_token.get(&token).map(|&(connection, side)| (connection, 1 - side))?,
            None => (subflow.began?, 0),
        };
        Some((connection, if subflow.low_is_client? { client } else { 1 - client }))
    }

    /// By data sequence numbers, as the analysis adds subflows whose beginning it does not see, or whose addresses are
    /// damaged.
    fn shown(&self, subflow: &Subflow) -> Option<(usize, usize)> {
        subflow.shown.iter().find_map(|&(half, from_low)| {
            let mut before = (0..FURTHEST).map(|back| half.wrapping_sub(back));
            let &(connection, side) = before.find_map(|half| self.by_data.get(&half))?;
            Some((connection, if from_low { side } else { 1 - side }))
        })
    }

    /// The token instead of this one, where the key is known.
    pub fn token(&self, secret: &Secret, token: u32) -> Option<u32> {
        let &(index, side) = self.by_token.get(&token)?;
        let Connection { version, keys, .. } = self.all[index];
        keys[side].map(|key| crypto::token(version, secret.key(key)))
    }

    /// The HMAC of a join instead of this one, if it was right.
    pub fn join_hmac(&self, secret: &Secret, sender: Sender, hmac: &[u8]) -> Option<[u8; 20]> {
        let Connection { version, keys, .. } = self.all[sender.connection];
        let [Some(mine), Some(its)] = [keys[sender.side], keys[1 - sender.side]] else { return None };
        let [Some(my_nonce), Some(its_nonce)] = sender.nonces else { return None };
        let of = |mine, its| {
            crypto::join_ack_hmac(version, Party { key: mine, nonce: my_nonce }, Party { key: its, nonce: its_nonce })
        };
        of(mine, its).starts_with(hmac).then(|| of(secret.key(mine), secret.key(its)))
    }

    /// The keys of the sender and its peer, and those instead of them.
    pub fn keys(&self, secret: &Secret, sender: Sender) -> Option<[[u64; 2]; 2]> {
        let keys = self.all[sender.connection].keys;
        let before = [keys[sender.side]?, keys[1 - sender.side]?];
        Some([before, before.map(|key| secret.key(key))])
    }

    /// What is added to data sequence numbers of the sender, or of its peer: keys decide where they begin.
    pub fn shift(&self, secret: &Secret, sender: Sender, of_peer: bool) -> u64 {
        let Connection { version, keys, .. } = self.all[sender.connection];
        let Some(key) = keys[sender.side ^ usize::from(of_peer)] else { return 0 };
        let begin = |key| crypto::initial_data_seq(version, key);
        begin(secret.key(key)).wrapping_sub(begin(key))
    }

    /// All 64 bits of a data sequence number as it is written, of which these are the lower.
    pub fn extend(&mut self, secret: &Secret, sender: Sender, low: u32) -> u64 {
        let Connection { version, keys, latest } = &mut self.all[sender.connection];
        let begin = || keys[sender.side].map_or(0, |key| crypto::initial_data_seq(*version, secret.key(key)));
        let near = *latest[sender.side].get_or_insert_with(begin);
        let number = near.wrapping_add_signed(i64::from(low.wrapping_sub(near as u32) as i32));
        latest[sender.side] = Some(number);
        number
    }
}

impl Subflow {
    fn is_known(&self) -> bool {
        self.began.is_some() || self.joined.is_some()
    }

    fn show(&mut self, dss: &Dss, from_low: bool) {
        let data = dss.mapping.map(|mapping| (mapping.data_seq, from_low));
        let acknowledged = dss.data_ack.map(|number| (number, !from_low));
        for (number, of_low) in data.into_iter().chain(acknowledged) {
            let DataNumber::Long(number) = number else { continue };
            let one = ((number >> 32) as u32, of_low);
            if self.shown.len() < MOST_SHOWN && !self.shown.contains(&one) {
                self.shown.push(one);
            }
        }
    }
}

impl Current {
    /// The sequence number of the SYN of the subflow that a segment belongs to.
    fn syn(&mut self, ends: Ends, tcp: &Tcp) -> Option<u32> {
        match (tcp.flags.has(Flags::SYN), tcp.flags.has(Flags::ACK)) {
            (true, false) => self.0.insert(ends, tcp.seq),
            (true, true) => self.0.insert(ends, tcp.ack.wrapping_sub(1)),
            _ => None,
        };
        self.0.get(&ends).copied()
    }
}

fn ends(frame: &Frame, tcp: &Tcp) -> (Ends, bool) {
    let source = SocketAddr::new(frame.ip.source, tcp.source_port);
    let destination = SocketAddr::new(frame.ip.destination, tcp.destination_port);
    if source < destination { ((source, destination), true) } else { ((destination, source), false) }
}
