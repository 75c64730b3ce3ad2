//! Every transition of TCP's state machine is made by a packet script, and no other.

use crate::moves::{Row, compare};

/// RFC 9293 figure 5 and §3.10, by segments, the timer, and the calls OPEN, CLOSE (which counts when the FIN leaves) and
/// ABORT. "3.10.7.4 n" is its n-th check.
///
/// Not of a subflow: CLOSED to LISTEN and back, and LISTEN to SYN-SENT: an endpoint listens, with no connection
/// to show for it, until it is gone itself. CLOSE before ESTABLISHED: a connection that is finished early writes and
/// closes once it is open, as §3.10.4 queues it in SYN-RECEIVED. TIME-WAIT to SYN-RECEIVED (3.10.7.4 4, MAY): a tuple is
/// not used again.
const TRANSITIONS: &[Row] = &[
    ("CLOSED", "OPEN", "SYN-SENT", "figure 5"),
    ("LISTEN", "SYN", "SYN-RECEIVED", "figure 5"),
    ("SYN-SENT", "SYN", "SYN-RECEIVED", "figure 5"),
    ("SYN-SENT", "SYN/ACK", "ESTABLISHED", "figure 5"),
    ("SYN-SENT", "RST", "CLOSED", "3.10.7.3 2"),
    ("SYN-SENT", "ABORT", "CLOSED", "3.10.5"),
    ("SYN-SENT", "timer", "CLOSED", "3.8.3, 3.10.8"),
    ("SYN-RECEIVED", "ACK", "ESTABLISHED", "figure 5"),
    ("SYN-RECEIVED", "SYN/ACK", "ESTABLISHED", "3.5, figure 7"),
    ("SYN-RECEIVED", "FIN", "CLOSE-WAIT", "3.10.7.4 5 and 8, in one segment"),
    ("SYN-RECEIVED", "RST", "LISTEN", "figure 5, 3.10.7.4 2: opened by the peer"),
    ("SYN-RECEIVED", "RST", "CLOSED", "3.10.7.4 2: opened by both"),
    ("SYN-RECEIVED", "ABORT", "CLOSED", "3.10.5"),
    ("SYN-RECEIVED", "timer", "CLOSED", "3.8.3, 3.10.8"),
    ("ESTABLISHED", "CLOSE", "FIN-WAIT-1", "figure 5"),
    ("ESTABLISHED", "FIN", "CLOSE-WAIT", "figure 5"),
    // A FIN that came before what precedes it.
    ("ESTABLISHED", "ACK", "CLOSE-WAIT", "3.10.7.4 8"),
    ("ESTABLISHED", "RST", "CLOSED", "3.10.7.4 2"),
    ("ESTABLISHED", "ABORT", "CLOSED", "3.10.5"),
    ("ESTABLISHED", "timer", "CLOSED", "3.8.3, 3.8.4, 3.10.8"),
    ("FIN-WAIT-1", "ACK", "FIN-WAIT-2", "figure 5"),
    ("FIN-WAIT-1", "FIN", "CLOSING", "figure 5"),
    ("FIN-WAIT-1", "FIN", "TIME-WAIT", "figure 5, note 2"),
    ("FIN-WAIT-1", "RST", "CLOSED", "3.10.7.4 2"),
    ("FIN-WAIT-1", "ABORT", "CLOSED", "3.10.5"),
    ("FIN-WAIT-1", "timer", "CLOSED", "3.8.3, 3.10.8"),
    ("FIN-WAIT-2", "FIN", "TIME-WAIT", "figure 5"),
    ("FIN-WAIT-2", "RST", "CLOSED", "3.10.7.4 2"),
    ("FIN-WAIT-2", "ABORT", "CLOSED", "3.10.5"),
    // Not in the RFC: nobody reads any more, and the peer may never finish (tcp_fin_timeout of Linux).
    ("FIN-WAIT-2", "timer", "CLOSED", "Linux"),
    ("CLOSE-WAIT", "CLOSE", "LAST-ACK", "figure 5"),
    ("CLOSE-WAIT", "RST", "CLOSED", "3.10.7.4 2"),
    ("CLOSE-WAIT", "ABORT", "CLOSED", "3.10.5"),
    ("CLOSE-WAIT", "timer", "CLOSED", "3.8.3, 3.10.8"),
    ("CLOSING", "ACK", "TIME-WAIT", "figure 5"),
    ("CLOSING", "RST", "CLOSED", "3.10.7.4 2"),
    ("CLOSING", "ABORT", "CLOSED", "3.10.5"),
    ("CLOSING", "timer", "CLOSED", "3.8.3, 3.10.8"),
    ("LAST-ACK", "ACK", "CLOSED", "figure 5"),
    ("LAST-ACK", "RST", "CLOSED", "3.10.7.4 2"),
    ("LAST-ACK", "ABORT", "CLOSED", "3.10.5"),
    ("LAST-ACK", "timer", "CLOSED", "3.8.3, 3.10.8"),
    ("TIME-WAIT", "timer", "CLOSED", "figure 5"),
    ("TIME-WAIT", "RST", "CLOSED", "3.10.7.4 2"),
    ("TIME-WAIT", "ABORT", "CLOSED", "3.10.5"),
];

#[test]
fn every_transition() {
    compare(TRANSITIONS, &["coverage::", "transfer::", "law::", "headers::"]);
}
