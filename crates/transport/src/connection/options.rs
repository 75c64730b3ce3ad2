//! The MPTCP options of what goes out.

use super::addresses::Notice;
use super::open::{CHECKSUM_REQUIRED, HMAC};
use super::{Connection, Mode};
use crate::subflow::{Emission, Kind, Piece};
use std::net::SocketAddr;
use wire::mptcp::crypto::{Party, join_ack_hmac, join_syn_ack_hmac};
use wire::mptcp::{
    AddAddr, Dss, Mapping, MpCapable, MpFail, MpFastClose, MpJoin, MpPrio, MpTcpRst, Mptcp, dss_checksum,
};
use wire::{Options, TcpOption, Time};

impl Connection {
    /// Appends the MPTCP options of `emission` on subflow `i`; what finds no room is left out.
    pub(super) fn mptcp_options(&mut self, now: Time, i: usize, emission: &Emission, options: &mut Options) {
        if self.mode == Mode::Plain {
            return self.fallen_back(i, emission, options);
        }
        match (emission.kind, self.entries[i].join.is_some()) {
            (Kind::Syn | Kind::SynAck, false) => self.capable_syn(i, emission, options),
            (Kind::Syn | Kind::SynAck, true) => self.join_syn(i, emission, options),
            (Kind::Reset, _) => self.reset(i, options),
            _ if self.mode == Mode::Opening => {}
            _ if emission.piece.is_some() => self.data(i, emission, options),
            (_, joined) if !self.entries[i].confirmed && self.entries[i].opened_here => match joined {
                true => self.join_ack(now, i, options),
                false => self.keys_ack(i, options),
            },
            (Kind::Ack, _) => self.ack(now, i, options),
            _ => add_dss(options, &self.data_ack()),
        }
    }

    /// MP_CAPABLE: on a SYN of version 1 without keys, later with the sender's or both (RFC 8684 §3.1); in version 0 the
    /// SYN has the sender's, too (RFC 6824 §3.1).
    fn capable(&self, keys: Option<(u64, u64)>, piece: Option<&Piece>) -> MpCapable {
        let data_alone = piece.map(|piece| Piece { data_fin: false, ..*piece });
        let checksum = data_alone.filter(|_| self.agreed.has_checksums()).map(|piece| self.checksum_of(&piece, 1));
        MpCapable {
            version: self.agreed.version(),
            flags: HMAC | if self.agreed.has_checksums() { CHECKSUM_REQUIRED } else { 0 },
            sender_key: keys.map(|(local, _)| local),
            receiver_key: keys.map(|(_, remote)| remote),
            data_len: piece.map(|piece| piece.len as u16),
            checksum,
        }
    }

    #[cold]
    #[inline(never)]
    fn capable_syn(&self, i: usize, emission: &Emission, options: &mut Options) {
        let tries = self.entries[i].tcp.syn_transmissions();
        match emission.kind {
            Kind::SynAck => {
                let capable = MpCapable { sender_key: Some(self.agreed.local_key()), ..self.capable(None, None) };
                add(options, Mptcp::Capable(capable));
            }
            _ if self.agreed.is_offered(tries) => {
                let sender_key = Some(self.agreed.local_key()).filter(|_| self.agreed.version() == 0);
                add(options, Mptcp::Capable(MpCapable { sender_key, ..self.capable(None, None) }));
            }
            _ => {}
        }
    }

    #[cold]
    #[inline(never)]
    fn join_syn(&self, i: usize, emission: &Emission, options: &mut Options) {
        let entry = &self.entries[i];
        let (Some(join), backup, address_id) = (entry.join, entry.backup, entry.local_id) else { return };
        let nonce = join.local_nonce;
        // The measurements with simultaneous SYNs (Chen et al., IMC 2013, §4.1) do not say what names the connection before
        // the server's key is known. Here it is the token of the client's own key, which the server cannot know either
        // until the third packet tells it: our server keeps the SYN until then. Any other resets it (RFC 8684 §3.2).
        let token = self.agreed.remote_key().map_or(self.agreed.local_token(), |_| self.agreed.remote_token());
        add(
            options,
            Mptcp::Join(match emission.kind {
                Kind::Syn => MpJoin::Syn { backup, address_id, token, nonce },
                _ => {
                    let (local, remote) = self.parties(i);
                    MpJoin::SynAck {
                        backup,
                        address_id,
                        hmac: join_syn_ack_hmac(self.agreed.version(), local, remote),
                        nonce,
                    }
                }
            }),
        );
    }

    /// Nothing shows yet that the peer has the keys. They leave no room for a DATA_FIN, which goes in turn with them.
    #[cold]
    #[inline(never)]
    fn keys_ack(&mut self, i: usize, options: &mut Options) {
        let are_sent = std::mem::take(&mut self.entries[i].keys_sent);
        if are_sent && self.send.end_to_tell().is_some() {
            add_dss(options, &self.data_ack_and_end());
            return;
        }
        add(options, Mptcp::Capable(self.capable(self.agreed.keys(), None)));
        self.entries[i].keys_sent = true;
        if self.send.end_alone() {
            self.entries[i].tcp.acknowledge();
        }
    }

    #[cold]
    #[inline(never)]
    fn join_ack(&mut self, now: Time, i: usize, options: &mut Options) {
        let (local, remote) = self.parties(i);
        add(options, Mptcp::Join(MpJoin::Ack { hmac: join_ack_hmac(self.agreed.version(), local, remote) }));
        let entry = &mut self.entries[i];
        if let Some(join) = &mut entry.join {
            join.again = now + (entry.tcp.rto_ns() << join.tries.min(6));
            join.tries += 1;
        }
    }

    /// What both ends put into the HMACs of a joined subflow: this end's and the peer's.
    pub(super) fn parties(&self, i: usize) -> (Party, Party) {
        let join = self.entries[i].join.expect("only joined subflows have nonces");
        self.agreed.parties(join.local_nonce, join.remote_nonce.unwrap_or(0))
    }

    #[cold]
    #[inline(never)]
    fn reset(&mut self, i: usize, options: &mut Options) {
        let entry = &mut self.entries[i];
        if let (true, Some(receiver_key)) = (self.aborted, self.agreed.remote_key()) {
            add(options, Mptcp::FastClose(MpFastClose { receiver_key }));
            return;
        }
        if let Some(data_seq) = entry.failed.take() {
            add(options, Mptcp::Fail(MpFail { data_seq }));
        }
        // Version 0 has no MP_TCPRST.
        if let Some(reason) = entry.reset_reason.filter(|_| self.agreed.version() > 0) {
            add(options, Mptcp::TcpRst(MpTcpRst { flags: 0, reason }));
        }
    }

    fn data(&mut self, i: usize, emission: &Emission, options: &mut Options) {
        let Some(piece) = emission.piece else { return };
        let entry = &self.entries[i];
        // The first data of the client tells the keys once more (RFC 8684 §3.1).
        if self.client
            && i == 0
            && self.agreed.version() > 0
            && entry.join.is_none()
            && !entry.confirmed
            && piece.data_offset == 0
        {
            return self.keys_data(&piece, options);
        }
        let subflow_seq = emission.offset as u32;
        let mapping = Mapping {
            data_seq: self.agreed.sending().wire(piece.data_offset, self.agreed.long_numbers()),
            subflow_seq,
            len: (piece.len + u32::from(piece.data_fin)) as u16,
            checksum: self.agreed.has_checksums().then(|| self.checksum_of(&piece, subflow_seq)),
        };
        let mut ack = self.data_ack();
        if piece.len > self.entries[i].tcp.mss_bytes() {
            ack.data_ack = Some(self.agreed.receiving().wire(self.receive.acknowledged(), false)); // see note_numbers
        }
        add_dss(options, &Dss { mapping: Some(mapping), data_fin: piece.data_fin, ..ack });
    }

    #[cold]
    #[inline(never)]
    fn keys_data(&mut self, piece: &Piece, options: &mut Options) {
        add(options, Mptcp::Capable(self.capable(self.agreed.keys(), Some(piece))));
        if piece.data_fin {
            self.send.end_lost(); // MP_CAPABLE cannot tell it
        }
    }

    #[inline(never)] // most connections have no checksums
    fn checksum_of(&self, piece: &Piece, subflow_seq: u32) -> u16 {
        let len = (piece.len + u32::from(piece.data_fin)) as u16;
        let data_seq = self.agreed.sending().number(piece.data_offset);
        self.preface.checksum(data_seq, subflow_seq, len, piece)
    }

    fn data_ack(&self) -> Dss {
        let acknowledged = self.receive.acknowledged();
        let number = self.agreed.receiving().wire(acknowledged, self.agreed.long_acks());
        Dss { data_ack: Some(number), ..Dss::default() }
    }

    fn ack(&mut self, now: Time, i: usize, options: &mut Options) {
        let entry = &self.entries[i];
        let failed = entry.tell_failed || entry.failed.is_some();
        if failed || self.prios != 0 || self.send.end_to_tell().is_some() || self.addresses.due(now) {
            self.ack_with_signals(now, i, options);
        } else {
            add_dss(options, &self.data_ack());
        }
    }

    /// An ACK when there is more to say than what arrived.
    #[cold]
    #[inline(never)]
    fn ack_with_signals(&mut self, now: Time, i: usize, options: &mut Options) {
        // All ACKs say that a mapping failed, but what else is due would never be said.
        let others = self.addresses.due(now) || self.send.end_alone();
        let entry = &mut self.entries[i];
        let is_due = std::mem::take(&mut entry.tell_failed);
        if let Some(data_seq) = entry.failed.filter(|_| is_due || !others) {
            add(options, Mptcp::Fail(MpFail { data_seq }));
            add_dss(options, &self.data_ack());
        } else if self.addresses.due(now)
            && let Some(notice) = self.addresses.next(now)
        {
            // An IPv6 address with its HMAC leaves no room for more.
            match notice {
                Notice::Remove(remove) => add(options, Mptcp::RemoveAddr(remove)),
                Notice::Add(add_addr) if add_addr.echo || add_addr.version == 0 => {
                    add(options, Mptcp::AddAddr(add_addr))
                }
                Notice::Add(add_addr) => add(options, Mptcp::AddAddr(self.agreed.sign(add_addr))),
            }
        } else {
            add_dss(options, &self.data_ack_and_end());
            let entry = &mut self.entries[i];
            if self.prios & 1 << i != 0 {
                self.prios &= !(1 << i);
                add(options, Mptcp::Prio(MpPrio { backup: entry.backup, address_id: None }));
            }
        }
        if self.owes(now, i) {
            self.entries[i].tcp.acknowledge();
        }
    }

    /// DATA_ACK, and the DATA_FIN that no data carries.
    fn data_ack_and_end(&mut self) -> Dss {
        let mut dss = self.data_ack();
        if let Some(end) = self.send.end_to_tell() {
            // Without data, the DATA_FIN is mapped to no byte of the subflow (RFC 8684 §3.3.3).
            let number = self.agreed.sending().number(end);
            dss.data_fin = true;
            dss.mapping = Some(Mapping {
                data_seq: self.agreed.sending().wire(end, self.agreed.long_numbers()),
                subflow_seq: 0,
                len: 1,
                checksum: self.agreed.has_checksums().then(|| dss_checksum(number, 0, 1, &[])),
            });
            self.send.end_told();
        }
        dss
    }

    /// Where an announced address is reached.
    pub(super) fn announced(&self, add_addr: &AddAddr) -> SocketAddr {
        SocketAddr::new(add_addr.address, add_addr.port.unwrap_or(self.remote.port()))
    }

    /// Plain TCP that was MPTCP: after MP_FAIL the rest of the stream is one mapping of unknown length (RFC 8684 §3.7).
    #[cold]
    #[inline(never)]
    fn fallen_back(&mut self, i: usize, emission: &Emission, options: &mut Options) {
        let entry = &mut self.entries[i];
        if let (Some(from), Some(piece)) = (entry.infinite_from, emission.piece)
            && emission.offset == from
        {
            let mapping = Mapping {
                data_seq: self.agreed.sending().wire(piece.data_offset, true),
                subflow_seq: from as u32,
                len: 0,
                checksum: self.agreed.has_checksums().then_some(0),
            };
            add_dss(options, &Dss { mapping: Some(mapping), ..Dss::default() });
        } else if let Some(data_seq) = entry.failed {
            // On all else, so that the peer hears of it before it sees what has no options and takes them for stripped.
            entry.tell_failed = false;
            add(options, Mptcp::Fail(MpFail { data_seq }));
        }
    }
}

// What finds no room is left out.

fn add(options: &mut Options, option: Mptcp) {
    let _ = options.push(&TcpOption::Mptcp(option));
}

#[inline(always)] // an option whose parts are known is soon written
fn add_dss(options: &mut Options, dss: &Dss) {
    let _ = options.push_dss(dss);
}
