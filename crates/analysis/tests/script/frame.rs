//! The frame that a line stands for.

use super::Host::{self, Client, Server};
use super::{Line, Script};
use std::net::{IpAddr, SocketAddr};
use wire::mptcp::{
    AddAddr, DataNumber, Dss, Mapping, MpCapable, MpFail, MpFastClose, MpJoin, MpPrio, MpTcpRst, Mptcp, RemoveAddr,
    crypto,
};
use wire::{Flags, Frame, Ip, L4, Payload, Tcp, TcpOption};

impl Script {
    /// The packet as bytes, read back.
    pub(super) fn frame(&self, line: &Line, path: u8, id: u16, seen_by: Host) -> Frame {
        let [client, server] = self.addresses(&line.path, path, seen_by);
        let (source, destination) = if line.from == Client { (client, server) } else { (server, client) };
        let initial = |host| self.initial(&line.path, path, host);
        let mut options = wire::Options::NONE;
        let mut push = |option: TcpOption| options.push(&option).expect("options fit");
        if line.flags.has(Flags::SYN) && !line.has("mss") {
            push(TcpOption::MaximumSegmentSize(1460));
        }
        for (name, arguments) in &line.options {
            self.option(line, path, name, arguments, &mut push);
        }
        let ack = if line.flags.has(Flags::ACK) { initial(line.from.other()).wrapping_add(line.ack as u32) } else { 0 };
        let frame = Frame {
            ip: Ip {
                source: source.ip(),
                destination: destination.ip(),
                ttl: line.number("ttl").unwrap_or(64) as u8,
                tos: line.number("tos").unwrap_or(0) as u8,
                id: if source.is_ipv4() { line.number("id").map_or(id, |id| id as u16) } else { 0 },
                dont_fragment: true,
                fragment: None,
            },
            l4: L4::Tcp(Tcp {
                source_port: source.port(),
                destination_port: destination.port(),
                seq: initial(line.from).wrapping_add(line.seq as u32),
                ack,
                flags: line.flags,
                window: line.window,
                urgent: 0,
                options,
            }),
            payload: Payload::unsaid(line.len),
        };
        let mut bytes = Vec::new();
        frame.emit(&[], &mut bytes).expect("a packet");
        let whole = bytes.len() as u32;
        let read = Frame::parse(&bytes, whole + line.len).expect("what was written");
        assert_eq!(read, frame, "read back as written");
        let Some((_, cut)) = line.options.iter().find(|(name, _)| name == "cut") else { return read };
        let headers = if source.is_ipv4() { 40 } else { 60 };
        let captured = &bytes[..headers + cut.parse::<usize>().expect("a number")];
        Frame::parse(captured, whole + line.len).expect("a cut packet")
    }

    fn option(&self, line: &Line, path: u8, name: &str, arguments: &str, push: &mut impl FnMut(TcpOption)) {
        let arguments: Vec<&str> = arguments.split([' ', ',']).filter(|argument| !argument.is_empty()).collect();
        let has = |argument: &str| arguments.contains(&argument);
        let number = |index: usize| -> u64 {
            let argument = arguments.get(index).unwrap_or_else(|| panic!("{name} lacks argument {index}"));
            argument.parse().unwrap_or_else(|_| panic!("{name}: {argument} is not a number"))
        };
        let key = |host: Host| self.keys[host as usize];
        let mut mptcp = |option: Mptcp| push(TcpOption::Mptcp(option));
        match name {
            "mss" => push(TcpOption::MaximumSegmentSize(number(0) as u16)),
            "ws" => push(TcpOption::WindowScale(number(0) as u8)),
            "ts" => push(TcpOption::Timestamps { value: number(0) as u32, echo: 0 }),
            "sack" => {
                let edge = |index| self.initial(&line.path, path, line.from.other()).wrapping_add(number(index) as u32);
                push(TcpOption::Sack(wire::SackBlocks::new(&[(edge(0), edge(1))])));
            }
            "win" | "copy" | "cut" | "ttl" | "id" | "tos" => {}
            "mp_capable" => {
                let syn = line.flags.has(Flags::SYN);
                let opens = syn && !line.flags.has(Flags::ACK);
                mptcp(Mptcp::Capable(MpCapable {
                    version: self.version,
                    flags: if has("checksum") { 0x81 } else { 0x01 },
                    sender_key: (!opens || self.version == 0).then(|| key(line.from)),
                    receiver_key: (!syn).then(|| key(line.from.other())),
                    data_len: (!syn && line.len > 0).then_some(line.len as u16),
                    checksum: None,
                }));
            }
            "join" => mptcp(Mptcp::Join(self.join(line, path, number(0) as u8, has))),
            "dss" | "dss4" => mptcp(Mptcp::Dss(self.dss(line, &arguments, name == "dss"))),
            "add_addr" => {
                let (address, port) = match arguments[1].parse::<SocketAddr>() {
                    Ok(both) => (both.ip(), Some(both.port())),
                    Err(_) => (arguments[1].parse().expect("an address"), None),
                };
                let (id, own, peer) = (number(0) as u8, key(line.from), key(line.from.other()));
                let hmac = crypto::add_addr_hmac(own, peer, id, address, port) ^ u64::from(has("wrong"));
                mptcp(Mptcp::AddAddr(AddAddr {
                    version: self.version,
                    echo: has("echo"),
                    address_id: id,
                    address,
                    port,
                    hmac: (self.version == 1 && !has("echo")).then_some(hmac),
                }));
            }
            "remove_addr" => {
                let ids: Vec<u8> = (0..arguments.len()).map(|index| number(index) as u8).collect();
                mptcp(Mptcp::RemoveAddr(RemoveAddr::new(&ids).expect("identifiers")));
            }
            "prio" => mptcp(Mptcp::Prio(MpPrio { backup: has("backup"), address_id: None })),
            "fail" => {
                mptcp(Mptcp::Fail(MpFail { data_seq: self.data_base(line.from.other()).wrapping_add(number(0)) }))
            }
            "fastclose" => mptcp(Mptcp::FastClose(MpFastClose { receiver_key: key(line.from.other()) })),
            "tcprst" => mptcp(Mptcp::TcpRst(MpTcpRst { flags: 0, reason: number(0) as u8 })),
            _ => panic!("no option {name}"),
        }
    }

    /// MP_JOIN (RFC 8684 §3.2).
    fn join(&self, line: &Line, path: u8, address_id: u8, has: impl Fn(&str) -> bool) -> MpJoin {
        let (backup, wrong, anew) = (has("backup"), has("wrong"), 5 * u32::from(has("anew")));
        let nonce = |host: Host| {
            77_000
                + 100 * u32::from(self.number)
                + 10 * u32::from(path)
                + host as u32
                + if host == line.from { anew } else { 0 }
        };
        let party = |host: Host| crypto::Party { key: self.keys[host as usize], nonce: nonce(host) };
        let (sender, receiver) = (party(line.from), party(line.from.other()));
        match (line.flags.has(Flags::SYN), line.flags.has(Flags::ACK)) {
            (true, false) => {
                let token = self.token(line.from.other());
                MpJoin::Syn { backup, address_id, token, nonce: nonce(line.from) }
            }
            (true, true) => {
                let hmac = crypto::join_syn_ack_hmac(self.version, sender, receiver) ^ u64::from(wrong);
                MpJoin::SynAck { backup, address_id, hmac, nonce: nonce(line.from) }
            }
            _ => {
                let mut hmac = crypto::join_ack_hmac(self.version, sender, receiver);
                hmac[0] ^= u8::from(wrong);
                MpJoin::Ack { hmac }
            }
        }
    }

    fn dss(&self, line: &Line, arguments: &[&str], long: bool) -> Dss {
        let number = |host: Host, relative: &str| {
            let relative: u64 = relative.parse().unwrap_or_else(|_| panic!("{relative} is not a number"));
            let number = self.data_base(host).wrapping_add(relative);
            if long { DataNumber::Long(number) } else { DataNumber::Short(number as u32) }
        };
        let mut dss = Dss::default();
        let mut arguments = arguments.iter().copied();
        while let Some(argument) = arguments.next() {
            let mut next = || arguments.next().expect("another argument");
            match argument {
                "ack" => dss.data_ack = Some(number(line.from.other(), next())),
                "fin" => {
                    dss.data_fin = true;
                    match &mut dss.mapping {
                        Some(mapping) => mapping.len += 1,
                        // RFC 8684 §3.3.3: alone, it has subflow sequence number 0 and length 1.
                        None => {
                            let data_seq = number(line.from, next());
                            dss.mapping = Some(Mapping { data_seq, subflow_seq: 0, len: 1, checksum: None });
                        }
                    }
                }
                data_seq => {
                    let data_seq = number(line.from, data_seq);
                    let (subflow_seq, len) = (next().parse().expect("a number"), next().parse().expect("a number"));
                    dss.mapping = Some(Mapping { data_seq, subflow_seq, len, checksum: None });
                }
            }
        }
        dss
    }
}
