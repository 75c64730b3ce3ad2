//! ADD_ADDR and REMOVE_ADDR (RFC 8684 §3.4).

use crate::script::{CLIENT, SERVER, TWO, mesh, plain, play, play_v6};

#[test]
fn a_server_announces_its_addresses() {
    // Until the echo, again: Linux's ADD_ADDR_RETRANS_MAX (net/mptcp/pm.c).
    play(
        &mesh(),
        "0    ! listen wifi/2
         0    < wifi S 0:0 capable
         0    > wifi S. 0:0 ack 1 capable
         10   < wifi . 1:1 ack 1 capable
         10   > wifi . 1:1 ack 1 add_addr(1 10.9.1.1)
         1010 > wifi . 1:1 ack 1 add_addr(1 10.9.1.1)
         1020 < wifi . 1:1 ack 1 dss(ack 1) add_addr(1 10.9.1.1 echo)
         1030 < wifi/2 S 0:0 join(0)
         1030 > wifi/2 S. 0:0 ack 1 join(1)
         1040 < wifi/2 . 1:1 ack 1 join
         1040 > wifi/2 . 1:1 ack 1 dss(ack 1)
         1040 = subflows 2",
    );
}

#[test]
fn announcements_are_given_up() {
    play(
        &mesh(),
        "0    ! listen wifi/2
         0    < wifi S 0:0 capable
         0    > wifi S. 0:0 ack 1 capable
         10   < wifi . 1:1 ack 1 capable
         10   > wifi . 1:1 ack 1 add_addr(1 10.9.1.1)
         1010 > wifi . 1:1 ack 1 add_addr(1 10.9.1.1)
         3010 > wifi . 1:1 ack 1 add_addr(1 10.9.1.1)
         7010 > wifi . 1:1 ack 1 add_addr(1 10.9.1.1)
         90000 = subflows 1",
    );
}

#[test]
fn an_announcement_goes_beside_data_that_has_no_room_for_it() {
    play(
        &mesh(),
        &format!(
            "{SERVER}
             20   ! write 100
             20   ! up wifi/2
             20   > wifi . 1:1 ack 1 add_addr(1 10.9.1.1)
             20   > wifi . 1:101 ack 1 dss(1 1 100, ack 1)"
        ),
    );
}

#[test]
fn a_client_joins_what_is_announced() {
    play(
        &mesh(),
        &format!(
            "{CLIENT}
             30  < wifi . 1:1 ack 1 dss(ack 1) add_addr(2 10.9.1.1)
             30  > wifi . 1:1 ack 1 add_addr(2 10.9.1.1 echo)
             30  > wifi/2 S 0:0 join(0)
             // Told again, echoed again.
             40  < wifi . 1:1 ack 1 dss(ack 1) add_addr(2 10.9.1.1)
             40  > wifi . 1:1 ack 1 add_addr(2 10.9.1.1 echo)
             50  < wifi/2 S. 0:0 ack 1 join(2)
             50  > wifi/2 . 1:1 ack 1 join"
        ),
    );
    // RFC 8684 §3.4.1: without the right HMAC it is ignored.
    play(
        &mesh(),
        &format!(
            "{CLIENT}
             30  < wifi . 1:1 ack 1 dss(ack 1) add_addr(2 10.9.1.1 wrong)
             90  = subflows 1"
        ),
    );
}

#[test]
fn over_ipv6() {
    // With timestamps an IPv6 address and its HMAC take all of the 40 bytes.
    let mut config = mesh();
    config.tcp.timestamps = true;
    play_v6(
        &config,
        "0    ! listen wifi/2
         0    < wifi S 0:0 capable
         0    > wifi S. 0:0 ack 1 capable
         10   < wifi . 1:1 ack 1 capable
         10   > wifi . 1:1 ack 1 add_addr(1 fd00:9:0:1::1)
         20   < wifi . 1:1 ack 1 dss(ack 1) add_addr(1 fd00:9:0:1::1 echo)
         20   ! write 2000
         20   > wifi . 1:1001 ack 1 dss(1 1 1000, ack 1)
         20   > wifi . 1001:2001 ack 1 dss(1001 1001 1000, ack 1)",
    );
}

#[test]
fn the_peer_withdraws_an_address() {
    // RFC 8684 §3.4.2.
    play(
        &mesh(),
        &format!(
            "{TWO}
             60  < wifi . 1:1 ack 1 dss(ack 1) add_addr(2 10.9.1.1)
             60  > wifi . 1:1 ack 1 add_addr(2 10.9.1.1 echo)
             60  > wifi/2 S 0:0 join(0)
             60  > lte/2 S 0:0 join(1)
             70  < wifi/2 S. 0:0 ack 1 join(2)
             70  > wifi/2 . 1:1 ack 1 join
             80  < wifi . 1:1 ack 1 dss(ack 1) remove_addr(2)
             80  > wifi/2 R. 1:1 ack 1
             80  = subflows 2"
        ),
    );
}

#[test]
fn the_host_loses_an_address_and_has_it_again() {
    play(
        &mesh(),
        &format!(
            "{TWO}
             60   ! down lte
             60   > wifi . 1:1 ack 1 remove_addr(1)
             60   = subflows 1
             5000 ! up lte
             5000 > lte S 0:0 join(1)"
        ),
    );
}

#[test]
fn the_last_subflow_goes_before_the_next_is_there() {
    // Break before make: the connection waits for close_timeout (Linux's net.mptcp.close_timeout).
    play(
        &mesh(),
        &format!(
            "{CLIENT}
             20   ! write 100
             20   > wifi . 1:101 ack 1 dss(1 1 100, ack 1)
             30   ! down wifi
             30   = subflows 0
             30   = mptcp true
             9000 ! up lte
             9000 > lte S 0:0 join(1)
             9010 < lte S. 0:0 ack 1 join(0)
             9010 > lte . 1:1 ack 1 join
             9020 < lte . 1:1 ack 1 dss(ack 1)
             9020 > lte . 1:1 ack 1 remove_addr(0)
             9020 > lte . 1:101 ack 1 dss(1 1 100, ack 1)
             9030 < lte . 1:1 ack 101 dss(ack 101)
             9030 = waiting 0"
        ),
    );
    play(
        &mesh(),
        &format!(
            "{CLIENT}
             20    ! down wifi
             60019 = mptcp true
             60021 = events connected failed
             60021 = mptcp none"
        ),
    );
    // The server's view: its subflow dies, nobody comes.
    play(
        &plain(),
        &format!(
            "{SERVER}
             20    < wifi R. 1:1 ack 1
             60021 = events accepted connected reset"
        ),
    );
}

#[test]
fn an_address_that_is_back_before_the_peer_heard_that_it_went_is_not_withdrawn() {
    // RFC 8684 §3.4.2: REMOVE_ADDR(0) would end what was just joined from that very address.
    play(
        &mesh(),
        &format!(
            "{CLIENT}
             30   ! down wifi
             30   = subflows 0
             9000 ! up wifi
             9000 > wifi S 0:0 join(0)
             9010 < wifi S. 0:0 ack 1 join(0)
             9010 > wifi . 1:1 ack 1 join
             9020 < wifi . 1:1 ack 1 dss(ack 1)
             9020 ! write 100
             9020 > wifi . 1:101 ack 1 dss(1 1 100, ack 1)
             9030 < wifi . 1:1 ack 101 dss(ack 101)
             9030 = subflows 1
             9030 = waiting 0"
        ),
    );
}

#[test]
fn an_announcement_waits_for_a_subflow() {
    play(
        &mesh(),
        "0     ! listen
         0     < wifi S 0:0 capable
         0     > wifi S. 0:0 ack 1 capable
         10    < wifi . 1:1 ack 1 capable
         20    < wifi R. 1:1 ack 1
         30    ! up wifi/2
         5000  < lte S 0:0 join(1)
         5000  > lte S. 0:0 ack 1 join(0)
         5010  < lte . 1:1 ack 1 join
         5010  > lte . 1:1 ack 1 add_addr(1 10.9.1.1)",
    );
}
