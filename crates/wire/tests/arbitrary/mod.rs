//! Whatever can be written.

#![allow(dead_code, reason = "each test uses a part")]

use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use std::net::IpAddr;
use wire::mptcp::{
    AddAddr, DataNumber, Dss, Mapping, MpCapable, MpFail, MpFastClose, MpJoin, MpPrio, MpTcpRst, Mptcp, RemoveAddr,
};
use wire::{Flags, Fragment, Frame, Ip, L4, Options, Payload, SackBlocks, Tcp, TcpOption};

fn capable() -> impl Strategy<Value = MpCapable> {
    (0..16_u8, any::<u8>(), any::<(u64, u64, u16, u16)>(), 0..5).prop_map(|(version, flags, values, form)| MpCapable {
        version,
        flags,
        sender_key: (form >= 1).then_some(values.0),
        receiver_key: (form >= 2).then_some(values.1),
        data_len: (form >= 3).then_some(values.2),
        checksum: (form >= 4).then_some(values.3),
    })
}

fn join() -> impl Strategy<Value = MpJoin> {
    prop_oneof![
        any::<(bool, u8, u32, u32)>().prop_map(|(backup, address_id, token, nonce)| MpJoin::Syn {
            backup,
            address_id,
            token,
            nonce
        }),
        any::<(bool, u8, u64, u32)>().prop_map(|(backup, address_id, hmac, nonce)| MpJoin::SynAck {
            backup,
            address_id,
            hmac,
            nonce
        }),
        any::<[u8; 20]>().prop_map(|hmac| MpJoin::Ack { hmac }),
    ]
}

fn number() -> impl Strategy<Value = DataNumber> {
    prop_oneof![any::<u64>().prop_map(DataNumber::Long), any::<u32>().prop_map(DataNumber::Short)]
}

pub fn dss() -> impl Strategy<Value = Dss> {
    let mapping = (number(), any::<u32>(), any::<u16>(), any::<Option<u16>>())
        .prop_map(|(data_seq, subflow_seq, len, checksum)| Mapping { data_seq, subflow_seq, len, checksum });
    (of(number()), of(mapping), any::<bool>()).prop_map(|(data_ack, mapping, data_fin)| Dss {
        data_ack,
        mapping,
        data_fin,
    })
}

fn add_addr() -> impl Strategy<Value = AddAddr> {
    any::<(bool, bool, u8, IpAddr, Option<u16>, Option<u64>)>().prop_map(
        |(old, echo, address_id, address, port, hmac)| AddAddr {
            version: if old { 0 } else { 1 },
            echo: echo && !old,
            address_id,
            address,
            port,
            hmac,
        },
    )
}

/// Options without borrowed bytes.
pub fn option() -> impl Strategy<Value = TcpOption<'static>> {
    let mptcp = prop_oneof![
        capable().prop_map(Mptcp::Capable),
        join().prop_map(Mptcp::Join),
        dss().prop_map(Mptcp::Dss),
        add_addr().prop_map(Mptcp::AddAddr),
        vec(any::<u8>(), 1..=37).prop_map(|ids| Mptcp::RemoveAddr(RemoveAddr::new(&ids).unwrap())),
        any::<(bool, Option<u8>)>().prop_map(|(backup, address_id)| Mptcp::Prio(MpPrio { backup, address_id })),
        any::<u64>().prop_map(|data_seq| Mptcp::Fail(MpFail { data_seq })),
        any::<u64>().prop_map(|receiver_key| Mptcp::FastClose(MpFastClose { receiver_key })),
        (0..16_u8, any::<u8>()).prop_map(|(flags, reason)| Mptcp::TcpRst(MpTcpRst { flags, reason })),
    ];
    prop_oneof![
        4 => mptcp.prop_map(TcpOption::Mptcp),
        1 => any::<u16>().prop_map(TcpOption::MaximumSegmentSize),
        1 => any::<u8>().prop_map(TcpOption::WindowScale),
        1 => Just(TcpOption::SackPermitted),
        1 => vec(any::<(u32, u32)>(), 1..=4).prop_map(|blocks| TcpOption::Sack(SackBlocks::new(&blocks))),
        1 => any::<(u32, u32)>().prop_map(|(value, echo)| TcpOption::Timestamps { value, echo }),
    ]
}

/// As many of some options as fit.
pub fn options() -> impl Strategy<Value = Options> {
    vec(option(), 0..5).prop_map(|list| {
        let mut options = Options::NONE;
        for option in list {
            let _ = options.push(&option);
        }
        options
    })
}

fn tcp() -> impl Strategy<Value = L4> {
    (any::<(u16, u16, u32, u32, u8, u16, u16)>(), options()).prop_map(|(fields, options)| {
        let (source_port, destination_port, seq, ack, flags, window, urgent) = fields;
        L4::Tcp(Tcp { source_port, destination_port, seq, ack, flags: Flags(flags), window, urgent, options })
    })
}

fn ip() -> impl Strategy<Value = Ip> {
    let addresses = prop_oneof![
        any::<[std::net::Ipv4Addr; 2]>().prop_map(|pair| pair.map(IpAddr::from)),
        any::<[std::net::Ipv6Addr; 2]>().prop_map(|pair| pair.map(IpAddr::from)),
    ];
    let fragment = of((0..8192_u16, any::<bool>())).prop_map(|piece| {
        piece.filter(|&(eights, more)| eights > 0 || more).map(|(eights, more)| Fragment { offset: eights * 8, more })
    });
    (addresses, any::<(u8, u8, u16, bool)>(), fragment).prop_map(|([source, destination], fields, fragment)| {
        let (ttl, tos, id, dont_fragment) = fields;
        let (id, dont_fragment) = if source.is_ipv4() { (id, dont_fragment) } else { (0, true) };
        Ip { source, destination, ttl, tos, id, dont_fragment, fragment }
    })
}

/// Frames that can be written, and their payloads.
pub fn frame() -> impl Strategy<Value = (Frame, Vec<u8>)> {
    let others = prop_oneof![
        Just(L4::Other(47)),
        Just(L4::Other(6)),
        any::<(u16, u16)>().prop_map(|(source_port, destination_port)| L4::udp(source_port, destination_port)),
        any::<(u8, u8, [u8; 4])>().prop_map(|(kind, code, rest)| L4::Icmp { kind, code, rest }),
    ];
    (ip(), tcp(), others, vec(any::<u8>(), 0..2000)).prop_map(|(ip, tcp, other, payload)| {
        let header_is_here = ip.fragment.is_none_or(|piece| piece.offset == 0);
        let l4 = match other {
            L4::Other(6) if header_is_here => tcp,
            L4::Udp { .. } | L4::Icmp { .. } if ip.fragment.is_some() => L4::Other(17),
            other => other,
        };
        (Frame { ip, l4, payload: Payload::unsaid(payload.len() as u32) }, payload)
    })
}
