//! BBR alone on a path does what its authors say (Cardwell et al., ACM Queue 14-5, 2016).

mod common;

use common::{MS, S, link, path, run_with, wifi_lte};
use serde_json::{Value, json};
use sim::Observer;
use std::collections::VecDeque;
use wire::{CaptureDirection, Packet, Time};

const RATE: u64 = 10_000_000;
const DELAY_NS: i64 = 20 * MS;
/// Of a packet that takes no time on the link.
const LEAST_RTT_NS: i64 = 2 * DELAY_NS;
/// A full packet's time on the link.
const PACKET_NS: i64 = 1500 * 8 * S / RATE as i64;

/// What the server sends and what the client gets of it.
#[derive(Default)]
struct Data {
    sent: Vec<i64>,
    flying: VecDeque<i64>,
    /// When it came, how long it was on its way, and how much it was.
    came: Vec<(i64, i64, u32)>,
}

impl Observer for Data {
    fn passed(&mut self, at: Time, point: usize, direction: CaptureDirection, packet: &Packet) {
        if packet.frame.payload.len == 0 {
            return;
        }
        let at = at.as_nanos() - 1_735_689_600_000_000_000;
        if (point, direction) == (1, CaptureDirection::Outbound) {
            self.sent.push(at);
            self.flying.push_back(at);
        } else if (point, direction) == (0, CaptureDirection::Inbound)
            && let Some(sent) = self.flying.pop_front()
        {
            self.came.push((at, at - sent, packet.frame.payload.len));
        }
    }
}

fn alone(seconds: i64) -> Data {
    let mut scenario = wifi_lte(0);
    scenario["transfer"] =
        json!({"application": "bulk", "direction": "down", "size_bytes": null, "duration_ns": seconds * S});
    scenario["links"] = json!({"wifi": link(RATE, DELAY_NS, 1_000_000)});
    scenario["paths"] = Value::Array(vec![path(1, "wifi")]);
    for end in ["client", "server"] {
        scenario["transport"][end]["congestion_control"] = json!("bbr");
        scenario["transport"][end]["mptcp"]["enabled"] = json!(false);
    }
    run_with(&scenario, Data::default()).1
}

#[test]
fn it_fills_the_path_and_no_more_of_the_queue_than_a_round_trip() {
    let data = alone(60);
    let steady = || data.came.iter().filter(|(at, ..)| (5 * S..60 * S).contains(at));
    let bits: f64 = steady().map(|&(.., bytes)| 8.0 * f64::from(bytes)).sum();
    // 1 % less on purpose, and 200 ms of each 10 s for the least round-trip time.
    let share = bits / 55.0 / (RATE as f64 * 1448.0 / 1500.0);
    assert!((0.94..=1.0).contains(&share), "{share} of the path");
    let mut waits: Vec<_> = steady().map(|(_, delay_ns, _)| delay_ns - DELAY_NS - PACKET_NS).collect();
    waits.sort_unstable();
    // Two bandwidth-delay products may be in flight (cwnd_gain), of which one is the path's: the queue holds the other at
    // most, and does where the largest of ten rates is above the path's (Hock et al., "Experimental Evaluation of BBR
    // Congestion Control", ICNP 2017, section III). What ACKs bring at once comes on top (bbr_ack_aggregation_cwnd).
    assert!(waits[waits.len() / 2] < LEAST_RTT_NS, "half of it waits {} ns", waits[waits.len() / 2]);
    assert!(waits[waits.len() * 99 / 100] < LEAST_RTT_NS * 3 / 2, "{} ns", waits[waits.len() * 99 / 100]);
}

#[test]
fn at_first_the_rate_doubles_in_a_round() {
    let data = alone(2);
    let first = data.sent[0];
    let sent = |round: i64| {
        let rounds = first + round * LEAST_RTT_NS..first + (round + 1) * LEAST_RTT_NS;
        data.sent.iter().filter(|at| rounds.contains(at)).count() as f64
    };
    // The path takes 34 packets in a round trip.
    for round in 0..2 {
        let growth = sent(round + 1) / sent(round);
        assert!((1.6..2.4).contains(&growth), "{growth} times {} in round {round}", sent(round));
    }
}

#[test]
fn every_ten_seconds_it_looks_for_the_least_round_trip_time() {
    let data = alone(60);
    // Four packets in flight for 200 ms and a round trip, where the path takes more than 160.
    let mut pauses = Vec::new();
    for bin in 20..590 {
        let bins = bin * 100 * MS..(bin + 1) * 100 * MS;
        let sent = data.sent.iter().filter(|at| bins.contains(at)).count();
        if sent < 30 && pauses.last().is_none_or(|last| bin - last > 10) {
            pauses.push(bin);
        }
    }
    assert!((5..=6).contains(&pauses.len()), "at {pauses:?} tenths of a second");
    for pair in pauses.windows(2) {
        assert!((100..=106).contains(&(pair[1] - pair[0])), "at {pauses:?} tenths of a second");
    }
}
