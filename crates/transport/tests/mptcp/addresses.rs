//! ADD_ADDR and REMOVE_ADDR (RFC 8684 §3.4).

use crate::script::{CLIENT, SERVER, TWO, mesh, plain, play, play_v6};
use std::net::IpAddr;
use transport::path_manager::LocalEndpoint;

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

/// A server whose second subflow is a backup and whose first, with a window of a segment, was given two when its address goes.
const WITHDRAWN: &str = "20   < lte S 0:0 join(1 backup)
    20   > lte S. 0:0 ack 1 join(0)
    30   < lte . 1:1 ack 1 join
    30   > lte . 1:1 ack 1 dss(ack 1)
    40   ! write 2000
    40   > wifi . 1:1001 ack 1 dss(1 1 1000, ack 1)
    50   < lte . 1:1 ack 1 remove_addr(0)
    50   > lte . 1:1001 ack 1 dss(1 1 1000, ack 1)
    50   = subflows 1
    60   < lte . 1:1 ack 1001 dss(ack 1001)
    60   > lte . 1001:2001 ack 1 dss(1001 1001 1000, ack 1)
    70   < lte . 1:1 ack 2001 dss(ack 2001)
    70   = waiting 0
    ";

#[test]
fn upstream_linux_keeps_the_first_subflow_when_its_address_goes() {
    // net/mptcp/pm.c, mptcp_pm_rm_addr_recv; net/mptcp/protocol.c, __mptcp_close_ssk: all goes over the other at once, and what the first
    // holds once more when there is a way again, with the FIN behind it.
    let mut config = plain();
    config.mptcp.scheduler = "linux".into();
    config.tcp.initial_window_packets = 1;
    play(
        &config,
        &format!(
            "{SERVER}
             {WITHDRAWN}
             1040 > wifi . 1:1001 ack 1 dss(1 1 1000, ack 1)
             1050 < wifi . 1:1 ack 1001 dss(ack 2001)
             1050 > wifi F. 1001:2001 ack 1 dss(1001 1001 1000, ack 1)
             // The client's half waited likewise, and its data counts no more.
             1060 < wifi F. 1:101 ack 2002 dss4(1 1 100, ack 2001)
             1060 > wifi . 2002:2002 ack 102 dss(ack 1)
             1060 = read 0
             // New data goes by the other.
             1070 ! write 100
             1070 > lte . 2001:2101 ack 1 dss(2001 2001 100, ack 1)"
        ),
    );
}

#[test]
fn a_client_of_upstream_linux_acknowledges_what_comes_by_the_first_subflow_and_takes_it_for_no_data() {
    // `closing` in net/mptcp/protocol.c. Its path manager knows nothing of the address, and opens no other subflow from it.
    let mut config = mesh();
    config.mptcp.path_manager.name = "linux".into();
    config.mptcp.path_manager.endpoints = vec![LocalEndpoint {
        address: IpAddr::from([10, 0, 1, 2]),
        subflow: true,
        signal: false,
        backup: false,
        fullmesh: false,
        budget_bytes: None,
        cost_per_mb: 0.0,
    }];
    play(
        &config,
        &format!(
            "{TWO}
             70   ! down wifi
             70   > lte . 1:1 ack 1 remove_addr(0)
             70   = subflows 1
             // Its FIN went nowhere.
             900  ! up wifi
             1070 > wifi F. 1:1 ack 1 dss(ack 1)
             1080 < wifi . 1:1001 ack 2 dss4(1 1 1000, ack 1)
             1080 > wifi . 2:2 ack 1001 dss(ack 1)
             1080 = read 0
             1090 < lte . 1:1001 ack 1 dss(1 1 1000, ack 1)
             1090 > lte . 1:1 ack 1001 dss(ack 1001)
             1090 = read 1000
             // What is left of it does not keep the connection open.
             1100 < lte . 1001:1001 ack 1 dss(fin 1001, ack 1)
             1100 > lte . 1:1 ack 1001 dss(ack 1002)
             1100 ! finish
             1100 > lte . 1:1 ack 1001 dss(fin 1, ack 1002)
             1110 < lte . 1001:1001 ack 1 dss(ack 2)
             1110 > lte F. 1:1 ack 1001 dss(ack 1002)
             1120 < lte F. 1001:1001 ack 2 dss(ack 2)
             1120 > wifi R. 2:2 ack 1001
             1120 > lte . 2:2 ack 1002 dss(ack 1002)
             1120 = events connected finished delivered complete"
        ),
    );
}
