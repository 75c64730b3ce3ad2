//! A router on the way takes no packet as large (RFC 1191 §6.4, RFC 8201 §5.4).

use crate::script::{CLIENT, plain, play};

/// Packets of 640 bytes leave 600 for options and data, of which DSS takes 24.
#[test]
fn what_is_too_big_is_sent_again_in_smaller_segments() {
    play(
        &plain(),
        &format!(
            "{CLIENT}
             20  ! write 2500
             20  > wifi . 1:1001 ack 1 dss(1 1 1000, ack 1)
             20  > wifi . 1001:2001 ack 1 dss(1001 1001 1000, ack 1)
             20  > wifi . 2001:2501 ack 1 dss(2001 2001 500, ack 1)
             25  ! too_big wifi 1 640
             25  > wifi . 1:577 ack 1 dss(1 1 576, ack 1)
             25  > wifi . 577:1001 ack 1 dss(577 577 424, ack 1)
             25  > wifi . 1001:1577 ack 1 dss(1001 1001 576, ack 1)
             25  > wifi . 1577:2001 ack 1 dss(1577 1577 424, ack 1)
             30  < wifi . 1:1 ack 2501 dss(ack 2501)
             30  ! write 600
             30  > wifi . 2501:3077 ack 1 dss(2501 2501 576, ack 1)
             30  > wifi . 3077:3101 ack 1 dss(3077 3077 24, ack 1)"
        ),
    );
}

/// What was not sent, or is acknowledged, no router can have refused (RFC 5927 §7.1); nor does one make packets larger.
#[test]
fn who_knows_nothing_of_the_flight_is_not_believed() {
    for line in ["too_big wifi 1001 640", "too_big wifi 0 640", "too_big wifi 5000 640", "too_big wifi 1 1500"] {
        play(
            &plain(),
            &format!(
                "{CLIENT}
                 20  ! write 1000
                 20  > wifi . 1:1001 ack 1 dss(1 1 1000, ack 1)
                 25  ! {line}
                 30  < wifi . 1:1 ack 1001 dss(ack 1001)
                 30  ! write 1000
                 30  > wifi . 1001:2001 ack 1 dss(1001 1001 1000, ack 1)"
            ),
        );
    }
}

/// Linux takes 552 for the least (`ip_rt_min_pmtu`): who asks for less gets that.
#[test]
fn packets_do_not_become_tiny() {
    play(
        &plain(),
        &format!(
            "{CLIENT}
             20  ! write 500
             20  > wifi . 1:501 ack 1 dss(1 1 500, ack 1)
             25  ! too_big wifi 1 68
             25  > wifi . 1:489 ack 1 dss(1 1 488, ack 1)
             25  > wifi . 489:501 ack 1 dss(489 489 12, ack 1)"
        ),
    );
}
