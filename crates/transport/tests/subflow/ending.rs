//! Every state ends by a reset (RFC 9293 §3.10.7.4, second), by an abort (§3.10.5) and, where something waits for an
//! answer, by silence (§3.8.3).

use crate::script::{plain, play};
use transport::config;

/// How a state is reached, and the reset that is believed there.
struct Case {
    state: &'static str,
    script: &'static str,
    reset: &'static str,
}

/// All that are known to the peer; times up to 500.
const CASES: &[Case] = &[
    Case {
        state: "SynReceived",
        script: "0 < S 0:0
                 0 > S. 0:0 ack 1",
        reset: "R 1:1",
    },
    Case {
        // Opened by both.
        state: "SynReceived",
        script: "0 ! connect
                 0 > S 0:0
                 50 < S 0:0
                 50 > S. 0:0 ack 1 again",
        reset: "R 1:1",
    },
    Case { state: "Established", script: OPEN, reset: "R 1:1" },
    Case {
        state: "FinWait1",
        script: "200 ! close
                 200 > F. 1:1 ack 1",
        reset: "R 1:1",
    },
    Case {
        state: "FinWait2",
        script: "200 ! close
                 200 > F. 1:1 ack 1
                 300 < . 1:1 ack 2",
        reset: "R 1:1",
    },
    Case {
        state: "CloseWait",
        script: "200 < F. 1:1 ack 1
                 200 > . 1:1 ack 2",
        reset: "R 2:2",
    },
    Case {
        state: "Closing",
        script: "200 ! close
                 200 > F. 1:1 ack 1
                 250 < F. 1:1 ack 1
                 250 > . 2:2 ack 2",
        reset: "R 2:2",
    },
    Case {
        state: "LastAck",
        script: "200 < F. 1:1 ack 1
                 200 > . 1:1 ack 2
                 300 ! close
                 300 > F. 1:1 ack 2",
        reset: "R 2:2",
    },
    Case {
        state: "TimeWait",
        script: "200 ! close
                 200 > F. 1:1 ack 1
                 300 < F. 1:1 ack 2
                 300 > . 2:2 ack 2",
        reset: "R 2:2",
    },
];

const OPEN: &str = "
    0    ! connect
    0    > S 0:0
    100  < S. 0:0 ack 1
    100  > . 1:1 ack 1
";

/// Plays each case, to what `ending` says of it.
fn each(settings: &config::Tcp, ending: impl Fn(&Case) -> String) {
    for case in CASES {
        let opens = case.script == OPEN || case.state == "SynReceived";
        let open = if opens { "" } else { OPEN };
        play(settings, &format!("{open}\n{}\n500 = state {}\n{}", case.script, case.state, ending(case)));
    }
}

#[test]
fn by_a_reset() {
    each(&plain(), |case| {
        // Both FINs were sent: nothing that was written is lost (RFC 9293 §3.10.7.4, second).
        let reported = !matches!(case.state, "Closing" | "LastAck" | "TimeWait");
        format!("500 < {}\n500 = state Closed\n500 = reset {reported}", case.reset)
    });
}

#[test]
fn by_an_abort() {
    each(&plain(), |case| {
        let sent = match case.state {
            // RFC 9293 §3.10.5: nothing is left to refuse.
            "TimeWait" => "",
            "SynReceived" | "Established" => "500 > R. 1:1 ack 1",
            "FinWait1" | "FinWait2" => "500 > R. 2:2 ack 1",
            "CloseWait" => "500 > R. 1:1 ack 2",
            _ => "500 > R. 2:2 ack 2",
        };
        format!("500 ! abort\n{sent}\n500 = state Closed")
    });
    play(
        &plain(),
        "0    ! connect
         0    > S 0:0
         500  ! abort
         500  = state Closed",
    );
}

#[test]
fn by_silence() {
    each(&config::Tcp { retries: 1, syn_retries: 1, ..plain() }, |case| {
        let sent = match case.state {
            "SynReceived" => "1000 > S. 0:0 ack 1 again",
            "FinWait1" => "1200 > F. 1:1 ack 1 again",
            "Closing" => "1200 > F. 1:1 ack 2 again",
            "LastAck" => "1300 > F. 1:1 ack 2 again",
            "Established" => "500 ! push 1\n500 > . 1:1001 ack 1\n1500 > . 1:1001 ack 1 again",
            "CloseWait" => "500 ! push 1\n500 > . 1:1001 ack 2\n1500 > . 1:1001 ack 2 again",
            // Nothing waits for an answer.
            "FinWait2" => return "90000 = state FinWait2".into(),
            _ => return "90000 = state Closed".into(),
        };
        format!("{sent}\n5000 = gone true\n5000 = state Closed")
    });
}

#[test]
fn at_once_after_the_handshake() {
    // RFC 9293 §3.10.7.4, fifth and eighth: the ACK and the FIN in one segment
    play(
        &plain(),
        "0    < S 0:0
         0    > S. 0:0 ack 1
         100  < F. 1:11 ack 1
         100  > . 1:1 ack 12
         100  = finished true
         100  = arrived 10
         100  = state CloseWait",
    );
}

#[test]
fn by_a_fin_that_acknowledges_ours() {
    // RFC 9293 §3.10.7.4, eighth
    play(
        &plain(),
        &format!(
            "{OPEN}
             200  ! close
             200  > F. 1:1 ack 1
             300  < F. 1:1 ack 2
             300  > . 2:2 ack 2
             300  = state TimeWait"
        ),
    );
}
