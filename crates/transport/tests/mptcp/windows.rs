//! The connection's window, and the memory behind it (RFC 8684 §3.3.4 and §3.3.5).

use crate::script::{SERVER, TWO, mesh, plain, play};
use transport::Config;
use transport::config::ReceiveBuffer;

#[test]
fn the_window_is_the_connections_and_does_not_shrink() {
    // RFC 8684 §3.3.4: it counts from the DATA_ACK.
    play(
        &plain(),
        &format!(
            "{SERVER}
             20   ! write 5000
             20   > wifi . 1:1001 ack 1 dss(1 1 1000, ack 1)
             20   > wifi . 1001:2001 ack 1 dss(1001 1001 1000, ack 1)
             20   > wifi . 2001:3001 ack 1 dss(2001 2001 1000, ack 1)
             20   > wifi . 3001:4001 ack 1 dss(3001 3001 1000, ack 1)
             20   > wifi . 4001:5001 ack 1 dss(4001 4001 1000, ack 1)
             // It closes behind what was sent, which goes on all the same.
             30   < wifi . 1:1 ack 5001 dss(ack 5001) win(0)
             30   ! write 1000
             30   > wifi . 5001:6001 ack 1 dss(5001 5001 1000, ack 1)"
        ),
    );
    play(
        &plain(),
        "0    ! listen
         0    < wifi S 0:0 capable win(1500)
         0    > wifi S. 0:0 ack 1 capable
         10   < wifi . 1:1 ack 1 capable win(1500)
         10   ! write 3000
         10   > wifi . 1:1001 ack 1 dss(1 1 1000, ack 1)
         20   < wifi . 1:1 ack 1001 dss(ack 1001) win(500)
         20   > wifi . 1001:1501 ack 1 dss(1001 1001 500, ack 1)
         30   < wifi . 1:1 ack 1501 dss(ack 1501) win(0)
         // Closed: probed, ever more slowly (RFC 9293 §3.8.6.1).
         1030 > wifi . 1500:1500 ack 1 dss(ack 1)
         1040 < wifi . 1:1 ack 1501 dss(ack 1501) win(0)
         3030 > wifi . 1500:1500 ack 1 dss(ack 1)
         3040 < wifi . 1:1 ack 1501 dss(ack 1501) win(2000)
         3040 > wifi . 1501:2501 ack 1 dss(1501 1501 1000, ack 1)
         3040 > wifi . 2501:3001 ack 1 dss(2501 2501 500, ack 1)",
    );
}

#[test]
fn a_subflow_tells_what_memory_is_left_for() {
    // Captures of Linux 6.18: what fills a hole is not read yet when its ACK leaves, with all that waited for it; and what a
    // subflow announced is no promise, while its own TCP repairs a loss and another subflow brings what comes next.
    let mut config = mesh();
    config.tcp.receive_buffer_bytes = 62_000;
    play(
        &config,
        &format!(
            "{TWO}
             70  < lte . 1:1001 ack 1 dss(1001 1 1000, ack 1)
             70  > lte . 1:1 ack 1001 dss(ack 1)
             71  < wifi . 1:1001 ack 1 dss(1 1 1000, ack 1)
             71  > wifi . 1:1 ack 1001 dss(ack 2001) win(60000)
             // Its own hole holds it back, and more than a first window it has not grown to, in whole segments.
             72  < wifi . 2001:3001 ack 1 dss(3001 2001 1000, ack 1)
             72  > wifi . 1:1 ack 1001 dss(ack 2001) win(60000)
             73  < lte . 1001:2001 ack 1 dss(10001 1001 1000, ack 1)
             73  > lte . 1:1 ack 2001 dss(ack 2001) win(60000)
             74  < lte . 2001:3001 ack 1 dss(11001 2001 1000, ack 1)
             74  > lte . 1:1 ack 3001 dss(ack 2001) win(60000)
             75  < lte . 3001:4001 ack 1 dss(12001 3001 1000, ack 1)
             75  > lte . 1:1 ack 4001 dss(ack 2001) win(60000)
             76  < lte . 4001:5001 ack 1 dss(2001 4001 1000, ack 1)
             76  > lte . 1:1 ack 5001 dss(ack 3001) win(59000)
             // 60000 again would be beyond what memory is left for.
             77  < wifi . 3001:4001 ack 1 dss(4001 3001 1000, ack 1)
             77  > wifi . 1:1 ack 1001 dss(ack 3001) win(59000)"
        ),
    );
}

// net/mptcp/protocol.c, __mptcp_move_skbs_from_subflow: nothing is taken from a subflow while segments occupy more than the buffer. 29
// captures of Linux 6.18 end like this: what fills the hole comes again and again, and only its subflow acknowledges it.
#[test]
fn upstream_linux_stops_where_data_beyond_a_hole_fills_its_memory() {
    let shared = ReceiveBuffer::Shared;
    for (buffer, segments, ends) in [(shared, 14, 2501), (shared, 15, 1001), (ReceiveBuffer::PerSubflow, 15, 2601)] {
        let mut config = mesh();
        config.mptcp.receive_buffer = buffer;
        config.mptcp.scheduler = "linux".into();
        config.tcp.receive_buffer_bytes = 12_000;
        config.tcp.adv_win_scale = None;
        // Each of them occupies 832 bytes.
        let mut script = format!(
            "{TWO}
             70 < wifi . 1:1001 ack 1 dss(1 1 1000, ack 1)
             70 > wifi . 1:1 ack 1001 dss(ack 1001)
            "
        );
        for first in (1..1 + 100 * segments).step_by(100) {
            let end = first + 100;
            script += &format!("71 < lte . {first}:{end} ack 1 dss({} {first} 100, ack 1)\n", first + 1100);
            script += &format!("71 > lte . 1:1 ack {end} dss(ack 1001)\n");
        }
        script += &format!(
            "80 < wifi . 1001:1101 ack 1 dss(1001 1001 100, ack 1)
             80 > wifi . 1:1 ack 1101 dss(ack {ends})
             280 < wifi . 1101:1201 ack 1 dss(1001 1101 100, ack 1)
             280 > wifi . 1:1 ack 1201 dss(ack {ends})"
        );
        play(&config, &script);
    }
}

#[test]
fn upstream_linux_reads_before_a_second_segment_is_acknowledged() {
    // net/ipv4/tcp_input.c, __tcp_ack_snd_check; net/mptcp/protocol.c, mptcp_cleanup_rbuf. A capture of Linux 6.18 with a
    // receive buffer of 128 kB: the segment that fills the hole before 72 kB is the second of its subflow, and its ACK tells
    // the whole window, 77696; the other subflow, whose last segment of 800 bytes waits for a second one, tells it, too.
    let mut config = mesh();
    config.mptcp.scheduler = "linux".into();
    config.tcp.delayed_ack_ns = Some(40_000_000);
    play(
        &config,
        &format!(
            "{TWO}
             70  < wifi . 1:1001 ack 1 dss(1 1 1000, ack 1)
             71  < lte . 1:1001 ack 1 dss(2001 1 1000, ack 1)
             72  < lte . 1001:2001 ack 1 dss(3001 1001 1000, ack 1)
             72  > lte . 1:1 ack 2001 dss(ack 1001) win(58860)
             73  < lte . 2001:3001 ack 1 dss(4001 2001 1000, ack 1)
             74  < wifi . 1001:2001 ack 1 dss(1001 1001 1000, ack 1)
             74  > wifi . 1:1 ack 2001 dss(ack 5001) win(58000)
             // A full segment waits for a second one, a short one until all is read.
             80  < lte . 3001:3501 ack 1 dss(5001 3001 500, ack 1)
             80  > lte . 1:1 ack 3501 dss(ack 5501) win(58000)
             81  < wifi . 2001:2501 ack 1 dss(6501 2001 500, ack 1)
             82  < lte . 3501:4501 ack 1 dss(5501 3501 1000, ack 1)
             82  > wifi . 1:1 ack 2501 dss(ack 7001) win(58000)"
        ),
    );
}

#[test]
fn what_was_read_widens_the_ack_that_is_due_at_once() {
    // net/ipv4/tcp.c, __tcp_cleanup_rbuf: the ACK of what fills a hole leaves before it is read, and another follows once a reader has
    // made the window twice as wide. Here they are one, which tells the wider.
    let mut config = mesh();
    config.mptcp.scheduler = "linux".into();
    config.tcp.receive_buffer_bytes = 12_000;
    let mut script = TWO.to_string();
    for first in (1..9_000).step_by(1000) {
        let end = first + 1000;
        script += &format!("70 < lte . {first}:{end} ack 1 dss({} {first} 1000, ack 1)\n", first + 1000);
        script += &format!("70 > lte . 1:1 ack {end} dss(ack 1)\n");
    }
    script += "80 < wifi . 1:1001 ack 1 dss(1 1 1000, ack 1)
        80 > wifi . 1:1 ack 1001 dss(ack 10001) win(10000)";
    play(&config, &script);
}

#[test]
fn upstream_linux_acknowledges_messages_once_they_are_read() {
    // However many of them come, none is a full segment, as each ends what was written (net/ipv4/tcp_input.c,
    // tcp_initialize_rcv_mss, tcp_measure_rcv_mss).
    let mut config = plain();
    config.mptcp.scheduler = "linux".into();
    config.tcp.delayed_ack_ns = Some(40_000_000);
    let mut script = "0   ! connect
         0   > wifi S 0:0 capable
         10  < wifi S. 0:0 ack 1 capable
         10  > wifi . 1:1 ack 1 capable
        "
    .to_string();
    for (number, first) in (1..8000).step_by(160).enumerate() {
        let (at, end) = (20 * (number + 1), first + 160);
        script += &format!("{at} < wifi .P {first}:{end} ack 1 dss({first} {first} 160, ack 1)\n");
        script += &format!("{at} > wifi . 1:1 ack {end} dss(ack {end})\n");
    }
    play(&config, &script);
}

#[test]
fn a_filled_hole_opens_the_window_at_once_in_the_kernel_of_multipath_tcp_org() {
    // Its mptcp_cleanup_rbuf asks whether what is left of the window, and not what was announced last, has doubled when the
    // application reads: without that the sender waits until the segment's ACK, which is delayed, is due.
    let mut config = mesh();
    config.tcp.delayed_ack_ns = Some(40_000_000);
    let mut script = TWO.to_string();
    for first in (1..40_000).step_by(1000) {
        script += &format!("71 < lte . {first}:{} ack 1 dss({} {first} 1000, ack 1)\n", first + 1000, first + 1000);
        if first % 2000 == 1001 {
            script += &format!("71 > lte . 1:1 ack {} dss(ack 1)\n", first + 1000);
        }
    }
    script += "74 < wifi . 1:1001 ack 1 dss(1 1 1000, ack 1)
        74 > lte . 1:1 ack 40001 dss(ack 41001)
        114 > wifi . 1:1 ack 1001 dss(ack 41001)";
    play(&config, &script);
}

#[test]
fn upstream_linux_fills_the_window_with_one_short_segment_at_a_time() {
    // net/mptcp/protocol.c, mptcp_sendmsg_frag; net/ipv4/tcp_output.c, tcp_nagle_check.
    let mut config = plain();
    config.mptcp.scheduler = "linux".into();
    play(
        &config,
        "0   ! connect
         0   > wifi S 0:0 capable
         10  < wifi S. 0:0 ack 1 capable win(2500)
         10  > wifi . 1:1 ack 1 capable
         20  < wifi . 1:1 ack 1 dss(ack 1) win(2500)
         20  ! write 6000
         20  > wifi . 1:1001 ack 1 dss(1 1 1000, ack 1)
         20  > wifi . 1001:2001 ack 1 dss(1001 1001 1000, ack 1)
         20  > wifi . 2001:2501 ack 1 dss(2001 2001 500, ack 1)
         30  < wifi . 1:1 ack 1001 dss(ack 1001) win(2700)
         30  > wifi . 2501:3501 ack 1 dss(2501 2501 1000, ack 1)
         // The next is short, too: it waits, and grows with the window until nothing short is on its way.
         31  < wifi . 1:1 ack 2001 dss(ack 2001) win(2000)
         32  < wifi . 1:1 ack 2501 dss(ack 2501) win(1900)
         32  > wifi . 3501:4001 ack 1 dss(3501 3501 500, ack 1)",
    );
}

#[test]
fn upstream_linux_goes_by_the_window_of_the_subflow() {
    // net/mptcp/options.c, ack_update_msk; net/ipv4/tcp_input.c, tcp_may_update_window: an ACK that tells TCP nothing else
    // new makes its window wider only. A capture of Linux 6.18 has a DATA_ACK of 905016, a window of 294656, and data up to
    // 1221048: the subflow had announced 316032 before.
    let mut config = plain();
    config.mptcp.scheduler = "linux".into();
    let before = "0   ! connect
         0   > wifi S 0:0 capable
         10  < wifi S. 0:0 ack 1 capable win(3000)
         10  > wifi . 1:1 ack 1 capable
         20  < wifi . 1:1 ack 1 dss(ack 1) win(3000)
         20  ! write 6000
         20  > wifi . 1:1001 ack 1 dss(1 1 1000, ack 1)
         20  > wifi . 1001:2001 ack 1 dss(1001 1001 1000, ack 1)
         20  > wifi . 2001:3001 ack 1 dss(2001 2001 1000, ack 1)
         ";
    play(
        &config,
        &format!(
            "{before}
             30  < wifi . 1:1 ack 1 dss(ack 1001) win(2000)
             30  > wifi . 3001:4001 ack 1 dss(3001 3001 1000, ack 1)
             30  = window 3000
             // What acknowledges more says what the window is.
             31  < wifi . 1:1 ack 1001 dss(ack 2001) win(2000)
             31  = window 2000"
        ),
    );
    config.mptcp.scheduler = "lowest-rtt".into();
    play(&config, &format!("{before}30  < wifi . 1:1 ack 1 dss(ack 1001) win(2000)"));
}

#[test]
fn a_send_buffer_grows_where_a_unit_leaves_the_window_unfilled() {
    // net/ipv4/tcp_output.c, tcp_event_new_data_sent: with Linux 6.18 the buffer of a subflow in slow start stayed at 133632 bytes,
    // 29 packets, while each ACK let one unit of two segments go, which filled the window, and was 156672, 34 packets, after the
    // first ACK that let two units go. What was written fills whole fragments of 32728 bytes.
    let mut config = plain();
    config.mptcp.scheduler = "linux".into();
    config.tcp.initial_window_packets = 10;
    let segments = |at: u32, first: u64, last: u64| -> String {
        let line =
            |n: u64| format!("{at} > wifi . {0}:{1} ack 1 dss({0} {0} 1000, ack 1)\n", 1 + 1000 * n, 1001 + 1000 * n);
        (first..last).map(line).collect()
    };
    for (acks, waiting) in [([1, 2, 3, 4].as_slice(), 61_456), ([2, 4].as_slice(), 94_184)] {
        let mut script = format!("{SERVER}\n20 ! offer 1000000\n{}", segments(20, 0, 10));
        for (n, acked) in acks.iter().enumerate() {
            let (at, before) = (30 + n as u32, if n == 0 { 0 } else { acks[n - 1] });
            let ack = 1 + 1000 * acked;
            script += &format!("{at} < wifi . 1:1 ack {ack} dss(ack {ack})\n");
            script += &segments(at, 10 + 2 * before, 10 + 2 * acked);
        }
        script += &format!("40 ! offer 1000000\n40 = waiting {waiting}");
        play(&config, &script);
    }
}

#[test]
fn a_joined_subflow_adds_to_the_send_buffer_when_another_grows() {
    // net/mptcp/protocol.h, __mptcp_propagate_sndbuf: `ss -m` of Linux 6.18 shows 50176 bytes for a connection whose two
    // subflows have 46080 each, before one of them had sent more than a segment.
    let mut config = mesh();
    config.mptcp.scheduler = "linux".into();
    config.tcp.initial_window_packets = 1;
    play(
        &config,
        &format!(
            "{SERVER}
             20  ! write 1
             20  > wifi . 1:2 ack 1 dss(1 1 1, ack 1)
             30  < wifi . 1:1 ack 2 dss(ack 2)
             40  < lte S 0:0 join(1)
             40  > lte S. 0:0 ack 1 join(0)
             50  < lte . 1:1 ack 1 join
             50  > lte . 1:1 ack 1 dss(ack 1)
             60  ! offer 100000
             60  > wifi . 2:1002 ack 1 dss(2 2 1000, ack 1)
             60  > wifi . 1002:2002 ack 1 dss(1002 1002 1000, ack 1)
             60  = waiting 65456"
        ),
    );
}

#[test]
fn a_joined_subflow_adds_to_the_send_buffer_when_it_sends() {
    // net/mptcp/subflow.c, subflow_write_space. With Linux 6.18 a connection whose second subflow came back had 1.2 MB that were not
    // acknowledged, where the buffer of the first, which did not grow any more, was 0.5 MB.
    let mut config = mesh();
    config.mptcp.scheduler = "linux".into();
    config.tcp.initial_window_packets = 1;
    play(
        &config,
        &format!(
            "{SERVER}
             20  ! write 1
             20  > wifi . 1:2 ack 1 dss(1 1 1, ack 1)
             30  < wifi . 1:1 ack 2 dss(ack 2)
             40  < lte S 0:0 join(1)
             40  > lte S. 0:0 ack 1 join(0)
             50  < lte . 1:1 ack 1 join
             50  > lte . 1:1 ack 1 dss(ack 1)
             55  < wifi . 1:1 ack 2 dss(ack 2) prio(backup)
             60  ! offer 200000
             60  > lte . 1:1001 ack 1 dss(2 1 1000, ack 1)
             60  = waiting 65456
             70  < lte . 1:1 ack 1001 dss(ack 2)
             70  > lte . 1001:2001 ack 1 dss(1002 1001 1000, ack 1)
             70  > lte . 2001:3001 ack 1 dss(2002 2001 1000, ack 1)
             80  ! offer 200000
             80  = waiting 98184"
        ),
    );
}

#[test]
fn the_first_subflow_adds_to_the_send_buffer_when_it_is_closed_too() {
    // net/mptcp/protocol.h, __mptcp_sync_sndbuf: it stays on the connection's list.
    let mut config = mesh();
    config.mptcp.scheduler = "linux".into();
    config.tcp.initial_window_packets = 1;
    play(
        &config,
        &format!(
            "{SERVER}
             20  ! write 1
             20  > wifi . 1:2 ack 1 dss(1 1 1, ack 1)
             30  < wifi . 1:1 ack 2 dss(ack 2)
             40  < lte S 0:0 join(1)
             40  > lte S. 0:0 ack 1 join(0)
             50  < lte . 1:1 ack 1 join
             50  > lte . 1:1 ack 1 dss(ack 1)
             60  < lte . 1:1 ack 1 remove_addr(0)
             60  > wifi F. 2:2 ack 1 dss(ack 1)
             70  < wifi F. 1:1 ack 3 dss(ack 2)
             70  > wifi . 3:3 ack 2 dss(ack 1)
             80  ! offer 200000
             80  > lte . 1:1001 ack 1 dss(2 1 1000, ack 1)
             90  < lte . 1:1 ack 1001 dss(ack 2)
             90  > lte . 1001:2001 ack 1 dss(1002 1001 1000, ack 1)
             90  > lte . 2001:3001 ack 1 dss(2002 2001 1000, ack 1)
             100 ! offer 200000
             100 = waiting 98184"
        ),
    );
}

#[test]
fn a_reader_that_pauses_closes_the_window() {
    let mut config = plain();
    config.tcp.receive_buffer_bytes = 2000;
    play(
        &config,
        &format!(
            "{SERVER}
             10  ! pause
             20  < wifi . 1:1001 ack 1 dss(1 1 1000, ack 1)
             20  > wifi . 1:1 ack 1001 dss(ack 1001) win(1000)
             21  < wifi . 1001:2001 ack 1 dss(1001 1001 1000, ack 1)
             21  > wifi . 1:1 ack 2001 dss(ack 2001) win(0)
             30  < wifi . 2000:2000 ack 1 dss(ack 1)
             30  > wifi . 1:1 ack 2001 dss(ack 2001) win(0)
             40  ! read
             // As wide as it has grown, in whole segments.
             40  > wifi . 1:1 ack 2001 dss(ack 2001) win(1000)
             40  = read 2000"
        ),
    );
}

fn own_windows(config: Config) -> Config {
    let mptcp = transport::config::Mptcp { receive_buffer: ReceiveBuffer::PerSubflow, ..config.mptcp };
    Config { mptcp, ..config }
}

#[test]
fn what_waits_for_others_takes_room_of_its_own_subflow_only_where_buffers_are_apart() {
    // RFC 8684 §3.3.5: shared, the window is of the data's bytes from the DATA_ACK on, the same on all.
    // No wider than it began: 41 segments of 1460 bytes.
    for (config, window) in [(mesh(), 59_860), (own_windows(mesh()), 58_860)] {
        play(
            &config,
            &format!(
                "{TWO}
                 100 < wifi . 1:1001 ack 1 dss(1001 1 1000, ack 1)
                 100 > wifi . 1:1 ack 1001 dss(ack 1) win({window})
                 100 = ahead 1000"
            ),
        );
    }
    // Once it is read, there is room for more.
    play(
        &own_windows(mesh()),
        &format!(
            "{TWO}
             100 < wifi . 1:1001 ack 1 dss(1001 1 1000, ack 1)
             100 > wifi . 1:1 ack 1001 dss(ack 1) win(58860)
             101 < lte . 1:1001 ack 1 dss(1 1 1000, ack 1)
             101 > lte . 1:1 ack 1001 dss(ack 2001)
             101 = read 2000
             102 < wifi . 1001:2001 ack 1 dss(2001 1001 1000, ack 1)
             102 > wifi . 1:1 ack 2001 dss(ack 3001)
             103 < wifi . 2001:3001 ack 1 dss(3001 2001 1000, ack 1)
             103 > wifi . 1:1 ack 3001 dss(ack 4001) win(58540)"
        ),
    );
}
