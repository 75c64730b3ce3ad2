//! Windows in congestion avoidance, and what controllers make of them.

#![allow(dead_code, reason = "each test uses a part")]

use parameters::Table;
use transport::congestion::{self, Acked, Congestion, Window};
use wire::Time;

pub const MS: i64 = 1_000_000;
pub const MSS: u32 = 1000;

pub fn build(name: &str) -> Option<Box<dyn Congestion>> {
    congestion::build(name, &Table::new()).ok()
}

pub fn window(cwnd: f64, rtt_ms: i64) -> Window {
    Window {
        cwnd_packets: cwnd,
        ssthresh_packets: 1.0,
        srtt_ns: Some(rtt_ms * MS),
        min_rtt_ns: Some(rtt_ms * MS),
        mss_bytes: MSS,
        recovering: false,
        usable: true,
    }
}

pub fn windows<const N: usize>(cwnd: [f64; N], rtt_ms: [i64; N]) -> Vec<Window> {
    cwnd.iter().zip(rtt_ms).map(|(&cwnd, rtt)| window(cwnd, rtt)).collect()
}

pub fn ack(now_ns: i64, packets: u32) -> Acked {
    let bytes = u64::from(packets * MSS);
    let now = Time::from_nanos(now_ns);
    let (in_flight_packets, passed_packets) = (packets, packets);
    Acked {
        now,
        packets,
        bytes,
        rtt_ns: None,
        cwnd_limited: true,
        in_flight_packets,
        passed_packets,
        disordered: false,
    }
}

/// What one packet adds to each window.
pub fn increments(controller: &mut dyn Congestion, all: &[Window]) -> Vec<f64> {
    (0..all.len())
        .map(|i| {
            let mut after = all.to_vec();
            controller.acked(i, &mut after, &Acked { bytes: 0, ..ack(0, 1) });
            after[i].cwnd_packets - all[i].cwnd_packets
        })
        .collect()
}

#[track_caller]
pub fn assert_close(got: &[f64], expected: &[f64]) {
    assert_eq!(got.len(), expected.len());
    for (got, expected) in got.iter().zip(expected) {
        assert!((got - expected).abs() < 1e-6, "{got} for {expected}");
    }
}
