//! What the endpoint sent, in a script's words.

use super::{Flow, MS, NAMED, PEER_ISN, PEER_KEY, Player};
use std::net::SocketAddr;
use wire::mptcp::crypto::{Party, add_addr_hmac, initial_data_seq, join_ack_hmac, join_syn_ack_hmac, token};
use wire::mptcp::{
    AddAddr, DataNumber, Dss, Mapping, MpFail, MpFastClose, MpJoin, MpPrio, MpTcpRst, Mptcp, dss_checksum_of_pattern,
};
use wire::{Content, Ecn, Flags, L4, Packet, TcpOption};

impl Player {
    pub(super) fn describe(&mut self, packet: &Packet, window: bool) -> String {
        let L4::Tcp(tcp) = &packet.frame.l4 else { panic!("{packet:?}") };
        let (ip, len) = (packet.frame.ip, packet.frame.payload.len);
        let local = SocketAddr::new(ip.source, tcp.source_port);
        let remote = SocketAddr::new(ip.destination, tcp.destination_port);
        let label = self.label(local.ip(), remote.ip());
        if tcp.flags.has(Flags::SYN) {
            let flow = Flow { local, remote, isn: tcp.seq, nonce: 0, mapped: None };
            if self.flows.get(&label).is_none_or(|known| (known.local, known.isn) != (local, tcp.seq)) {
                self.flows.insert(label.clone(), flow);
            }
        }
        let flow = self.flows[&label];
        assert_eq!((flow.local, flow.remote), (local, remote), "not the last subflow of its path");
        let flags: String = NAMED.iter().filter(|(flag, _)| tcp.flags.has(*flag)).map(|(_, name)| name).collect();
        let seq = tcp.seq.wrapping_sub(flow.isn) as i32;
        let at = (self.now - self.start) as f64 / MS as f64;
        let mut words = vec![format!("{at} > {label} {flags} {seq}:{}", seq + len as i32)];
        if tcp.flags.has(Flags::ACK) {
            words.push(format!("ack {}", tcp.ack.wrapping_sub(PEER_ISN) as i32));
        }
        for option in &tcp.options {
            if let Ok(TcpOption::Mptcp(option)) = option {
                words.push(self.show(&label, tcp.flags, packet, &option));
            }
        }
        if ip.ecn() == Ecn::Capable0 {
            words.push("ip(ect0)".into());
        }
        if window {
            words.push(format!("win({})", tcp.window));
        }
        words.join(" ")
    }

    fn show(&mut self, label: &str, flags: Flags, packet: &Packet, option: &Mptcp) -> String {
        let (own, peer) = self.parties(label);
        match *option {
            Mptcp::Capable(capable) => {
                self.key = capable.sender_key.unwrap_or(self.key);
                assert!(capable.sender_key.is_none_or(|key| key == self.key));
                assert!(capable.receiver_key.is_none_or(|key| key == PEER_KEY));
                assert_eq!((capable.version, capable.flags & 0x7f), (1, 1));
                let len = packet.frame.payload.len;
                assert_eq!(capable.data_len.unwrap_or(0), len as u16);
                if let Some(checksum) = capable.checksum {
                    let first = initial_data_seq(1, self.key).wrapping_add(1);
                    assert_eq!(checksum, dss_checksum_of_pattern(first, 1, len as u16, 0, len));
                }
                if capable.flags & 0x80 != 0 { "capable(checksum)".into() } else { "capable".into() }
            }
            Mptcp::Join(join) => match join {
                MpJoin::Syn { backup, address_id, token: named, nonce } => {
                    assert_eq!(named, token(1, PEER_KEY));
                    self.flows.get_mut(label).unwrap().nonce = nonce;
                    format!("join({address_id}{})", if backup { " backup" } else { "" })
                }
                MpJoin::SynAck { backup, address_id, hmac, nonce } => {
                    self.flows.get_mut(label).unwrap().nonce = nonce;
                    assert_eq!(hmac, join_syn_ack_hmac(1, Party { nonce, ..own }, peer));
                    format!("join({address_id}{})", if backup { " backup" } else { "" })
                }
                MpJoin::Ack { hmac } => {
                    assert_eq!(hmac, join_ack_hmac(1, own, peer));
                    "join".into()
                }
            },
            Mptcp::Dss(dss) => self.show_dss(packet, &dss),
            Mptcp::AddAddr(AddAddr { echo, address_id, address, port, hmac, .. }) => {
                let shown = port.map_or(address.to_string(), |port| SocketAddr::new(address, port).to_string());
                if echo {
                    assert_eq!(hmac, None);
                    return format!("add_addr({address_id} {shown} echo)");
                }
                assert_eq!(hmac, Some(add_addr_hmac(self.key, PEER_KEY, address_id, address, port)));
                format!("add_addr({address_id} {shown})")
            }
            Mptcp::RemoveAddr(remove) => {
                let ids: Vec<_> = remove.ids().iter().map(u8::to_string).collect();
                format!("remove_addr({})", ids.join(" "))
            }
            Mptcp::Prio(MpPrio { backup, .. }) => if backup { "prio(backup)" } else { "prio(regular)" }.into(),
            Mptcp::Fail(MpFail { data_seq }) => format!("fail({})", self.relative(false, DataNumber::Long(data_seq))),
            Mptcp::FastClose(MpFastClose { receiver_key }) => {
                assert_eq!(receiver_key, PEER_KEY);
                "fastclose".into()
            }
            Mptcp::TcpRst(MpTcpRst { reason, .. }) => {
                assert!(flags.has(Flags::RST));
                format!("tcprst({reason})")
            }
            Mptcp::Other { .. } => panic!("{option:?}"),
        }
    }

    fn show_dss(&self, packet: &Packet, dss: &Dss) -> String {
        let len = packet.frame.payload.len;
        let mut parts = Vec::new();
        let mut sum = false;
        if let Some(Mapping { data_seq, subflow_seq, len: mapped, checksum }) = dss.mapping {
            let at = self.relative(true, data_seq);
            parts.push(match (mapped, dss.data_fin) {
                (0, _) => format!("{at} {subflow_seq} infinite"),
                (1, true) if len == 0 && subflow_seq == 0 => format!("fin {at}"),
                (_, true) => format!("{at} {subflow_seq} {} fin", mapped - 1),
                _ => format!("{at} {subflow_seq} {mapped}"),
            });
            if let Some(checksum) = checksum.filter(|_| mapped > 0) {
                sum = true;
                let bytes = u32::from(mapped) - u32::from(dss.data_fin);
                let number = initial_data_seq(1, self.key).wrapping_add(at as u64);
                let expected = dss_checksum_of_pattern(number, subflow_seq, mapped, (at - 1) as u64, bytes);
                assert_eq!(checksum, expected, "DSS checksum");
            }
            if len > 0 {
                assert_eq!(packet.frame.payload.content, Content::Pattern((at - 1) as u64));
            }
        } else if dss.data_fin {
            parts.push("fin without number".into());
        }
        if let Some(ack) = dss.data_ack {
            parts.push(format!("ack {}", self.relative(false, ack)));
        }
        if sum {
            parts.push("sum".into());
        }
        let is_short = |number: DataNumber| matches!(number, DataNumber::Short(_));
        let mapped = dss.mapping.map(|mapping| is_short(mapping.data_seq));
        let name = match (mapped, dss.data_ack.map(is_short)) {
            // A DATA_ACK beside long numbers is short until one came (RFC 8684 §3.3.2).
            (mapped, Some(short)) if self.long && mapped != Some(true) && short == self.long_came => {
                "dss of the wrong length"
            }
            (None, Some(_)) if self.long => "dss",
            (Some(true), _) | (None, Some(true)) => "dss4",
            _ => "dss",
        };
        format!("{name}({})", parts.join(", "))
    }
}
