//! A segment of the peer, from a script's words.

use super::{Flow, MSS, NAMED, PEER_ISN, PEER_KEY, PEER_NONCE, PORT, Player, blank};
use std::net::{IpAddr, SocketAddr};
use transport::Nic;
use wire::mptcp::crypto::{add_addr_hmac, initial_data_seq, join_ack_hmac, join_syn_ack_hmac, token};
use wire::mptcp::{
    AddAddr, DataNumber, Dss, Mapping, MpCapable, MpFail, MpFastClose, MpJoin, MpPrio, MpTcpRst, Mptcp, RemoveAddr,
    dss_checksum_of_pattern,
};
use wire::{Content, Ecn, Flags, Frame, Ip, L4, Options, Packet, Payload, Tcp, TcpOption, pattern};

impl Player {
    pub(super) fn segment(&mut self, words: &[&str]) -> (Nic, Packet) {
        let (label, flag_letters) = (words[0], words[1]);
        let (path, client, server) = self.addresses(label);
        let mut flags = Flags(0);
        for flag in flag_letters.chars() {
            let (flag, _) = NAMED
                .iter()
                .chain(&[(Flags::PSH, 'P')])
                .find(|(_, name)| *name == flag)
                .unwrap_or_else(|| panic!("what is {flag}?"));
            flags = flags.with(*flag);
        }
        if flags.has(Flags::SYN) && !flags.has(Flags::ACK) && !self.client {
            let known = self.flows.get(label).is_some_and(|flow| flow.isn == 0);
            if !known {
                self.ports += 1;
                let (local, remote) = (SocketAddr::new(server, PORT), SocketAddr::new(client, self.ports));
                self.flows.insert(label.into(), Flow { local, remote, isn: 0, nonce: 0, mapped: None });
            }
        }
        let flow = self.flows[label];
        let (first, after) = words[2].split_once(':').unwrap();
        let (first, after): (i64, i64) = (first.parse().unwrap(), after.parse().unwrap());
        let len = (after - first) as u32;
        let mut tcp = Tcp {
            source_port: flow.remote.port(),
            destination_port: flow.local.port(),
            seq: PEER_ISN.wrapping_add(first as u32),
            ack: 0,
            flags,
            window: 60_000,
            urgent: 0,
            options: Options::NONE,
        };
        if flags.has(Flags::SYN) {
            tcp.options.push(&TcpOption::MaximumSegmentSize(MSS)).unwrap();
            tcp.options.push(&TcpOption::SackPermitted).unwrap();
        }
        let mut data_offset = flow
            .mapped
            .map(|(offset, data_offset)| data_offset.wrapping_add(first as u64).wrapping_sub(u64::from(offset)));
        let (mut bad, mut ecn) = (false, Ecn::NotCapable);
        let mut rest = words[3..].iter();
        while let Some(&word) = rest.next() {
            if word == "ack" {
                tcp.ack = flow.isn.wrapping_add(rest.next().unwrap().parse::<i64>().unwrap() as u32);
                continue;
            }
            let (name, inner) =
                word.split_once('(').map_or((word, ""), |(name, inner)| (name, &inner[..inner.len() - 1]));
            let option = match name {
                "win" => {
                    tcp.window = inner.parse().unwrap();
                    continue;
                }
                "scale" => {
                    tcp.options.push(&TcpOption::WindowScale(inner.parse().unwrap())).unwrap();
                    continue;
                }
                "ip" => {
                    ecn = if inner == "ce" { Ecn::CongestionExperienced } else { Ecn::Capable0 };
                    continue;
                }
                "bad" => {
                    bad = true;
                    continue;
                }
                "capable" => {
                    if len > 0 {
                        (data_offset, self.long_came) = (Some(0), true);
                    }
                    Mptcp::Capable(self.capable(inner, flags, len))
                }
                "join" => Mptcp::Join(self.join(label, inner, flags)),
                "dss" | "dss4" => {
                    let (dss, mapped) = self.dss(inner, name == "dss");
                    if let Some((offset, at)) = mapped {
                        self.flows.get_mut(label).unwrap().mapped = mapped;
                        self.long_came |= name == "dss" && len > 0;
                        data_offset = Some(at.wrapping_add(first as u64).wrapping_sub(u64::from(offset)));
                    }
                    Mptcp::Dss(dss)
                }
                "add_addr" => Mptcp::AddAddr(self.add_addr(inner)),
                "remove_addr" => {
                    let ids: Vec<u8> = inner.split(' ').map(|id| id.parse().unwrap()).collect();
                    Mptcp::RemoveAddr(RemoveAddr::new(&ids).unwrap())
                }
                "prio" => Mptcp::Prio(MpPrio { backup: inner == "backup", address_id: None }),
                "fail" => {
                    let data_seq = initial_data_seq(1, self.key).wrapping_add(inner.parse().unwrap());
                    Mptcp::Fail(MpFail { data_seq })
                }
                "fastclose" => {
                    let receiver_key = if inner == "wrong" { !self.key } else { self.key };
                    Mptcp::FastClose(MpFastClose { receiver_key })
                }
                "tcprst" => Mptcp::TcpRst(MpTcpRst { flags: 0, reason: inner.parse().unwrap() }),
                _ => panic!("what is {word}?"),
            };
            tcp.options.push(&TcpOption::Mptcp(option)).unwrap();
        }
        let mut ip = Ip { source: flow.remote.ip(), destination: flow.local.ip(), ..blank(self.v6).frame.ip };
        ip.set_ecn(ecn);
        let data_offset = data_offset.unwrap_or((first - 1).max(0) as u64);
        let (content, body) = match (len, bad) {
            (0, _) => (Content::Unsaid, None),
            (_, false) => (Content::Pattern(data_offset), None),
            (_, true) => {
                let mut bytes = vec![0; len as usize];
                pattern::fill(data_offset, &mut bytes);
                bytes[0] ^= 0x55;
                (Content::Unsaid, Some(bytes.into()))
            }
        };
        let nic = Nic(if self.client { path } else { 0 });
        (nic, Packet { frame: Frame { ip, l4: L4::Tcp(tcp), payload: Payload { len, content } }, body })
    }

    fn capable(&self, inner: &str, flags: Flags, len: u32) -> MpCapable {
        let bits = if inner == "no H" { 0 } else { 1 };
        let bits = bits | if inner == "checksum" { 0x80 } else { 0 } | if inner == "B" { 0x40 } else { 0 };
        let bits = bits | if inner == "C" { 0x20 } else { 0 };
        let (syn, ack) = (flags.has(Flags::SYN), flags.has(Flags::ACK));
        let checksum = (len > 0 && inner == "checksum")
            .then(|| dss_checksum_of_pattern(initial_data_seq(1, PEER_KEY).wrapping_add(1), 1, len as u16, 0, len));
        MpCapable {
            version: if inner == "v0" { 0 } else { 1 },
            flags: bits,
            sender_key: (ack || inner == "v0").then_some(PEER_KEY),
            receiver_key: (!syn).then_some(if inner == "wrong" { !self.key } else { self.key }),
            data_len: (len > 0).then_some(len as u16),
            checksum,
        }
    }

    fn join(&self, label: &str, inner: &str, flags: Flags) -> MpJoin {
        let (own, peer) = self.parties(label);
        let words: Vec<_> = inner.split(' ').collect();
        let (backup, wrong) = (words.contains(&"backup"), words.contains(&"wrong"));
        let address_id = words[0].parse().unwrap_or(0);
        match (flags.has(Flags::SYN), flags.has(Flags::ACK)) {
            (true, false) => {
                let token = token(1, self.key) ^ u32::from(wrong);
                MpJoin::Syn { backup, address_id, token, nonce: PEER_NONCE }
            }
            (true, true) => {
                let hmac = join_syn_ack_hmac(1, peer, own) ^ u64::from(wrong);
                MpJoin::SynAck { backup, address_id, hmac, nonce: PEER_NONCE }
            }
            _ => {
                let mut hmac = join_ack_hmac(1, peer, own);
                hmac[0] ^= u8::from(wrong);
                MpJoin::Ack { hmac }
            }
        }
    }

    /// A DSS, and what its mapping says: offset and place.
    fn dss(&self, inner: &str, long: bool) -> (Dss, Option<(u32, u64)>) {
        let number = |key, at: i64| {
            let number = initial_data_seq(1, key).wrapping_add(at as u64);
            if long { DataNumber::Long(number) } else { DataNumber::Short(number as u32) }
        };
        let (mut dss, mut mapped) = (Dss::default(), None);
        for part in inner.split(", ") {
            let words: Vec<_> = part.split(' ').collect();
            let value = |n: usize| words[n].parse::<i64>().unwrap_or_else(|_| panic!("dss({inner})"));
            match words[0] {
                "ack" => dss.data_ack = Some(number(self.key, value(1))),
                "sum" => {
                    let mapping = dss.mapping.as_mut().unwrap();
                    let at = self.relative(false, mapping.data_seq);
                    let full = initial_data_seq(1, PEER_KEY).wrapping_add(at as u64);
                    let bytes = u32::from(mapping.len) - u32::from(dss.data_fin && mapping.len > 0);
                    let (seq, len) = (mapping.subflow_seq, mapping.len);
                    let sum = dss_checksum_of_pattern(full, seq, len, (at - 1) as u64, bytes);
                    mapping.checksum = Some(if len == 0 { 0 } else { sum });
                }
                "fin" => {
                    dss.data_fin = true;
                    let data_seq = number(PEER_KEY, value(1));
                    dss.mapping = Some(Mapping { data_seq, subflow_seq: 0, len: 1, checksum: None });
                }
                _ => {
                    let infinite = words[2] == "infinite";
                    dss.data_fin = words.get(3) == Some(&"fin");
                    let len = if infinite { 0 } else { value(2) as u16 + u16::from(dss.data_fin) };
                    let subflow_seq = value(1) as u32;
                    dss.mapping =
                        Some(Mapping { data_seq: number(PEER_KEY, value(0)), subflow_seq, len, checksum: None });
                    mapped = Some((subflow_seq, (value(0) - 1) as u64));
                }
            }
        }
        (dss, mapped)
    }

    fn add_addr(&self, inner: &str) -> AddAddr {
        let words: Vec<_> = inner.split(' ').collect();
        let address_id = words[0].parse().unwrap();
        let (address, port) = match words[1].parse::<IpAddr>() {
            Ok(address) => (address, None),
            Err(_) => words[1].parse::<SocketAddr>().map(|at| (at.ip(), Some(at.port()))).unwrap(),
        };
        let echo = words.contains(&"echo");
        let hmac = add_addr_hmac(PEER_KEY, self.key, address_id, address, port) ^ u64::from(words.contains(&"wrong"));
        AddAddr { version: 1, echo, address_id, address, port, hmac: (!echo).then_some(hmac) }
    }
}
