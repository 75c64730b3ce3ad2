//! Aborted connections (RFC 8684 §3.5) and subflows (§3.6).

use crate::script::{CLIENT, SERVER, TWO, mesh, plain, play};

#[test]
fn a_fast_close() {
    // On resets, of every subflow, as Linux sends it.
    play(
        &mesh(),
        &format!(
            "{TWO}
             70  ! write 100
             70  > wifi . 1:101 ack 1 dss(1 1 100, ack 1)
             70  ! abort
             70  > wifi R. 101:101 ack 1 fastclose
             70  > lte R. 1:1 ack 1 fastclose
             70  = events connected aborted
             70  = mptcp none
             // Nobody is there any more.
             80  < lte . 1:1 ack 1 dss(ack 1)
             80  > lte R 1:1"
        ),
    );
}

#[test]
fn the_peer_closes_fast() {
    for (options, answer) in [("wifi R. 1:1 ack 1 fastclose", ""), ("wifi . 1:1 ack 1 dss(ack 1) fastclose", "wifi")] {
        // By a reset; or by an ACK, which a reset answers.
        let answer = if answer.is_empty() { "" } else { "70  > wifi R. 1:1 ack 1" };
        play(
            &mesh(),
            &format!(
                "{TWO}
                 70  < {options}
                 {answer}
                 70  > lte R. 1:1 ack 1
                 70  = events connected reset
                 70  = mptcp none"
            ),
        );
    }
    // With another's key it is but a reset of a subflow, or nothing.
    play(
        &mesh(),
        &format!(
            "{TWO}
             70  < wifi . 1:1 ack 1 dss(ack 1) fastclose(wrong)
             70  = subflows 2
             80  < wifi R. 1:1 ack 1 fastclose(wrong)
             80  = subflows 1
             80  = events connected"
        ),
    );
}

#[test]
fn aborted_in_every_state() {
    play(&plain(), "0 ! connect\n 0 ! abort\n 0 = events aborted\n 9 = mptcp none");
    play(
        &plain(),
        "0   ! connect
         0   > wifi S 0:0 capable
         5   ! abort
         5   = events aborted
         10  < wifi S. 0:0 ack 1 capable
         10  > wifi R 1:1",
    );
    play(
        &plain(),
        "0   ! listen
         0   < wifi S 0:0 capable
         0   > wifi S. 0:0 ack 1 capable
         5   ! abort
         5   > wifi R. 1:1 ack 1
         5   = events accepted aborted",
    );
    play(&plain(), &format!("{SERVER} 20 ! abort\n 20 > wifi R. 1:1 ack 1 fastclose\n 20 = mptcp none"));
    play(
        &plain(),
        &format!(
            "{SERVER}
             20   ! finish
             20   > wifi . 1:1 ack 1 dss(fin 1, ack 1)
             25   ! abort
             25   > wifi R. 1:1 ack 1 fastclose"
        ),
    );
    play(
        &plain(),
        &format!(
            "{SERVER}
             20   < wifi . 1:1 ack 1 dss(fin 1, ack 1)
             20   > wifi . 1:1 ack 1 dss(ack 2)
             25   ! abort
             25   > wifi R. 1:1 ack 1 fastclose"
        ),
    );
    // While both have finished and the subflow closes.
    play(
        &plain(),
        &format!(
            "{SERVER}
             20   ! finish
             20   > wifi . 1:1 ack 1 dss(fin 1, ack 1)
             30   < wifi . 1:1 ack 1 dss(fin 1, ack 2)
             30   > wifi F. 1:1 ack 1 dss(ack 2)
             35   ! abort
             35   > wifi R. 2:2 ack 1 fastclose"
        ),
    );
    // While a join is under way.
    play(
        &mesh(),
        &format!(
            "{CLIENT}
             20  ! up lte
             20  > lte S 0:0 join(1)
             25  ! abort
             25  > wifi R. 1:1 ack 1 fastclose
             25  = mptcp none"
        ),
    );
}

#[test]
fn a_subflow_is_reset() {
    play(
        &mesh(),
        &format!(
            "{TWO}
             60   ! write 1000
             60   > wifi . 1:1001 ack 1 dss(1 1 1000, ack 1)
             70   < wifi R. 1:1 ack 1 tcprst(4)
             70   > lte . 1:1001 ack 1 dss(1 1 1000, ack 1)
             // A new one after a while.
             1070 > lte . 1:1001 ack 1 dss(1 1 1000, ack 1)
             1070 > wifi S 0:0 join(0)"
        ),
    );
}
