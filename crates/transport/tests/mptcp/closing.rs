//! DATA_FIN (RFC 8684 §3.3.3).

use crate::script::{SERVER, TWO, mesh, plain, play};

#[test]
fn data_fin_with_the_last_bytes() {
    play(
        &plain(),
        &format!(
            "{SERVER}
             20  ! write 500
             20  ! finish
             20  > wifi . 1:501 ack 1 dss(1 1 500 fin, ack 1)
             30  < wifi . 1:101 ack 501 dss(1 1 100 fin, ack 502)
             30  > wifi F. 501:501 ack 101 dss(ack 102)
             30  = events accepted connected finished delivered
             40  < wifi F. 101:101 ack 502 dss(ack 502)
             40  > wifi . 502:502 ack 102 dss(ack 102)
             40  = events complete"
        ),
    );
}

#[test]
fn data_fin_alone_and_half_close() {
    // Mapped to no byte of the subflow: subflow sequence number 0, length 1.
    play(
        &plain(),
        &format!(
            "{SERVER}
             20   ! finish
             20   > wifi . 1:1 ack 1 dss(fin 1, ack 1)
             30   < wifi . 1:101 ack 1 dss(1 1 100, ack 2)
             30   > wifi . 1:1 ack 101 dss(ack 101)
             30   = events accepted connected delivered
             // The other direction goes on as long as it likes.
             9000 < wifi . 101:201 ack 1 dss(101 101 100, ack 2)
             9000 > wifi . 1:1 ack 201 dss(ack 201)
             9010 < wifi . 201:201 ack 1 dss(fin 201, ack 2)
             9010 > wifi F. 1:1 ack 201 dss(ack 202)
             9010 = read 200
             9010 = events finished"
        ),
    );
}

#[test]
fn data_fin_that_is_lost_goes_on_every_subflow() {
    // One may have failed unnoticed: an ACK without data is not missed by TCP.
    play(
        &mesh(),
        &format!(
            "{TWO}
             60   ! finish
             60   > wifi . 1:1 ack 1 dss(fin 1, ack 1)
             1060 > wifi . 1:1 ack 1 dss(fin 1, ack 1)
             1060 > lte . 1:1 ack 1 dss(fin 1, ack 1)
             1070 < lte . 1:1 ack 1 dss(ack 2)
             1070 = events connected delivered"
        ),
    );
}

#[test]
fn nobody_acknowledges_the_data_fin() {
    let mut config = plain();
    config.tcp.retries = 2;
    play(
        &config,
        &format!(
            "{SERVER}
             20   ! finish
             20   > wifi . 1:1 ack 1 dss(fin 1, ack 1)
             1020 > wifi . 1:1 ack 1 dss(fin 1, ack 1)
             3020 > wifi . 1:1 ack 1 dss(fin 1, ack 1)
             7020 > wifi R. 1:1 ack 1
             7020 = events accepted connected timed-out"
        ),
    );
}

#[test]
fn both_ends_finish_at_once() {
    play(
        &plain(),
        &format!(
            "{SERVER}
             20   ! finish
             20   > wifi . 1:1 ack 1 dss(fin 1, ack 1)
             21   < wifi . 1:1 ack 1 dss(fin 1, ack 1)
             21   > wifi . 1:1 ack 1 dss(fin 1, ack 2)
             30   < wifi . 1:1 ack 1 dss(fin 1, ack 2)
             30   > wifi F. 1:1 ack 1 dss(ack 2)
             31   < wifi F. 1:1 ack 1 dss(ack 2)
             31   > wifi . 2:2 ack 2 dss(ack 2)
             40   < wifi . 2:2 ack 2 dss(ack 2)
             40   = events accepted connected finished delivered complete"
        ),
    );
}

#[test]
fn a_data_fin_is_acknowledged_when_all_before_it_is_there() {
    play(
        &plain(),
        &format!(
            "{SERVER}
             20   < wifi . 101:201 ack 1 dss(101 101 100 fin, ack 1)
             20   > wifi . 1:1 ack 1 dss(ack 1)
             30   < wifi . 1:101 ack 1 dss(1 1 100, ack 1)
             30   > wifi . 1:1 ack 201 dss(ack 202)
             30   = events accepted connected finished
             // It comes again.
             40   < wifi . 201:201 ack 1 dss(fin 201, ack 1)
             40   > wifi . 1:1 ack 201 dss(ack 202)"
        ),
    );
}

#[test]
fn a_fin_without_data_fin_ends_a_subflow_only() {
    // RFC 8684 §3.3.3.
    play(
        &mesh(),
        &format!(
            "{TWO}
             70   < lte F. 1:1 ack 1 dss(ack 1)
             70   > lte F. 1:1 ack 2 dss(ack 1)
             80   < lte . 2:2 ack 2
             80   = subflows 1
             80   = events connected
             80   ! write 100
             80   > wifi . 1:101 ack 1 dss(1 1 100, ack 1)"
        ),
    );
}

#[test]
fn fins_that_are_lost() {
    let mut config = plain();
    config.tcp.retries = 2;
    play(
        &config,
        &format!(
            "{SERVER}
             20   ! finish
             20   > wifi . 1:1 ack 1 dss(fin 1, ack 1)
             30   < wifi . 1:1 ack 1 dss(fin 1, ack 2)
             30   > wifi F. 1:1 ack 1 dss(ack 2)
             1030 > wifi F. 1:1 ack 1 dss(ack 2)
             3030 > wifi F. 1:1 ack 1 dss(ack 2)
             7030 = events accepted connected finished delivered complete"
        ),
    );
    // The peer acknowledges ours and never sends its own: it is not waited for for ever.
    play(
        &config,
        &format!(
            "{SERVER}
             20   ! finish
             20   > wifi . 1:1 ack 1 dss(fin 1, ack 1)
             30   < wifi . 1:1 ack 1 dss(fin 1, ack 2)
             30   > wifi F. 1:1 ack 1 dss(ack 2)
             40   < wifi . 1:1 ack 2 dss(ack 2)
             60041 = events accepted connected finished delivered complete"
        ),
    );
}

#[test]
fn finished_before_it_was_open() {
    play(
        &plain(),
        "0   ! connect
         0   ! write 100
         0   ! finish
         0   > wifi S 0:0 capable
         10  < wifi S. 0:0 ack 1 capable
         10  > wifi . 1:1 ack 1 capable
         10  > wifi . 1:101 ack 1 capable
         10  > wifi . 101:101 ack 1 dss(fin 101, ack 1)
         20  < wifi . 1:1 ack 101 dss(ack 102)
         20  = events connected delivered",
    );
}
