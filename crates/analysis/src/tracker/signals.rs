//! What MPTCP options other than DSS do to a connection, and how they show in the table `events`.

use super::connection::Connection;
use super::packet::Packet;
use crate::event::Happening;
use wire::Flags;
use wire::mptcp::{AddAddr, MpCapable, MpJoin, Mptcp, crypto};

impl Connection {
    /// MP_CAPABLE tells the keys (RFC 8684 §3.1).
    pub(super) fn capable(&mut self, packet: &Packet, capable: &MpCapable) {
        let flags = packet.tcp.flags;
        if self.version.is_none() {
            return;
        }
        if flags.has(Flags::ACK) {
            self.version = Some(capable.version);
            // RFC 8684 §3.1: checksums are used if either side asks for them.
            self.checksums = Some(self.checksums.unwrap_or(false) || capable.flags & 0x80 != 0);
        }
        if let Some(key) = capable.sender_key {
            self.learn_key(packet.direction, key);
        }
        if let Some(key) = capable.receiver_key {
            self.learn_key(packet.direction.reverse(), key);
        }
    }

    pub(super) fn signal(&mut self, packet: &Packet, option: &Mptcp) {
        match option {
            Mptcp::Join(join) => self.join(packet, join),
            Mptcp::AddAddr(add) => self.add_addr(packet, add),
            Mptcp::RemoveAddr(remove) => {
                for &id in remove.ids() {
                    self.happened(packet, Happening { address_id: Some(id), ..Happening::new("remove_addr") });
                }
            }
            Mptcp::Prio(prio) => {
                if prio.address_id.is_none() {
                    self.subflows[packet.subflow].backup = prio.backup;
                }
                let detail = Some(if prio.backup { "backup" } else { "regular" });
                self.happened(packet, Happening { detail, address_id: prio.address_id, ..Happening::new("prio") });
            }
            Mptcp::Fail(_) => {
                self.happened(packet, Happening { detail: Some("DSS checksum failed"), ..Happening::new("fail") });
            }
            Mptcp::FastClose(_) => {
                if !self.fast_closed {
                    self.happened(packet, Happening::new("fastclose"));
                }
                self.fast_closed = true;
                self.over_at.get_or_insert(packet.seen.at);
                self.fast_closed_by.get_or_insert(packet.direction);
                self.may_close = true;
            }
            Mptcp::Other { .. } => self.happened(packet, Happening::new("experimental")),
            Mptcp::Capable(_) | Mptcp::Dss(_) | Mptcp::TcpRst(_) => {}
        }
    }

    /// MP_JOIN carries random numbers and proves knowledge of the keys (RFC 8684 §3.2).
    fn join(&mut self, packet: &Packet, join: &MpJoin) {
        let (version, keys) = (self.version.unwrap_or(1), self.keys);
        let (by, to) = (packet.direction as usize, packet.direction.reverse() as usize);
        match join {
            MpJoin::Syn { .. } => {}
            MpJoin::SynAck { .. } => self.view(packet).handshake.joins = true,
            MpJoin::Ack { .. } => self.view(packet).handshake.proves = true,
        }
        let subflow = &mut self.subflows[packet.subflow];
        if let MpJoin::Syn { backup, address_id, nonce, .. } | MpJoin::SynAck { backup, address_id, nonce, .. } = *join
        {
            subflow.backup |= backup;
            subflow.address_ids[by] = Some(address_id);
            if !subflow.nonces[by].contains(&nonce) {
                subflow.nonces[by].push(nonce);
            }
        }
        let fits = |sender, receiver| match join {
            MpJoin::Syn { .. } => false,
            MpJoin::SynAck { hmac, .. } => *hmac == crypto::join_syn_ack_hmac(version, sender, receiver),
            MpJoin::Ack { hmac } => *hmac == crypto::join_ack_hmac(version, sender, receiver),
        };
        let parties = |side: usize| {
            let party = move |nonce: &u32| Some(crypto::Party { key: keys[side]?, nonce: *nonce });
            subflow.nonces[side].iter().filter_map(party)
        };
        let mut fitting = parties(by).flat_map(|sender| parties(to).map(move |receiver| (sender, receiver))).peekable();
        if matches!(join, MpJoin::Syn { .. }) || fitting.peek().is_none() {
            return;
        }
        let valid = fitting.any(|(sender, receiver)| fits(sender, receiver));
        subflow.hmac_valid = Some(subflow.hmac_valid.unwrap_or(true) && valid);
    }

    fn add_addr(&mut self, packet: &Packet, add: &AddAddr) {
        let (by, to) = (packet.direction as usize, packet.direction.reverse() as usize);
        let detail = add.hmac.zip(self.keys[by].zip(self.keys[to])).map(|(hmac, (sender, receiver))| {
            let of = |hmac: fn(u64, u64, u8, std::net::IpAddr, Option<u16>) -> u64| {
                hmac(sender, receiver, add.address_id, add.address, add.port)
            };
            match hmac {
                hmac if hmac == of(crypto::add_addr_hmac) => "HMAC valid",
                hmac if hmac == of(crypto::add_addr_hmac_leftmost) => "HMAC valid as Linux before 5.7 computed it",
                _ => "HMAC wrong",
            }
        });
        let event = if add.echo { "add_addr_echo" } else { "add_addr" };
        let happening = Happening {
            detail,
            address_id: Some(add.address_id),
            address: Some(add.address),
            port: add.port,
            ..Happening::new(event)
        };
        self.happened(packet, happening);
    }
}
