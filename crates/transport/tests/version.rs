//! Version 0 of MPTCP (RFC 6824) on the wire.

#[expect(dead_code, reason = "this test uses a part")]
mod pair;

use pair::{End, Pair, tcp};
use std::net::SocketAddr;
use transport::{Config, Endpoint, Nic, Outcome};
use wire::mptcp::crypto::{Party, initial_data_seq, join_ack_hmac, join_syn_ack_hmac, token};
use wire::mptcp::{DataNumber, Dss, Mapping, MpCapable, MpJoin, Mptcp};
use wire::{Content, Flags, L4, Options, Packet, Payload, TcpOption, Time};

fn speaking(version: u8) -> Config {
    let mut config = pair::meshed();
    config.mptcp.version = version;
    config
}

/// A transfer both ways over two paths to a server with two addresses.
fn transfer(client: u8, server: u8) -> Pair {
    let mut pair = Pair::with(speaking(client), speaking(server), &[10, 25], false, 2);
    pair.to_write = [50_000, 500_000];
    pair.run(60_000);
    for (seen, read) in pair.seen.iter().zip([500_000, 50_000]) {
        assert_eq!((seen.read, seen.corrupt, seen.outcome), (read, 0, Some(Outcome::Complete)));
    }
    pair
}

fn options(pair: &Pair) -> Vec<(End, Mptcp<'_>)> {
    let each = pair.log.iter().flat_map(|(_, end, _, packet)| {
        let options = tcp(packet).options.iter().flatten();
        options.filter_map(|option| if let TcpOption::Mptcp(option) = option { Some((*end, option)) } else { None })
    });
    each.collect()
}

/// RFC 6824 §3.1 and §3.2: the keys in SYN and SYN/ACK, both in the third packet; SHA-1 for all that follows from them.
#[test]
fn version_0_tells_keys_in_the_syn() {
    let pair = transfer(0, 0);
    let said = options(&pair);
    let capable: Vec<_> = said
        .iter()
        .filter_map(|(end, option)| if let Mptcp::Capable(c) = option { Some((*end, *c)) } else { None })
        .collect();
    let [(End::Client, syn), (End::Server, answer), (End::Client, third), ..] = capable[..] else {
        panic!("{capable:?}")
    };
    assert!(capable.iter().all(|(_, capable)| capable.version == 0 && capable.data_len.is_none()), "{capable:?}");
    let (client_key, server_key) = (syn.sender_key.unwrap(), answer.sender_key.unwrap());
    assert_eq!((syn.receiver_key, answer.receiver_key), (None, None));
    let both = MpCapable { sender_key: Some(client_key), receiver_key: Some(server_key), ..syn };
    assert_eq!(third, both);

    let first = said.iter().find_map(|(end, option)| match option {
        Mptcp::Dss(Dss { mapping: Some(Mapping { data_seq: DataNumber::Long(number), .. }), .. })
            if *end == End::Client =>
        {
            Some(*number)
        }
        _ => None,
    });
    assert_eq!(first, Some(initial_data_seq(0, client_key).wrapping_add(1)), "IDSN by SHA-1");

    let joins: Vec<_> = said
        .iter()
        .filter_map(|(end, option)| if let Mptcp::Join(join) = option { Some((*end, *join)) } else { None })
        .collect();
    let [(_, MpJoin::Syn { token: named, nonce: a, .. }), ..] = joins[..] else { panic!("{joins:?}") };
    assert_eq!(named, token(0, server_key));
    let client = Party { key: client_key, nonce: a };
    let server = joins.iter().find_map(|(_, join)| match *join {
        MpJoin::SynAck { nonce, hmac, .. } => {
            let server = Party { key: server_key, nonce };
            (hmac == join_syn_ack_hmac(0, server, client)).then_some(server)
        }
        _ => None,
    });
    let hmac = join_ack_hmac(0, client, server.expect("an answer with the HMAC by SHA-1"));
    assert!(joins.iter().any(|(_, join)| *join == MpJoin::Ack { hmac }));
}

/// RFC 6824 §3.4.1: ADD_ADDR has neither HMAC nor echo. MP_TCPRST is of version 1.
#[test]
fn version_0_announces_without_echo() {
    let pair = transfer(0, 0);
    let said = options(&pair);
    let announced: Vec<_> = said
        .iter()
        .filter_map(|(_, option)| if let Mptcp::AddAddr(add) = option { Some(*add) } else { None })
        .collect();
    assert!(!announced.is_empty());
    assert!(announced.iter().all(|add| add.version == 0 && !add.echo && add.hmac.is_none()), "{announced:?}");
    let joined = said.iter().filter(|(_, option)| matches!(option, Mptcp::Join(MpJoin::Syn { .. }))).count();
    assert_eq!(joined, 3, "two paths, two addresses");
    assert!(!said.iter().any(|(_, option)| matches!(option, Mptcp::TcpRst(_))));
}

/// Who is asked for another version answers as TCP does.
#[test]
fn versions_do_not_mix() {
    for (client, server) in [(0, 1), (1, 0)] {
        let pair = transfer(client, server);
        let said = options(&pair);
        assert!(
            said.iter().all(|(end, option)| *end == End::Client && matches!(option, Mptcp::Capable(_))),
            "{said:?}"
        );
    }
}

/// The third packet is lost: data shows that the client has the keys.
#[test]
fn version_0_begins_with_data_too() {
    let mut pair = Pair::new(speaking(0), speaking(0), &[10]);
    pair.to_write = [5_000, 5_000];
    let mut sent = 0;
    pair.middle = Box::new(move |_, end, _, _| {
        sent += usize::from(end == End::Client);
        if end == End::Client && sent == 2 { vec![] } else { vec![0] }
    });
    pair.run(60_000);
    assert!(
        pair.seen.iter().all(|seen| seen.read == 5_000 && seen.outcome == Some(Outcome::Complete)),
        "{:?}",
        pair.seen
    );
    assert!(options(&pair).iter().any(|(end, option)| *end == End::Server && matches!(option, Mptcp::Dss(_))));
}

/// Keys, with their tokens and initial data sequence numbers by SHA-1, as lip6's ns-3 has them in its tests
/// (github.com/lip6-mptcp/ns3mptcp).
const KNOWN: [(u64, u32, u64); 2] = [
    (0xf3f3_4a78_b51c_7f6a, 0x2e8e_47c1, 0x1c22_2054_6f84_6ced),
    (0x3afd_8e52_bf2a_6944, 0x068c_e332, 0xc669_2252_fd10_b0cb),
];

/// A server with a known key: the client joins by its token, and takes data that begins after its IDSN.
#[test]
fn version_0_takes_from_a_key_what_others_take() {
    for (key, token, idsn) in KNOWN {
        let now = Time::from_nanos(0);
        let mut client = Endpoint::new(speaking(0), 1);
        let addresses = ["10.0.0.1", "10.0.1.1"].map(|address| address.parse().unwrap());
        for (nic, address) in addresses.into_iter().enumerate() {
            client.address_up(now, Nic(nic as u32), address, 1500);
        }
        let server = "10.9.0.1:80".parse().unwrap();
        let id = client.connect(now, SocketAddr::new(addresses[0], 0), server);
        let syn = sent(&mut client, now).remove(0);

        let capable = MpCapable {
            version: 0,
            flags: 1,
            sender_key: Some(key),
            receiver_key: None,
            data_len: None,
            checksum: None,
        };
        let answer = reply(&syn, Flags::SYN.with(Flags::ACK), 0, Mptcp::Capable(capable), 0);
        client.handle(now, Nic(0), &answer);
        let mapping =
            Mapping { data_seq: DataNumber::Long(idsn.wrapping_add(1)), subflow_seq: 1, len: 100, checksum: None };
        let data = Mptcp::Dss(Dss { mapping: Some(mapping), ..Dss::default() });
        let mut said = sent(&mut client, now);
        client.handle(now, Nic(0), &reply(&syn, Flags::ACK, 1, data, 100));
        assert_eq!(client.read(now, id, 1000), 100);
        said.extend(sent(&mut client, now));

        let options = || said.iter().flat_map(|packet| tcp(packet).options.iter().flatten());
        let named = options().find_map(|option| match option {
            TcpOption::Mptcp(Mptcp::Join(MpJoin::Syn { token, .. })) => Some(token),
            _ => None,
        });
        assert_eq!(named, Some(token));
        let acknowledged = options().filter_map(|option| match option {
            TcpOption::Mptcp(Mptcp::Dss(Dss { data_ack: Some(DataNumber::Long(number)), .. })) => Some(number),
            _ => None,
        });
        assert_eq!(acknowledged.last(), Some(idsn.wrapping_add(101)));
    }
}

fn sent(endpoint: &mut Endpoint, now: Time) -> Vec<Packet> {
    let mut packet = pair::blank();
    std::iter::from_fn(|| endpoint.transmit(now, &mut packet).map(|_| packet.clone())).collect()
}

/// What a server whose sequence numbers begin at 0 says to a SYN's sender.
fn reply(syn: &Packet, flags: Flags, seq: u32, option: Mptcp, len: u32) -> Packet {
    let mut packet = syn.clone();
    let L4::Tcp(tcp) = &mut packet.frame.l4 else { panic!("no TCP: {syn:?}") };
    std::mem::swap(&mut packet.frame.ip.source, &mut packet.frame.ip.destination);
    std::mem::swap(&mut tcp.source_port, &mut tcp.destination_port);
    (tcp.ack, tcp.seq, tcp.flags, tcp.options) = (tcp.seq.wrapping_add(1), seq, flags, Options::NONE);
    tcp.options.push(&TcpOption::Mptcp(option)).unwrap();
    packet.frame.payload = Payload { len, content: Content::Pattern(0) };
    packet
}
