//! Options that are stripped on the way, and payload that is altered (RFC 8684 §3.7).

use crate::script::{mesh, plain, play};

#[test]
fn stripped_from_the_syn_or_its_answer() {
    play(
        &plain(),
        "0   ! listen
         0   < wifi S 0:0
         0   > wifi S. 0:0 ack 1
         10  < wifi . 1:101 ack 1
         10  > wifi . 1:1 ack 101
         10  = read 100
         10  = corrupt 0
         10  ! write 100
         10  > wifi . 1:101 ack 101",
    );
    play(
        &plain(),
        "0   ! connect
         0   > wifi S 0:0 capable
         10  < wifi S. 0:0 ack 1
         10  > wifi . 1:1 ack 1
         10  ! write 1024
         10  > wifi . 1:1025 ack 1
         20  < wifi . 1:101 ack 1025
         20  > wifi . 1025:1025 ack 101
         20  = read 100
         20  = waiting 0
         20  = mptcp false",
    );
}

#[test]
fn stripped_from_the_third_packet() {
    play(
        &plain(),
        "0   ! listen
         0   < wifi S 0:0 capable
         0   > wifi S. 0:0 ack 1 capable
         10  < wifi . 1:1 ack 1
         10  = events accepted connected
         10  = mptcp false
         20  < wifi . 1:101 ack 1
         20  > wifi . 1:1 ack 101
         20  = read 100
         20  ! write 100
         20  > wifi . 1:101 ack 101",
    );
    // The client learns by an answer without a DATA_ACK.
    play(
        &plain(),
        "0   ! connect
         0   > wifi S 0:0 capable
         10  < wifi S. 0:0 ack 1 capable
         10  > wifi . 1:1 ack 1 capable
         10  ! write 1500
         10  > wifi . 1:1001 ack 1 capable
         10  > wifi . 1001:1501 ack 1 dss(1001 1001 500, ack 1)
         20  < wifi . 1:1 ack 1001
         20  = mptcp false
         20  = waiting 500
         21  < wifi . 1:101 ack 1501
         21  > wifi . 1501:1501 ack 101
         21  = read 100
         21  = waiting 0",
    );
}

#[test]
fn stripped_half_way_from_the_only_subflow() {
    // What came and went so far is the subflow's bytes one for one, so that both go on as TCP.
    play(
        &plain(),
        "0   ! listen
         0   < wifi S 0:0 capable
         0   > wifi S. 0:0 ack 1 capable
         10  < wifi . 1:101 ack 1 capable
         10  > wifi . 1:1 ack 101 dss(ack 101)
         10  ! write 500
         10  > wifi . 1:501 ack 101 dss(1 1 500, ack 101)
         20  < wifi . 101:201 ack 1
         20  > wifi . 501:501 ack 201
         20  = mptcp false
         20  = read 200
         20  = corrupt 0
         30  < wifi . 201:201 ack 501
         30  = waiting 0
         30  ! write 100
         30  > wifi . 501:601 ack 201
         30  ! finish
         30  > wifi F. 601:601 ack 201
         40  < wifi F. 201:201 ack 602
         40  > wifi . 602:602 ack 202
         40  = events accepted connected finished delivered complete",
    );
    // In the direction of the acknowledgements alone.
    play(
        &plain(),
        "0   ! listen
         0   < wifi S 0:0 capable
         0   > wifi S. 0:0 ack 1 capable
         10  < wifi . 1:1 ack 1 capable
         10  ! write 500
         10  > wifi . 1:501 ack 1 dss(1 1 500, ack 1)
         20  < wifi . 1:1 ack 501
         20  = mptcp false
         20  = waiting 0
         20  ! write 100
         20  > wifi . 501:601 ack 1",
    );
}

/// A server with two subflows.
const TWO: &str = "0   ! listen
         0   < wifi S 0:0 capable
         0   > wifi S. 0:0 ack 1 capable
         10  < wifi . 1:1 ack 1 capable
         10  < lte S 0:0 join(1)
         10  > lte S. 0:0 ack 1 join(0)
         30  < lte . 1:1 ack 1 join
         30  > lte . 1:1 ack 1 dss(ack 1)
         ";

/// The same, with checksums.
const TWO_CHECKED: &str = "0   ! listen
         0   < wifi S 0:0 capable(checksum)
         0   > wifi S. 0:0 ack 1 capable(checksum)
         10  < wifi . 1:1 ack 1 capable(checksum)
         10  < lte S 0:0 join(1)
         10  > lte S. 0:0 ack 1 join(0)
         30  < lte . 1:1 ack 1 join
         30  > lte . 1:1 ack 1 dss(ack 1)
         ";

#[test]
fn stripped_from_one_of_several_subflows() {
    // Reason 6 of MP_TCPRST: interference by a middlebox (RFC 8684 §3.6).
    play(
        &plain(),
        &format!(
            "{TWO}
             40  < lte . 1:101 ack 1
             40  > lte R. 1:1 ack 101 tcprst(6)
             40  = subflows 1
             50  < wifi . 1:101 ack 1 dss(1 1 100, ack 1)
             50  > wifi . 1:1 ack 101 dss(ack 101)
             50  = read 100
             50  = mptcp true"
        ),
    );
    // What the subflow had is given to the other.
    play(
        &plain(),
        &format!(
            "{TWO}
             40  ! write 100
             40  > wifi . 1:101 ack 1 dss(1 1 100, ack 1)
             60  < wifi . 1:1 ack 101
             60  > wifi R. 101:101 ack 1 tcprst(6)
             60  > lte . 1:101 ack 1 dss(1 1 100, ack 1)
             70  < lte . 1:1 ack 101 dss(ack 101)
             70  = waiting 0"
        ),
    );
}

#[test]
fn the_last_of_several_does_not_go_on_as_tcp() {
    // Its bytes are not the connection's one for one: what comes without a mapping may be anything.
    play(
        &plain(),
        &format!(
            "{TWO}
             40  < lte R. 1:1 ack 1
             50  < wifi . 1:101 ack 1
             50  > wifi R. 1:1 ack 101 tcprst(6)
             50  = subflows 0
             50  = read 0"
        ),
    );
}

#[test]
fn a_wrong_checksum_on_one_of_several_subflows() {
    // RFC 8684 §3.7: RST with MP_FAIL; the data comes again by another.
    play(
        &plain(),
        &format!(
            "{TWO_CHECKED}
             40  < lte . 1:101 ack 1 dss(1 1 100, ack 1, sum) bad
             40  > lte R. 1:1 ack 101 fail(1) tcprst(6)
             50  < wifi . 1:101 ack 1 dss(1 1 100, ack 1, sum)
             50  > wifi . 1:1 ack 101 dss(ack 101)
             50  = read 100
             50  = corrupt 0"
        ),
    );
    // And when the peer finds it.
    play(
        &plain(),
        &format!(
            "{TWO_CHECKED}
             40  ! write 100
             40  > wifi . 1:101 ack 1 dss(1 1 100, ack 1, sum)
             60  < wifi R. 1:1 ack 101 fail(1) tcprst(6)
             60  > lte . 1:101 ack 1 dss(1 1 100, ack 1, sum)
             60  = subflows 1"
        ),
    );
}

#[test]
fn a_wrong_checksum_on_the_only_subflow() {
    // RFC 8684 §3.7: MP_FAIL on an ACK, until the infinite mapping begins what failed again; both ways.
    play(
        &plain(),
        "0   ! listen
         0   < wifi S 0:0 capable(checksum)
         0   > wifi S. 0:0 ack 1 capable(checksum)
         10  < wifi . 1:101 ack 1 capable(checksum)
         10  > wifi . 1:1 ack 101 dss(ack 101)
         20  < wifi . 101:201 ack 1 dss(101 101 100, ack 1, sum) bad
         20  > wifi . 1:1 ack 201 fail(101) dss(ack 101)
         // It was lost: the peer goes on, and MP_FAIL is sent again.
         30  < wifi . 201:301 ack 1 dss(201 201 100, ack 1, sum)
         30  > wifi . 1:1 ack 301 fail(101) dss(ack 101)
         40  < wifi . 301:301 ack 1 fail(1)
         40  > wifi . 1:1 ack 301 fail(101)
         50  < wifi . 301:501 ack 1 dss(101 301 infinite)
         50  > wifi . 1:1 ack 501
         60  < wifi . 501:601 ack 1
         60  > wifi . 1:1 ack 601
         60  = read 400
         60  = corrupt 0
         60  = mptcp false
         60  ! write 1100
         60  > wifi . 1:997 ack 601 dss(1 1 infinite)
         60  > wifi . 997:1101 ack 601
         70  < wifi . 601:601 ack 1101
         70  = waiting 0",
    );
}

#[test]
fn what_else_is_due_goes_beside_mp_fail() {
    let begin = "0    ! listen wifi/2
         0    < wifi S 0:0 capable(checksum)
         0    > wifi S. 0:0 ack 1 capable(checksum)
         10   < wifi . 1:101 ack 1 capable(checksum)
         10   > wifi . 1:1 ack 101 add_addr(1 10.9.1.1)
         20   < wifi . 101:201 ack 1 dss(101 101 100, ack 1, sum) bad
         20   > wifi . 1:1 ack 201 fail(101) dss(ack 101)";
    play(&mesh(), &format!("{begin}\n 1010 > wifi . 1:1 ack 201 add_addr(1 10.9.1.1)"));
    play(&mesh(), &format!("{begin}\n 30 ! finish\n 30 > wifi . 1:1 ack 201 dss(fin 1, ack 101, sum)"));
}

#[test]
fn the_peer_finds_a_wrong_checksum_on_the_only_subflow() {
    // What is not acknowledged at connection level begins again; what it was sent in before is no data.
    play(
        &plain(),
        "0   ! listen
         0   < wifi S 0:0 capable(checksum)
         0   > wifi S. 0:0 ack 1 capable(checksum)
         10  < wifi . 1:1 ack 1 capable(checksum)
         10  ! write 1500
         10  > wifi . 1:1001 ack 1 dss(1 1 1000, ack 1, sum)
         10  > wifi . 1001:1501 ack 1 dss(1001 1001 500, ack 1, sum)
         20  < wifi . 1:1 ack 1501 dss(ack 1001) fail(1001)
         20  > wifi . 1501:1501 ack 1 fail(1)
         20  > wifi . 1501:2001 ack 1 dss(1001 1501 infinite)
         20  = mptcp false
         // Until the peer's infinite mapping comes, nothing that it sends is data.
         30  < wifi . 1:101 ack 2001 dss(1 1 100, ack 1001, sum)
         30  > wifi . 2001:2001 ack 101 fail(1)
         30  = waiting 0
         30  = read 0
         40  < wifi . 101:201 ack 2001 dss(1 101 infinite)
         40  > wifi . 2001:2001 ack 201
         50  < wifi F. 201:301 ack 2001
         50  > wifi . 2001:2001 ack 302
         50  = read 200
         50  = events accepted connected finished",
    );
}

#[test]
fn a_peer_that_has_nothing_to_map_infinitely() {
    // It never sent data, so that none was discarded: its end is its end.
    play(
        &plain(),
        "0   ! listen
         0   < wifi S 0:0 capable(checksum)
         0   > wifi S. 0:0 ack 1 capable(checksum)
         10  < wifi . 1:1 ack 1 capable(checksum)
         10  ! write 100
         10  > wifi . 1:101 ack 1 dss(1 1 100, ack 1, sum)
         20  < wifi . 1:1 ack 101 dss(ack 1) fail(1)
         20  > wifi . 101:101 ack 1 fail(1)
         20  > wifi . 101:201 ack 1 dss(1 101 infinite)
         30  < wifi F. 1:1 ack 201
         30  > wifi . 201:201 ack 2 fail(1)
         30  = waiting 0
         30  = events accepted connected finished",
    );
}

#[test]
fn an_infinite_mapping_that_overtakes() {
    play(
        &plain(),
        "0   ! listen
         0   < wifi S 0:0 capable(checksum)
         0   > wifi S. 0:0 ack 1 capable(checksum)
         10  < wifi . 1:1 ack 1 capable(checksum)
         20  < wifi . 1:101 ack 1 dss(1 1 100, ack 1, sum) bad
         20  > wifi . 1:1 ack 101 fail(1) dss(ack 1)
         40  < wifi . 201:301 ack 1 dss(1 201 infinite)
         40  > wifi . 1:1 ack 101
         50  < wifi . 101:201 ack 1 dss(101 101 100, ack 1, sum)
         50  > wifi . 1:1 ack 301
         50  = read 100
         50  = corrupt 0",
    );
}

#[test]
fn joins_under_way_end_with_a_fallback() {
    play(
        &mesh(),
        "0   ! connect
         0   > wifi S 0:0 capable
         10  < wifi S. 0:0 ack 1 capable
         10  > wifi . 1:1 ack 1 capable
         20  < wifi . 1:101 ack 1 dss(1 1 100, ack 1)
         20  > wifi . 1:1 ack 101 dss(ack 101)
         20  ! up lte
         20  > lte S 0:0 join(1)
         30  < wifi . 101:201 ack 1
         30  > wifi . 1:1 ack 201
         30  = mptcp false
         40  < lte S. 0:0 ack 1 join(0)
         40  > lte R 1:1 tcprst(1)",
    );
}

#[test]
fn a_fin_without_options_is_no_end_of_data_that_speaks_mptcp() {
    // The peer fell back and closed; this end has data under way and several subflows behind it.
    play(
        &plain(),
        &format!(
            "{TWO}
             40  < lte R. 1:1 ack 1
             50  < wifi F. 1:1 ack 1
             50  > wifi R. 1:1 ack 2 tcprst(6)
             50  = events accepted connected"
        ),
    );
}

#[test]
fn a_wrong_checksum_before_a_further_subflow_is_there() {
    // Another can do without the one that failed, whose bytes are no data until then.
    play(
        &plain(),
        "0   ! listen
         0   < wifi S 0:0 capable(checksum)
         0   > wifi S. 0:0 ack 1 capable(checksum)
         10  < wifi . 1:1 ack 1 capable(checksum)
         10  < lte S 0:0 join(1)
         10  > lte S. 0:0 ack 1 join(0)
         20  < wifi . 1:101 ack 1 dss(1 1 100, ack 1, sum) bad
         20  > wifi . 1:1 ack 101 fail(1) dss(ack 1)
         30  < lte . 1:1 ack 1 join
         30  > wifi R. 1:1 ack 101 fail(1) tcprst(6)
         30  > lte . 1:1 ack 1 dss(ack 1)
         40  < lte . 1:101 ack 1 dss(1 1 100, ack 1, sum)
         40  > lte . 1:1 ack 101 dss(ack 101)
         40  = read 100",
    );
}

#[test]
fn options_that_vanish_while_the_window_is_closed() {
    play(
        &plain(),
        "0    ! listen
         0    < wifi S 0:0 capable win(1000)
         0    > wifi S. 0:0 ack 1 capable
         10   < wifi . 1:1 ack 1 capable win(1000)
         10   ! write 1500
         10   > wifi . 1:1001 ack 1 dss(1 1 1000, ack 1)
         20   < wifi . 1:1 ack 1001 dss(ack 1001) win(0)
         1020 > wifi . 1000:1000 ack 1 dss(ack 1)
         1030 < wifi . 1:1 ack 1001 win(2000)
         1030 > wifi . 1001:1501 ack 1
         1030 = mptcp false",
    );
}
