//! Options byte for byte: from real packets where there are some, else from the figures of the RFCs.

mod common;

use common::bytes;
use std::net::IpAddr;
use wire::mptcp::{
    AddAddr, DataNumber, Dss, Mapping, MpCapable, MpFail, MpFastClose, MpJoin, MpPrio, MpTcpRst, Mptcp, RemoveAddr,
};
use wire::{Malformed, Options, SackBlocks, TcpOption};

/// The bytes are read as `option`, and `option` is written as the bytes.
#[track_caller]
fn same(hex: &str, option: TcpOption) {
    let bytes = bytes(hex);
    let read = Options::from_bytes(&bytes).unwrap();
    assert_eq!(read.iter().collect::<Vec<_>>(), [Ok(option)]);
    let mut written = Options::NONE;
    written.push(&option).unwrap();
    let padding = bytes.len().wrapping_neg() % 4;
    assert_eq!(written.as_bytes(), [vec![1; padding], bytes].concat());
}

#[track_caller]
fn mptcp(hex: &str, option: Mptcp) {
    same(hex, TcpOption::Mptcp(option));
}

fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
}

#[test]
fn plain_tcp() {
    // The SYN of tcpdump's tests/mptcp-v0.pcap, packet 1.
    same("02 04 05b4", TcpOption::MaximumSegmentSize(1460));
    same("04 02", TcpOption::SackPermitted);
    same("08 0a ffffa1b0 00000000", TcpOption::Timestamps { value: 0xffff_a1b0, echo: 0 });
    same("03 03 06", TcpOption::WindowScale(6));
    // RFC 2018 §3.
    let blocks = [(0x0102_0304, 0x0506_0708), (0x1112_1314, 0x1516_1718)];
    same("05 12 01020304 05060708 11121314 15161718", TcpOption::Sack(SackBlocks::new(&blocks)));
    // TCP Fast Open (RFC 7413 §4.1.1): not interpreted.
    same("22 06 01020304", TcpOption::Unknown { kind: 34, data: &[1, 2, 3, 4] });
}

/// tcpdump's tests/mptcp-aa-v1.pcap, packets 3 to 6.
#[test]
fn mp_capable_version_1() {
    let none = MpCapable { version: 1, flags: 1, sender_key: None, receiver_key: None, data_len: None, checksum: None };
    mptcp("1e 04 01 01", Mptcp::Capable(none));
    let server = Some(0x73bb_1503_58a0_aecb);
    mptcp("1e 0c 01 01 73bb150358a0aecb", Mptcp::Capable(MpCapable { sender_key: server, ..none }));
    let both = MpCapable { sender_key: Some(0x8f0c_7c64_a6a3_2ac1), receiver_key: server, ..none };
    mptcp("1e 14 01 01 8f0c7c64a6a32ac1 73bb150358a0aecb", Mptcp::Capable(both));
    let data = MpCapable { data_len: Some(16), ..both };
    mptcp("1e 16 01 01 8f0c7c64a6a32ac1 73bb150358a0aecb 0010", Mptcp::Capable(data));
    // RFC 8684 §3.1, figure 4, with the checksum.
    let checked = MpCapable { flags: 0x81, checksum: Some(0xabcd), ..data };
    mptcp("1e 18 01 81 8f0c7c64a6a32ac1 73bb150358a0aecb 0010 abcd", Mptcp::Capable(checked));
}

/// tcpdump's tests/mptcp-v0.pcap, packets 1 and 3.
#[test]
fn mp_capable_version_0() {
    let client = Some(0x9c9e_abd1_e46a_33b2);
    let syn =
        MpCapable { version: 0, flags: 0x81, sender_key: client, receiver_key: None, data_len: None, checksum: None };
    mptcp("1e 0c 00 81 9c9eabd1e46a33b2", Mptcp::Capable(syn));
    let ack = MpCapable { receiver_key: Some(0x967d_2770_b696_0552), ..syn };
    mptcp("1e 14 00 81 9c9eabd1e46a33b2 967d2770b6960552", Mptcp::Capable(ack));
}

/// Linux 6.18, version 1; the ACK from tcpdump's tests/mptcp-v0.pcap, packet 10.
#[test]
fn mp_join() {
    let syn = MpJoin::Syn { backup: false, address_id: 1, token: 0xac3a_f280, nonce: 0xe4e1_1953 };
    mptcp("1e 0c 10 01 ac3af280 e4e11953", Mptcp::Join(syn));
    let backup = MpJoin::Syn { backup: true, address_id: 1, token: 0xac3a_f280, nonce: 0xe4e1_1953 };
    mptcp("1e 0c 11 01 ac3af280 e4e11953", Mptcp::Join(backup));
    let syn_ack = MpJoin::SynAck { backup: false, address_id: 0, hmac: 0x309f_9990_f334_d5b7, nonce: 0xf3bd_0cf3 };
    mptcp("1e 10 10 00 309f9990f334d5b7 f3bd0cf3", Mptcp::Join(syn_ack));
    let hmac = bytes("cb7b87f5e5f0502f43b535fb70ef6607df2e6c7a").try_into().unwrap();
    mptcp("1e 18 10 00 cb7b87f5e5f0502f43b535fb70ef6607df2e6c7a", Mptcp::Join(MpJoin::Ack { hmac }));
}

#[test]
fn dss() {
    // tcpdump's tests/mptcp-aa-v1.pcap, packets 7 and 8.
    let ack = Dss { data_ack: Some(DataNumber::Long(0xee83_a616_c387_65d5)), mapping: None, data_fin: false };
    mptcp("1e 0c 20 03 ee83a616c38765d5", Mptcp::Dss(ack));
    let mapping =
        Mapping { data_seq: DataNumber::Long(0xa896_f3fe_7a8d_c02e), subflow_seq: 1, len: 16, checksum: None };
    let data = Dss { mapping: Some(mapping), ..ack };
    mptcp("1e 1a 20 0f ee83a616c38765d5 a896f3fe7a8dc02e 00000001 0010", Mptcp::Dss(data));
    // tcpdump's tests/mptcp-v0.pcap, packet 4: short numbers and a checksum.
    let mapping = Mapping { data_seq: DataNumber::Short(0xd1b9_7490), subflow_seq: 1, len: 41, checksum: Some(0x082f) };
    let short = Dss { data_ack: Some(DataNumber::Short(0xd52a_beca)), mapping: Some(mapping), data_fin: false };
    mptcp("1e 14 20 05 d52abeca d1b97490 00000001 0029 082f", Mptcp::Dss(short));
    // RFC 8684 §3.3.3: DATA_FIN without data, subflow sequence number 0 and length 1.
    let mapping = Mapping { data_seq: DataNumber::Short(7), subflow_seq: 0, len: 1, checksum: None };
    mptcp(
        "1e 0e 20 14 00000007 00000000 0001",
        Mptcp::Dss(Dss { data_ack: None, mapping: Some(mapping), data_fin: true }),
    );
    // RFC 8684 §3.7: infinite mapping, length and checksum 0.
    let mapping = Mapping { data_seq: DataNumber::Long(7), subflow_seq: 9, len: 0, checksum: Some(0) };
    mptcp(
        "1e 14 20 0c 0000000000000007 00000009 0000 0000",
        Mptcp::Dss(Dss { data_ack: None, mapping: Some(mapping), data_fin: false }),
    );
}

#[test]
fn dss_flags_for_length_alone_mean_nothing() {
    let options = Options::from_bytes(&bytes("1e 04 20 0a")).unwrap();
    assert_eq!(options.iter().next(), Some(Ok(TcpOption::Mptcp(Mptcp::Dss(Dss::default())))));
}

#[test]
fn add_addr() {
    // tcpdump's tests/mptcp-aa-v1.pcap, packet 13.
    let full = AddAddr {
        version: 1,
        echo: false,
        address_id: 1,
        address: address("192.168.136.225"),
        port: None,
        hmac: Some(0x6699_2874_4366_716c),
    };
    mptcp("1e 10 30 01 c0a888e1 669928744366716c", Mptcp::AddAddr(full));
    let ported = AddAddr { port: Some(5201), ..full };
    mptcp("1e 12 30 01 c0a888e1 1451 669928744366716c", Mptcp::AddAddr(ported));
    // tcpdump's tests/mptcp-aa-echo.pcap, packet 2.
    let echo = AddAddr { echo: true, address: address("10.0.2.1"), hmac: None, ..full };
    mptcp("1e 08 31 01 0a000201", Mptcp::AddAddr(echo));
    mptcp("1e 0a 31 01 0a000201 1451", Mptcp::AddAddr(AddAddr { port: Some(5201), ..echo }));
    // tcpdump's tests/mptcp-v0.pcap, packet 4.
    let old = AddAddr { version: 0, echo: false, address: address("10.1.2.2"), ..echo };
    mptcp("1e 08 34 01 0a010202", Mptcp::AddAddr(old));
    mptcp("1e 0a 34 01 0a010202 1451", Mptcp::AddAddr(AddAddr { port: Some(5201), ..old }));
    // IPv6, RFC 8684 §3.4.1 and RFC 6824 §3.4.1, figure 12.
    const DOC: &str = "20010db8000000000000000000000001";
    let six = address("2001:db8::1");
    mptcp(&format!("1e 1c 30 01 {DOC} 669928744366716c"), Mptcp::AddAddr(AddAddr { address: six, ..full }));
    mptcp(&format!("1e 1e 30 01 {DOC} 1451 669928744366716c"), Mptcp::AddAddr(AddAddr { address: six, ..ported }));
    mptcp(&format!("1e 14 31 01 {DOC}"), Mptcp::AddAddr(AddAddr { address: six, ..echo }));
    let ported = AddAddr { address: six, port: Some(5201), ..old };
    mptcp(&format!("1e 16 36 01 {DOC} 1451"), Mptcp::AddAddr(ported));
}

#[test]
fn remaining() {
    // tcpdump's tests/mptcp-v0.pcap, packet 210.
    mptcp("1e 04 40 00", Mptcp::RemoveAddr(RemoveAddr::new(&[0]).unwrap()));
    mptcp("1e 06 40 01 02 03", Mptcp::RemoveAddr(RemoveAddr::new(&[1, 2, 3]).unwrap()));
    // RFC 8684 §3.3.8 and RFC 6824 §3.3.8, figure 11.
    mptcp("1e 03 51", Mptcp::Prio(MpPrio { backup: true, address_id: None }));
    mptcp("1e 04 50 03", Mptcp::Prio(MpPrio { backup: false, address_id: Some(3) }));
    // RFC 8684 §3.7, figure 16.
    mptcp("1e 0c 60 00 0102030405060708", Mptcp::Fail(MpFail { data_seq: 0x0102_0304_0506_0708 }));
    // tcpdump's tests/mptcp-fclose.pcap, packet 10.
    mptcp("1e 0c 70 00 d005b1ab34bad344", Mptcp::FastClose(MpFastClose { receiver_key: 0xd005_b1ab_34ba_d344 }));
    // tcpdump's tests/mptcp-tcprst.pcap.
    mptcp("1e 04 80 00", Mptcp::TcpRst(MpTcpRst { flags: 0, reason: 0 }));
    mptcp("1e 04 81 01", Mptcp::TcpRst(MpTcpRst { flags: 1, reason: 1 }));
    // RFC 8684 §3.8, figure 17.
    mptcp("1e 05 f1 02 03", Mptcp::Other { subtype: 15, data: &[0xf1, 2, 3] });
}

/// tcpdump's tests/mptcp-v0.pcap, packet 4, tells of an address and carries data; aa-echo packet 2 as well.
#[test]
fn several_in_one_header() {
    let options =
        Options::from_bytes(&bytes("0101080a16407324fed4eb3e1e0831010a0002011e0c2003f9948ef804577f69")).unwrap();
    let kinds: Vec<&str> = options
        .iter()
        .map(|option| match option {
            Ok(TcpOption::Timestamps { .. }) => "timestamps",
            Ok(TcpOption::Mptcp(Mptcp::AddAddr(_))) => "ADD_ADDR",
            Ok(TcpOption::Mptcp(Mptcp::Dss(_))) => "DSS",
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(kinds, ["timestamps", "ADD_ADDR", "DSS"]);
}

#[test]
fn malformed_contents_do_not_hide_what_follows() {
    // The DSS of tcpdump's tests/mptcp-dss-oobr.pcap, whose flags lie past its end.
    let options = Options::from_bytes(&bytes("1e 03 20 1e 03 51")).unwrap();
    let prio = TcpOption::Mptcp(Mptcp::Prio(MpPrio { backup: true, address_id: None }));
    let dss = Malformed::Field { header: "DSS", field: "length", value: 3 };
    assert_eq!(options.iter().collect::<Vec<_>>(), [Err(dss), Ok(prio)]);
    assert_eq!(dss.to_string(), "DSS: length 3 is impossible");
}

#[test]
fn a_length_past_the_end_is_the_last() {
    let cut = Options::from_bytes(&bytes("03 03 06 1e 0c 20 03 ee83")).unwrap();
    let short = Malformed::Short { header: "TCP option", need: 12, have: 6 };
    assert_eq!(cut.iter().collect::<Vec<_>>(), [Ok(TcpOption::WindowScale(6)), Err(short)]);
    for (hex, error) in [
        ("1e", Malformed::Short { header: "TCP option", need: 2, have: 1 }),
        ("1e 01 20", Malformed::Field { header: "TCP option", field: "length", value: 1 }),
        ("1e 00", Malformed::Field { header: "TCP option", field: "length", value: 0 }),
        ("1e 02", Malformed::Field { header: "MPTCP option", field: "length", value: 2 }),
    ] {
        let options = Options::from_bytes(&bytes(hex)).unwrap();
        assert_eq!(options.iter().collect::<Vec<_>>(), [Err(error)], "{hex}");
    }
}

#[test]
fn nothing_follows_the_end_of_the_list() {
    let options = Options::from_bytes(&bytes("01 00 03 03 06")).unwrap();
    assert_eq!(options.iter().count(), 0);
}

#[test]
fn what_has_no_bytes_is_refused() {
    let none = MpCapable { version: 1, flags: 1, sender_key: None, receiver_key: None, data_len: None, checksum: None };
    let echo = AddAddr { version: 0, echo: true, address_id: 1, address: address("10.0.0.1"), port: None, hmac: None };
    for option in [
        TcpOption::Mptcp(Mptcp::Capable(MpCapable { receiver_key: Some(1), ..none })),
        TcpOption::Mptcp(Mptcp::Capable(MpCapable { checksum: Some(1), ..none })),
        TcpOption::Mptcp(Mptcp::Capable(MpCapable { version: 16, ..none })),
        TcpOption::Mptcp(Mptcp::AddAddr(echo)),
        TcpOption::Mptcp(Mptcp::TcpRst(MpTcpRst { flags: 16, reason: 0 })),
        TcpOption::Mptcp(Mptcp::Other { subtype: 2, data: &[0x20] }),
        TcpOption::Mptcp(Mptcp::Other { subtype: 9, data: &[0xa0] }),
        TcpOption::Sack(SackBlocks::default()),
        TcpOption::Unknown { kind: 1, data: &[] },
        TcpOption::Unknown { kind: 30, data: &[] },
        TcpOption::Unknown { kind: 99, data: &[0; 39] },
    ] {
        let mut options = Options::NONE;
        assert!(options.push(&option).is_err(), "{option:?}");
        assert_eq!(options, Options::NONE);
    }
    assert!(RemoveAddr::new(&[]).is_none() && RemoveAddr::new(&[0; 38]).is_none());
}

#[test]
fn forty_bytes_are_the_limit() {
    let mut options = Options::NONE;
    let stamps = TcpOption::Timestamps { value: 1, echo: 2 };
    for _ in 0..3 {
        options.push(&stamps).unwrap();
    }
    let error = options.push(&stamps).unwrap_err();
    assert_eq!(error.to_string(), "TCP option needs 12 bytes, there is room for 4");
    options.push(&TcpOption::SackPermitted).unwrap();
    assert_eq!((options.as_bytes().len(), options.iter().count()), (40, 4));
    assert!(Options::from_bytes(&[1; 41]).is_err());
}
