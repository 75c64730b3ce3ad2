//! MPTCP of the era 2012 as a whole, as the kernel 0.8x has it on Linux 3.0: its settings stand here untouched.
//!
//! Names of functions are those of net/mptcp of that kernel. The version on the wire is that of RFC 8684, which deviates.

use crate::script::play;
use transport::{Config, era};

/// With the 20 bytes that DSS takes with a checksum and short numbers, segments hold 1004.
const SEGMENT: u32 = 1004;
const OPEN: &str = "
    0    ! connect
    0    > wifi S 0:0 capable(checksum)
    400  < wifi S. 0:0 ack 1 capable(checksum)
    400  > wifi . 1:1 ack 1 capable(checksum)
    800  < wifi . 1:1 ack 1 dss4(ack 1)
";
/// A second path that is faster.
const JOIN: &str = "
    800  ! up lte
    800  > lte S 0:0 join(1)
    810  < lte S. 0:0 ack 1 join(0)
    810  > lte . 1:1 ack 1 join
    820  < lte . 1:1 ack 1 dss4(ack 1)
";

fn config() -> Config {
    era::config("2012").unwrap()
}

/// The nth full segment of a subflow, from 0, with the nth of the connection.
fn segment(at: &str, path: &str, n: u32, of_data: u32) -> String {
    let (first, data) = (n * SEGMENT + 1, of_data * SEGMENT + 1);
    format!("{at} > {path} . {first}:{} ack 1 dss4({data} {first} {SEGMENT}, ack 1, sum)\n", first + SEGMENT)
}

#[test]
fn ten_segments_with_checksums_and_short_numbers_leave_at_once() {
    // sysctl_mptcp_checksum is 1, MPTCP_SUB_LEN_SEQ of 4 bytes, TCP_INIT_CWND 10; pacing came with Linux 3.12.
    let window: String = (0..10).map(|n| segment("900", "wifi", n, n)).collect();
    play(&config(), &format!("{OPEN} 900 ! write 30000\n{window}"));
}

#[test]
fn a_syn_without_answer_loses_its_option_after_mptcp_syn_retries() {
    // tcp_write_timeout in net/ipv4/tcp_timer.c of that kernel: once icsk_retransmits is MPTCP_SYN_RETRIES, 3.
    play(
        &config(),
        "0      ! connect
         0      > wifi S 0:0 capable(checksum)
         3000   > wifi S 0:0 capable(checksum)
         9000   > wifi S 0:0 capable(checksum)
         21000  > wifi S 0:0 capable(checksum)
         45000  > wifi S 0:0
         45400  < wifi S. 0:0 ack 1
         45400  > wifi . 1:1 ack 1
         45400  = mptcp false",
    );
}

#[test]
fn a_time_out_gives_all_of_a_subflow_to_others_and_leaves_it_alone_until_it_answers() {
    // tcp_enter_loss calls mptcp_retransmit_queue, and that mptcp_reinject_data, which queues all that the subflow had sent;
    // mptcp_is_available: what is in TCP_CA_Loss gets nothing until the time-out is repaired. TCP itself goes on trying.
    let (one, two) = (segment("900", "lte", 0, 0), segment("900", "lte", 1, 1));
    let again = segment("1110", "lte", 0, 0);
    let reinjected = segment("1110", "wifi", 0, 0) + &segment("1110", "wifi", 1, 1);
    let next = segment("1520", "wifi", 2, 2);
    let after = 2 * SEGMENT + 1;
    play(
        &config(),
        &format!(
            "{OPEN}{JOIN}
             900  ! write {}
             {one}{two}
             // 10 + 200 ms.
             {again}{reinjected}
             1510 < wifi . 1:1 ack {after} dss4(ack {after})
             1510 = waiting 0
             1520 ! write {SEGMENT}
             {next}",
            2 * SEGMENT
        ),
    );
}

#[test]
fn a_full_window_is_opened_by_the_faster_subflow_which_penalises_the_slower() {
    // mptcp_rcv_buf_optimization: what the window waits for, where another subflow has it, goes over this one as well. The
    // window of the slower one that holds it is halved, once in a round trip of the faster, and its threshold only where it
    // has one.
    let open = OPEN.replace("capable(checksum)\n    400  >", "capable(checksum) win(4016)\n    400  >");
    let open = open.replace("dss4(ack 1)", "dss4(ack 1) win(4016)");
    let join = JOIN.replace("join(0)", "join(0) win(4016)").replace("dss4(ack 1)", "dss4(ack 1) win(4016)");
    let full: String = (0..4).map(|n| segment("800", "wifi", n, n)).collect();
    let (again, next) = (segment("820", "lte", 0, 0), segment("830", "lte", 1, 4) + &segment("830", "lte", 2, 1));
    let one = SEGMENT + 1;
    play(
        &config(),
        &format!(
            "{open}
             800  ! write 20080
             {full}{join}{again}
             820  = windows 5 10
             830  < lte . 1:1 ack {one} dss4(ack {one}) win(4016)
             {next}
             830  = windows 2 10"
        ),
    );
}

#[test]
fn nothing_is_penalised_that_does_not_hold_the_window() {
    // The faster subflow holds it itself: path_mask has no other.
    let open = OPEN.replace("capable(checksum)\n    400  >", "capable(checksum) win(4016)\n    400  >");
    let open = open.replace("dss4(ack 1)", "dss4(ack 1) win(4016)");
    let join = JOIN.replace("join(0)", "join(0) win(4016)").replace("dss4(ack 1)", "dss4(ack 1) win(4016)");
    let full: String = (0..4).map(|n| segment("900", "lte", n, n)).collect();
    play(&config(), &format!("{open}{join} 900 ! write 20080\n{full} 905 = windows 10 10"));
}
