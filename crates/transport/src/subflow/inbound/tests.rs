//! What windows and acknowledgements do with segments, one by one.

use super::*;

fn at(buffer_bytes: u64, sack: bool) -> Circumstances {
    Circumstances {
        now: Time::default(),
        room: Room { buffer_bytes, unread_bytes: 0, advertised_bytes: 64_240 },
        rto_ns: 0,
        sack,
        compresses: false,
        ends_write: true,
        options_bytes: 0,
        header_bytes: HEADER_BYTES,
        srtt_ns: None,
        ticks: Ticks::default(),
    }
}

// Linux 6.18 announced 64 240 bytes, and then these windows in units of 128, for segments of 1448 bytes with time stamps.
#[test]
fn windows_grow_as_those_of_linux() {
    let mut inbound = Inbound::new(&config::Tcp::default(), 1460);
    inbound.opened(0);
    inbound.most_segment_bytes = 1448;
    let windows: Vec<u64> = (0..4)
        .map(|n| {
            inbound.arrive(&at(131_072, true), 1 + 1448 * n..1449 + 1448 * n, false);
            inbound.grown_bytes.div_ceil(128)
        })
        .collect();
    assert_eq!(windows, [525, 548, 570, 593]);
}

// Captures of Linux 6.18 with answers of 500 bytes: 64 240 bytes in the SYN, 501 units of 128 from the first answer on, as a segment
// of the buffer is reserved until a full one came (tcp_init_buffer_space).
#[test]
fn short_segments_let_no_window_grow_before_a_full_one() {
    let mut inbound = Inbound::new(&config::Tcp::default(), 1460);
    inbound.opened(0);
    inbound.most_segment_bytes = 1448;
    for n in 0..20 {
        inbound.arrive(&at(131_072, true), 1 + 500 * n..501 + 500 * n, false);
        assert_eq!(inbound.grown_bytes.div_ceil(128), 501);
    }
    inbound.arrive(&at(131_072, true), 10_001..11_449, false);
    assert_eq!(inbound.grown_bytes.div_ceil(128), 525);
}

// A server of Linux 6.18 with timestamps.
#[test]
fn an_answer_to_a_syn_offers_whole_segments() {
    let mut inbound = Inbound::new(&config::Tcp::default(), 1460);
    inbound.most_segment_bytes = 1448;
    inbound.offer();
    assert_eq!(inbound.grown_bytes, 65_160);
}

// A subflow of Linux 6.18 that had joined with 64 240 bytes announced the connection's 1 561 344, and 1 567 232 after two
// segments.
#[test]
fn first_full_segment_lets_the_window_be_what_was_told() {
    let mut inbound = Inbound::new(&config::Tcp::default(), 1460);
    inbound.opened(0);
    inbound.most_segment_bytes = 1448;
    inbound.memory.grow(1_000_000, 0);
    let mut at = at(1 << 22, true);
    at.room.advertised_bytes = 1_561_344;
    for n in 0..2 {
        inbound.arrive(&at, 1 + 1424 * n..1425 + 1424 * n, false);
    }
    assert_eq!(inbound.grown_bytes.next_multiple_of(128), 1_567_232);
}

#[test]
fn what_waits_is_bounded() {
    let mut inbound = Inbound::new(&config::Tcp::default(), 1460);
    inbound.opened(0);
    let most = MOST_RANGES as u64;
    let at = at(0, true);
    for n in 1..=2 * most {
        inbound.arrive(&at, 2 * n..2 * n + 1, false);
    }
    assert_eq!(inbound.out_of_order_bytes(), most);
    // What is not kept comes again.
    let all = inbound.arrive(&at, 1..4 * most + 2, false);
    assert_eq!(all.in_order, 1..4 * most + 2);
    assert_eq!(inbound.out_of_order_bytes(), 0);
}

#[test]
fn without_selective_acks_no_window_grows_behind_a_hole() {
    let mut inbound = Inbound::new(&config::Tcp::default(), 1460);
    inbound.opened(0);
    let mut grown = |sack, range| {
        let before = inbound.grown_bytes;
        inbound.arrive(&at(1 << 21, sack), range, false);
        inbound.grown_bytes - before
    };
    assert_eq!(grown(false, 1..1449), 2 * 1460);
    assert_eq!(grown(false, 2897..4345), 0);
    assert_eq!(grown(true, 4345..5793), 2 * 1460);
    assert_eq!(grown(false, 1449..2897), 2 * 1460);
}

/// Linux 6.18: of answers of 500 bytes over MPTCP, 28 bytes of DSS and timestamps beside, the first ones are acknowledged as they
/// are read, and those that follow one of their length 40 ms later.
#[test]
fn short_segments_of_one_length_count_as_full() {
    let pushed = |segments: &[(u64, bool)]| {
        let settings = config::Tcp { quick_acks: 0, ..config::Tcp::default() };
        let mut inbound = Inbound::new(&settings, 1448);
        inbound.opened(0);
        for &(len, ends_write) in segments {
            inbound.acknowledged();
            let header_bytes = HEADER_BYTES + 12;
            let at = Circumstances { options_bytes: 28, header_bytes, ends_write, ..at(1 << 20, true) };
            inbound.arrive(&at, inbound.next..inbound.next + len, false);
        }
        inbound.pushed
    };
    assert_eq!(pushed(&[(500, true)]), 1);
    assert_eq!(pushed(&[(500, true), (500, true)]), 0);
    assert_eq!(pushed(&[(500, true), (501, true)]), 1, "another length");
    assert_eq!(pushed(&[(500, true), (1400, true), (500, true)]), 1, "not one after the other");
    assert_eq!(pushed(&[(495, true), (495, true)]), 1, "555 bytes with the header: TCP_MSS_DEFAULT + 20 it takes");
    assert_eq!(pushed(&[(496, true), (496, true)]), 0);
    assert_eq!(pushed(&[(48, false), (48, false)]), 0, "108 bytes, and more is to follow");
    assert_eq!(pushed(&[(47, false), (47, false)]), 1);
    assert_eq!(pushed(&[(1400, true)]), 1, "full, but the last of what was written (ICSK_ACK_PUSHED)");
    assert_eq!(pushed(&[(1400, false)]), 0);
}

// To Linux a segment is old if what it says ends before what it has, a FIN included (tcp_data_queue).
#[test]
fn an_end_before_what_came_is_none() {
    let mut inbound = Inbound::new(&config::Tcp::default(), 1460);
    inbound.opened(0);
    let mut come = |range: Range<u64>, fin| {
        let arrival = inbound.arrive(&at(131_072, true), range, fin);
        (arrival.in_order, arrival.finished)
    };
    assert_eq!(come(1..2001, false), (1..2001, false));
    assert_eq!(come(1..1001, true), (2001..2001, false));
    assert_eq!(come(2001..3001, true), (2001..3001, true));
}
