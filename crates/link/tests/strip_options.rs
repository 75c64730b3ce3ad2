//! MPTCP options overwritten: whose, and how.

mod common;

use common::{at, element, packet};
use link::{Direction, Out};
use serde_json::json;
use wire::{Flags, L4, Options, Packet, Tcp};

/// MSS, MP_CAPABLE of a SYN/ACK with checksums off (12 bytes), timestamps.
const OPTIONS: &str = "02 04 05 b4  1e 0c 01 01 11 22 33 44 55 66 77 88  01 01 08 0a 00 00 00 01 00 00 00 02";
const STRIPPED: &str = "02 04 05 b4  01 01 01 01 01 01 01 01 01 01 01 01  01 01 08 0a 00 00 00 01 00 00 00 02";

fn bytes(hex: &str) -> Vec<u8> {
    hex.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

fn segment(flags: Flags, options: &str) -> Box<Packet> {
    let mut packet = packet(1, 1000);
    packet.frame.l4 = L4::Tcp(Tcp {
        source_port: 1,
        destination_port: 2,
        seq: 3,
        ack: 4,
        flags,
        window: 5,
        urgent: 0,
        options: Options::from_bytes(&bytes(options)).unwrap(),
    });
    packet
}

fn passed(segments: &str, packet: Box<Packet>) -> Packet {
    let mut element = element(&json!({"element": "strip-options", "segments": segments}), 1, "a");
    let mut out = Out::default();
    element.push(at(0), Direction::Up, packet, &mut out);
    assert!(out.dropped.is_empty());
    *out.sent.pop().unwrap().1
}

#[test]
fn of_those_segments_that_are_named() {
    let [syn, syn_ack, ack] = [Flags::SYN, Flags::SYN.with(Flags::ACK), Flags::ACK];
    for (segments, stripped) in [
        ("all", [true, true, true]),
        ("syn", [true, false, false]),
        ("syn-ack", [false, true, false]),
        ("data", [false, false, true]),
    ] {
        for (flags, stripped) in [syn, syn_ack, ack].into_iter().zip(stripped) {
            let expected = segment(flags, if stripped { STRIPPED } else { OPTIONS });
            assert_eq!(passed(segments, segment(flags, OPTIONS)), *expected, "{segments} {flags:?}");
        }
    }
}

#[test]
fn malformed_ones_stay_and_all_before_them_go() {
    for (given, expected) in [
        // Lengths that cannot be, one over the end, a kind alone.
        ("1e 03 21 1e 00 01 01 01", "01 01 01 1e 00 01 01 01"),
        ("1e 03 21 1e 06 01 01 01", "01 01 01 1e 06 01 01 01"),
        ("1e 03 21 01 01 01 01 1e", "01 01 01 01 01 01 01 1e"),
        // Behind the end of the list nothing means anything.
        ("1e 03 21 00 1e 03 21 00", "01 01 01 00 1e 03 21 00"),
    ] {
        assert_eq!(passed("all", segment(Flags::ACK, given)), *segment(Flags::ACK, expected), "{given}");
    }
}

#[test]
fn what_is_no_tcp_passes() {
    assert_eq!(passed("all", packet(7, 100)), *packet(7, 100));
}
