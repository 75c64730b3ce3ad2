//! What headers offer and agree on, and what finds room in them.

use crate::pair::{self, Host, MS, Pair};
use transport::config;
use transport::subflow::{Emission, Kind, Piece, Room, Subflow};
use wire::mptcp::{DataNumber, Dss};
use wire::{Flags, Tcp, TcpOption, Time};

/// The options of a header, in words.
fn names(tcp: &Tcp) -> Vec<String> {
    let word = |option: Result<TcpOption, _>| match option.unwrap() {
        TcpOption::MaximumSegmentSize(bytes) => format!("mss {bytes}"),
        TcpOption::SackPermitted => "sack permitted".into(),
        TcpOption::Timestamps { .. } => "timestamps".into(),
        TcpOption::WindowScale(shift) => format!("scale {shift}"),
        TcpOption::Sack(blocks) => format!("sack {}", blocks.as_slice().len()),
        TcpOption::Mptcp(_) => "mptcp".into(),
        TcpOption::Unknown { kind, .. } => format!("kind {kind}"),
    };
    tcp.options.iter().map(word).collect()
}

/// Two ends with these settings after their handshake, and the options of SYN and SYN/ACK.
fn open(client: config::Tcp, server: config::Tcp) -> (Pair, [Vec<String>; 2]) {
    let mut pair = Pair::new(Host::new(client, true, 1), Host::new(server, false, 2));
    let mut offers: [Vec<String>; 2] = Default::default();
    while !pair.hosts.iter().all(|host| host.established) {
        pair.hosts.iter_mut().for_each(|host| host.total = 1);
        pair.step(&mut |now: Time, from, segment| {
            if segment.tcp.flags.has(Flags::SYN) {
                offers[from] = names(&segment.tcp);
            }
            [Some(now + MS), None]
        });
    }
    (pair, offers)
}

fn off() -> config::Tcp {
    config::Tcp { sack: false, timestamps: false, window_scaling: false, ..config::Tcp::default() }
}

#[test]
fn both_must_want_an_option() {
    let all = config::Tcp::default;
    let everything = ["mss 1460", "sack permitted", "timestamps", "scale 7"];
    let (pair, offers) = open(all(), all());
    assert_eq!(
        (&offers[0][..], &offers[1][..]),
        (&everything.map(String::from)[..], &everything.map(String::from)[..])
    );
    assert_eq!(pair.hosts[0].tcp().mss_bytes(), 1448);
    for (client, server) in [(all(), off()), (off(), all())] {
        let (pair, offers) = open(client, server);
        assert_eq!(offers[1], ["mss 1460"]);
        assert_eq!(pair.hosts.each_ref().map(|host| host.tcp().mss_bytes()), [1460, 1460]);
    }
}

#[test]
fn windows_are_scaled_after_the_handshake() {
    // RFC 7323 §2.2; 6 MiB need a shift of 7
    let (mut pair, _) = open(config::Tcp::default(), config::Tcp::default());
    let ack = Emission { kind: Kind::Ack, offset: 1, len: 0, piece: None, retransmission: false };
    let header = |pair: &mut Pair, emission: &Emission, window| {
        pair.hosts[0].with(|tcp, _| pair::header(tcp, Time::from_nanos(0), emission, window)).unwrap()
    };
    assert_eq!(header(&mut pair, &ack, 1_000_000).window, (1_000_000 >> 7) as u16);
    assert_eq!(header(&mut pair, &ack, u64::MAX).window, u16::MAX);
    assert_eq!(header(&mut pair, &Emission { kind: Kind::SynAck, ..ack }, 1_000_000).window, u16::MAX);
    let (mut pair, _) = open(config::Tcp::default(), off());
    assert_eq!(header(&mut pair, &ack, 1_000_000).window, u16::MAX);
}

#[test]
fn room_for_selective_acks_beside_mptcp() {
    // 40 bytes less timestamps and a DATA_ACK of 4 or 8 bytes leave two blocks or one
    for (data_ack, blocks) in [(DataNumber::Short(1), "sack 2"), (DataNumber::Long(1), "sack 1")] {
        let (mut pair, _) = open(config::Tcp::default(), config::Tcp::default());
        let now = pair.now;
        for position in [3001u32, 6001, 9001] {
            pair.hosts[0].with(|tcp, control| {
                let emission = Emission { kind: Kind::Ack, offset: 2, len: 0, piece: None, retransmission: false };
                let mut ahead = pair::header(tcp, now, &emission, 1000);
                ahead.flags = Flags::ACK;
                (ahead.seq, ahead.ack) = (tcp.peer_isn().wrapping_add(position), tcp.isn().wrapping_add(1));
                let room = Room { buffer_bytes: 0, unread_bytes: 0, advertised_bytes: 0 };
                tcp.receive(now, &ahead, &ahead.options.brief(), 1000, room, control);
            });
        }
        let dss = Dss { data_ack: Some(data_ack), ..Dss::default() };
        let ack = pair.hosts[0].with(|tcp, control| {
            let emission = tcp.poll(now, false, control).unwrap();
            let mut header = Tcp::BLANK;
            tcp.begin_header(now, &emission, &mut header);
            header.options.push_dss(&dss).unwrap();
            tcp.finish_header(&emission, 1000, &mut header);
            header
        });
        assert_eq!(names(&ack.unwrap()), ["timestamps", "mptcp", blocks]);
    }
}

#[test]
fn full_segments_leave_room_for_mappings() {
    let (mut pair, _) = open(config::Tcp::default(), config::Tcp::default());
    let host = &mut pair.hosts[0];
    host.with(|tcp, control| tcp.reserve_options(28, control));
    assert_eq!((host.tcp().mss_bytes(), host.windows[0].mss_bytes), (1420, 1420));
}

#[test]
fn a_data_fin_alone_takes_no_place() {
    let settings = config::Tcp { delayed_ack_ns: None, ..config::Tcp::default() };
    let mut pair = Pair::new(Host::new(settings.clone(), true, 1), Host::new(settings, false, 2));
    pair.hosts.iter_mut().for_each(|host| host.total = u64::MAX);
    while !pair.hosts[0].established {
        pair.step(&mut |now, _, _| [Some(now + MS), None]);
    }
    let (now, end) = (pair.now, Piece { data_offset: 5, len: 0, data_fin: true, push: false });
    pair.hosts[0].with(|tcp, control| {
        tcp.push(end);
        let before = tcp.next_offset();
        let emission = tcp.poll(now, false, control).unwrap();
        assert_eq!((emission.kind, emission.len, emission.piece), (Kind::Data, 0, Some(end)));
        assert_eq!((emission.offset, tcp.next_offset(), tcp.all_acknowledged()), (before, before, true));
        assert!(tcp.poll(now, false, control).is_none());
    });
}

#[test]
fn what_a_connection_has_to_say_bears_the_time_of_what_came_last() {
    // Linux 6.18: the ACK that tells of a lost address at 4.006 s bears the time at which the fourth packet of the join came, 0.178 s.
    let (mut pair, _) = open(config::Tcp::default(), config::Tcp::default());
    let later = pair.now + 4000 * MS;
    let mut shown = |ask: fn(&mut Subflow)| {
        let value = pair.hosts[0].with(|tcp, control| {
            ask(tcp);
            let emission = tcp.poll(later, false, control).unwrap();
            assert_eq!(emission.kind, Kind::Ack);
            pair::header(tcp, later, &emission, 1000).options.brief().timestamps.unwrap().0
        });
        value.unwrap()
    };
    let signalled = shown(Subflow::signal);
    // The SYN/ACK came a millisecond before the third packet arrived.
    let since = shown(Subflow::acknowledge);
    assert_eq!(since.wrapping_sub(signalled), 4001);
    // RFC 7323 §5.3: the peer would drop what is older than that.
    assert_eq!(shown(Subflow::signal), since);
}
