//! Every change of what a connection speaks, and every way in which it ends, is made by a packet script, and no other.

use crate::moves::{Row, compare};

/// As seen from outside, by segments, the timer and calls. `opening` is before data may flow, `MPTCP` once the keys are
/// exchanged, `TCP` without them or after a fallback: from there nothing leads back (RFC 8684 §3.7). The others are
/// outcomes; what ends by the timer outlived its last subflow (RFC 8684 §3.4.1) or had no answer.
const CHANGES: &[Row] = &[
    ("nothing", "call", "opening", "§3.1"),
    ("nothing", "segment", "opening", "§3.1"),
    ("opening", "segment", "MPTCP", "§3.1, figure 3"),
    ("opening", "segment", "TCP", "§3.1: the peer does not speak it, or the options were taken out"),
    ("opening", "segment", "reset", "RFC 9293 §3.10.7.3"),
    ("opening", "call", "aborted", "RFC 9293 §3.10.5"),
    ("opening", "timer", "timed-out", "RFC 9293 §3.8.3"),
    ("MPTCP", "segment", "TCP", "§3.7: an infinite mapping, MP_FAIL, or options that are taken out"),
    ("MPTCP", "segment", "complete", "§3.3.3: DATA_FINs are acknowledged both ways"),
    ("MPTCP", "timer", "complete", "§3.3.3: likewise, and the subflows went later"),
    ("MPTCP", "segment", "reset", "§3.5: MP_FASTCLOSE"),
    ("MPTCP", "timer", "reset", "§3.4.1: the last subflow was reset"),
    ("MPTCP", "timer", "timed-out", "§3.4.1: nobody answers on the last subflow"),
    ("MPTCP", "timer", "failed", "§3.4.1: the address of the last subflow went"),
    ("MPTCP", "call", "aborted", "§3.5"),
    ("TCP", "segment", "complete", "RFC 9293 §3.6"),
    ("TCP", "segment", "reset", "RFC 9293 §3.10.7.4"),
    ("TCP", "timer", "timed-out", "RFC 9293 §3.8.3"),
    ("TCP", "call", "aborted", "RFC 9293 §3.10.5"),
];

#[test]
fn every_change() {
    compare(CHANGES, &["coverage::"]);
}
