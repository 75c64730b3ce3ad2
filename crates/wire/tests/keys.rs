//! Keys seen on the wire against the tokens and HMACs that the hosts computed from them.

mod common;

use common::bytes;
use std::net::IpAddr;
use wire::mptcp::crypto::{
    Party, add_addr_hmac, add_addr_hmac_leftmost, initial_data_seq, join_ack_hmac, join_syn_ack_hmac, token,
};
use wire::mptcp::dss_checksum;

/// tcpdump's tests/mptcp-v0.pcap, packets 1 to 3 and 8 to 10; data sequence numbers by tshark (`mptcp.expected_idsn`).
#[test]
fn version_0() {
    let client = Party { key: 0x9c9e_abd1_e46a_33b2, nonce: 459_692_568 };
    let server = Party { key: 0x967d_2770_b696_0552, nonce: 866_904_533 };
    assert_eq!(token(0, client.key), 2_945_910_507);
    assert_eq!(token(0, server.key), 3_833_528_642);
    assert_eq!(initial_data_seq(0, client.key), 10_975_753_215_851_282_121);
    assert_eq!(initial_data_seq(0, server.key), 16_464_867_208_451_421_327);
    assert_eq!(join_syn_ack_hmac(0, server, client), 6_536_553_503_648_313_405);
    assert_eq!(join_ack_hmac(0, client, server).to_vec(), bytes("cb7b87f5e5f0502f43b535fb70ef6607df2e6c7a"));
}

/// Linux 6.18, a server that tells of a second address, to which the client joins from a second one of its own.
#[test]
fn version_1() {
    let client = Party { key: 0x3657_31f6_6a22_cbbd, nonce: 3_839_957_331 };
    let server = Party { key: 0x9958_a0b4_ed20_8532, nonce: 4_089_253_107 };
    assert_eq!(token(1, client.key), 405_676_233);
    assert_eq!(token(1, server.key), 2_889_544_320);
    assert_eq!(initial_data_seq(1, client.key), 14_961_456_446_857_996_258);
    assert_eq!(initial_data_seq(1, server.key), 16_287_477_780_545_535_309);
    assert_eq!(join_syn_ack_hmac(1, server, client), 3_503_687_882_952_201_655);
    assert_eq!(join_ack_hmac(1, client, server).to_vec(), bytes("aa3d55e79bebd1c0c9d4860186f3d837b3a5e7de"));
    let address: IpAddr = "10.99.2.2".parse().unwrap();
    assert_eq!(add_addr_hmac(server.key, client.key, 1, address, None), 0x92d4_9314_25d8_0f94);
}

/// tcpdump's tests/mptcp-aa-v1.pcap, packets 4, 5 and 13.
#[test]
fn add_addr_of_an_early_linux() {
    let address: IpAddr = "192.168.136.225".parse().unwrap();
    let hmac = add_addr_hmac_leftmost(0x73bb_1503_58a0_aecb, 0x8f0c_7c64_a6a3_2ac1, 1, address, None);
    assert_eq!(hmac, 0x6699_2874_4366_716c);
}

/// tcpdump's tests/mptcp-fclose.pcap, packets 3, 4, 6 and 8: each host sends one byte, its first.
#[test]
fn checksum_of_a_mapping() {
    for (key, low, payload, checksum) in
        [(0x9b59_be3d_695e_66a7, 0xb171_2fb6, b"c", 0x9e91), (0xd005_b1ab_34ba_d344, 0xc9dc_1c61, b"c", 0x54ab)]
    {
        let data_seq = initial_data_seq(0, key) + 1;
        assert_eq!(data_seq as u32, low);
        assert_eq!(dss_checksum(data_seq, 1, 1, payload), checksum);
    }
}
