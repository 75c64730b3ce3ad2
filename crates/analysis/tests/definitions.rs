//! The definitions of docs/analysis.md, each figure worked out by hand from a script.

mod script;

use analysis::Options;
use script::Host::Server;
use script::*;

/// Seen at the client: Wi-Fi takes 20 ms, LTE 50 ms there and back.
const TWO_PATHS: &str = "
    0   client wifi S  0 0 0 mp_capable
    20  server wifi SA 0 1 0 mp_capable
    20  client wifi A  1 1 0 mp_capable
    30  client lte  S  0 0 0 join(2)
    80  server lte  SA 0 1 0 join(0)
    80  client lte  A  1 1 0 join(2)
    130 server lte  A  1 1 0
    ";

/// The same seen at the server.
const TWO_PATHS_AT_SERVER: &str = "
    0    client wifi S  0 0 0 mp_capable
    0    server wifi SA 0 1 0 mp_capable
    20   client wifi A  1 1 0 mp_capable
    30   client lte  S  0 0 0 join(2)
    30   server lte  SA 0 1 0 join(0)
    80   client lte  A  1 1 0 join(2)
    80   server lte  A  1 1 0
    ";

/// Bytes delivered, elapsed time (first SYN to the last DATA_ACK of data), throughput, shares.
#[test]
fn bytes_elapsed_time_throughput_and_share() {
    let tables = Script::default().run(&format!(
        "{TWO_PATHS}
        200 server wifi A 1    1    1000 dss(1 1 1000, ack 1)
        200 client wifi A 1    1001 0    dss(ack 1001)
        240 server lte  A 1    1    500  dss(1001 1 500, ack 1)
        240 client lte  A 1    501  0    dss(ack 1501)
        250 server wifi A 1001 1    500  dss(1501 1001 500 fin, ack 1)
        250 client wifi A 1    1501 0    dss(ack 2002)
        300 client wifi A 1    1501 0    dss(fin 1, ack 2002)   # no data any more: does not count
        320 server wifi A 1501 1    0    dss(ack 2)
        "
    ));
    // DATA_FIN took number 2001 and is no byte.
    let down = transfer(&tables, Down);
    assert_eq!(down.bytes, 2000);
    assert_eq!(down.elapsed_s, Some(0.25));
    // 2000 × 8 bit / 0.25 s = 64 kbit/s.
    close(down.throughput_mbps, 0.064);
    assert_eq!(only(&tables).duration_s, Some(0.32));
    assert_eq!(only(&tables).ended, "closed");
    let (wifi, lte) = (flow(&tables, 0, Down), flow(&tables, 1, Down));
    assert_eq!((wifi.delivered_bytes, lte.delivered_bytes), (Some(1500), Some(500)));
    assert_eq!((wifi.share, lte.share), (Some(0.75), Some(0.25)));
    // Over the connection's time they add up; over its own time Wi-Fi took 50 ms, LTE no time.
    close(wifi.throughput_mbps, 0.048);
    close(lte.throughput_mbps, 0.016);
    close(wifi.active_throughput_mbps, 0.24);
    assert_eq!(lte.active_throughput_mbps, None);
    // SYN/ACK, two with data, and the DATA_ACK of DATA_FIN.
    assert_eq!((wifi.packets, wifi.data_packets, wifi.data_bytes), (4, 2, 1500));
    let up = transfer(&tables, Up);
    assert_eq!((up.bytes, up.elapsed_s, up.throughput_mbps), (0, None, None));
}

/// Response time: the first data of a request until the last of its response is in order; what overtakes waits, and what
/// is sent again begins no request.
#[test]
fn response_times_at_the_client() {
    let text = format!(
        "{TWO_PATHS}
        200 client wifi A 1    1    200  dss(1 1 200, ack 1)
        201 client wifi A 201  1    100  dss(201 201 100, ack 1)
        230 server wifi A 1    301  1000 dss(1001 1 1000, ack 301)   # LTE brings what comes before
        250 server lte  A 1    1    1000 dss(1 1 1000, ack 301)
        255 client wifi A 201  1001 100  dss(201 201 100, ack 2001)  # once more
        260 server wifi A 1001 301  500  dss(2001 1001 500, ack 301)
        400 client wifi A 301  1501 50   dss(301 301 50, ack 2501)
        420 server wifi A 1501 351  700  dss(2501 1501 700, ack 351)
        500 client lte  A 1    1001 10   dss(351 1 10, ack 3201)     # never answered
        "
    );
    let tables = Script::default().run(&text);
    let down = transfer(&tables, Down);
    assert_eq!((down.responses, down.response_time_ms_mean), (Some(2), Some(40.0)));
    assert_eq!(down.response_time_ms_max, Some(60.0));
    assert_eq!(transfer(&tables, Up).responses, None);
    let rows: Vec<_> = tables
        .responses
        .iter()
        .map(|row| (row.request_bytes, row.response_bytes, row.first_data_ms, row.response_time_ms))
        .collect();
    assert_eq!(rows, [(300, 2500, 50.0, 60.0), (50, 700, 20.0, 20.0)]);
    // The server does not see when anything comes to the client.
    let server = Script::at(Server).run(&format!(
        "{TWO_PATHS_AT_SERVER}
        200 client wifi A 1    1    200  dss(1 1 200, ack 1)
        201 server wifi A 1    201  1000 dss(1 1 1000, ack 201)
        240 client wifi A 201  1001 0    dss(ack 1001)
        "
    ));
    assert_eq!((transfer(&server, Down).responses, server.responses.len()), (None, 0));
}

/// Idle minutes are no part of a response, nor what a server says after them of its own accord; an outage within it is.
#[test]
fn response_times_without_idle_minutes() {
    let tables = Script::default().run(
        "
        0     client wifi S  0    0    0
        20    server wifi SA 0    1    0
        20    client wifi A  1    1    0
        100   client wifi A  1    1    200
        150   server wifi A  1    201  1000
        170   server wifi A  1001 201  500
        30170 server wifi A  1501 201  17     # a ping
        60170 server wifi A  1518 201  31     # close_notify
        60170 server wifi FA 1549 201  0
        60171 client wifi A  201  1550 31     # the client's: never answered
        ",
    );
    let down = transfer(&tables, Down);
    assert_eq!((down.responses, down.response_time_ms_max), (Some(1), Some(70.0)));
    assert_eq!(tables.responses[0].response_bytes, 1500);
    let outage = Script::default().run(
        "
        0     client wifi S  0    0    0
        20    server wifi SA 0    1    0
        20    client wifi A  1    1    0
        100   client wifi A  1    1    200
        150   server wifi A  1    201  1000
        5150  server wifi A  1001 201  100
        5151  server wifi A  1101 201  100
        ",
    );
    assert_eq!(transfer(&outage, Down).response_time_ms_max, Some(5051.0));
}

/// Little that comes long after the whole request was acknowledged is no answer to it: what had the client wait was no
/// network. One that is larger, or came with the acknowledgement, is one.
#[test]
fn response_times_without_what_servers_say_of_their_own_accord() {
    let tables = Script::default().run(
        "
        0     client wifi S  0    0    0
        20    server wifi SA 0    1    0
        20    client wifi A  1    1    0
        100   client wifi A  1    1    200
        120   server wifi A  1    201  0
        150   server wifi A  1    201  1000
        150   client wifi A  201  1001 0
        160   client wifi A  201  1001 50     # an acknowledgement of the application's
        180   server wifi A  1001 251  0
        30180 server wifi A  1001 251  61     # a message for the client
        30181 client wifi A  251  1062 50     # which it acknowledges
        30200 server wifi A  1062 301  0
        60200 server wifi A  1062 301  61     # another one
        60300 client wifi A  301  1123 200
        62300 server wifi A  1123 501  100    # the radio slept: the request was late
        62400 client wifi A  501  1223 200
        62420 server wifi A  1223 701  0
        64400 server wifi A  1223 701  100    # the server thought
        64410 server wifi A  1323 701  100
        ",
    );
    let times: Vec<_> = tables.responses.iter().map(|row| (row.response_bytes, row.response_time_ms)).collect();
    assert_eq!(times, [(1000, 50.0), (100, 2000.0), (200, 2010.0)]);
    assert_eq!(transfer(&tables, Down).responses, Some(3));
}

/// A snap length that cuts the DATA_FIN leaves its acknowledgement: one number more than all data is no byte.
#[test]
fn an_acknowledged_data_fin_that_was_cut_is_no_byte() {
    let tables = Script::default().run(&format!(
        "{TWO_PATHS}
        200 server wifi A 1    1    1000 dss(1 1 1000, ack 1)
        200 client wifi A 1    1001 0    dss(ack 1001)
        300 client lte  A 1    1    0    dss(fin 1, ack 1001) cut(8)
        330 server wifi A 1001 1    0    dss(ack 2)
        340 client wifi A 1    1001 0    dss(ack 1002)
        "
    ));
    assert_eq!((transfer(&tables, Up).bytes, transfer(&tables, Down).bytes), (0, 1000));
    assert!(!diagnostics(&tables).iter().any(|remark| ["missed_bytes", "path_missing"].contains(remark)));
}

/// Plain TCP: elapsed until the last ACK of data; the ACK of the FIN does not count.
#[test]
fn elapsed_time_of_plain_tcp() {
    let tables = Script::default().run(
        "
        0   client wifi S  0    0    0
        20  server wifi SA 0    1    0
        20  client wifi A  1    1    0
        40  server wifi A  1    1    1000
        40  client wifi A  1    1001 0
        500 server wifi FA 1001 1    0
        500 client wifi A  1    1002 0
        ",
    );
    assert_eq!(transfer(&tables, Down).bytes, 1000);
    assert_eq!(transfer(&tables, Down).elapsed_s, Some(0.04));
    assert_eq!(only(&tables).ended, "half-closed");
}

/// Loss rate: retransmitted data packets / data packets sent. RTT: a segment to the first ACK of exactly its end; none
/// from one sent twice, none from one before which another was sent again meanwhile, none from a duplicate ACK.
#[test]
fn loss_rate_and_round_trip_times_at_the_sender() {
    let text = "
        0    client wifi S  0    0    0    mp_capable
        0.1  server wifi SA 0    1    0    mp_capable
        20   client wifi A  1    1    0    mp_capable
        100  server wifi A  1    1    1000 dss(1 1 1000, ack 1)
        101  server wifi A  1001 1    1000 dss(1001 1001 1000, ack 1)
        102  server wifi A  2001 1    1000 dss(2001 2001 1000, ack 1)
        120  client wifi A  1    1001 0    dss(ack 1001)                # 20 ms
        122  client wifi A  1    1001 0    dss(ack 1001)                # duplicate
        150  server wifi A  1001 1    1000 dss(1001 1001 1000, ack 1)   # sent twice
        170  client wifi A  1    3001 0    dss(ack 3001)                # the third waited for the second
        180  server wifi A  3001 1    1000 dss(3001 3001 1000, ack 1)
        203  client wifi A  1    4001 0    dss(ack 4001)                # 23 ms
        210  server wifi FA 4001 1    0
        270  client wifi A  1    4002 0                                 # a FIN is no data
        ";
    let tables = Script::at(Server).run(text);
    let down = flow(&tables, 0, Down);
    assert_eq!((down.data_packets, down.retransmitted_packets, down.retransmitted_bytes), (5, Some(1), Some(1000)));
    assert_eq!(down.loss_rate_percent, Some(20.0));
    assert_eq!((down.bytes, down.data_bytes), (4000, 5000));
    assert_eq!((down.duplicate_packets, down.gap_filled_packets), (Some(1), Some(0)));
    let samples: Vec<_> = tables.rtt.iter().map(|row| (row.rtt_ms, row.record)).collect();
    assert_eq!(samples, [(20.0, 7), (23.0, 12)]);
    assert_eq!((down.rtt_samples, down.rtt_ms_mean), (Some(2), Some(21.5)));
    assert_eq!((down.rtt_ms_min, down.rtt_ms_max), (Some(20.0), Some(23.0)));
    // n − 1: √(1.5² + 1.5²).
    close(down.rtt_ms_sigma, 4.5f64.sqrt());
    // RFC 3550 §A.8 from 0: J += (|23 − 20| − J) / 16.
    close(down.rtt_jitter_ms, 3.0 / 16.0);
    assert_eq!(transfer(&tables, Down).reinjected_bytes, Some(0));
    // Silent for 48 ms only: no time-out.
    assert_eq!(event(&tables, "retransmission").bytes, Some(1000));
    // Neither can be known at the receiver.
    let client = Script::default().run(&text.replace("0.1  server", "20 server"));
    let down = flow(&client, 0, Down);
    assert_eq!((down.retransmitted_packets, down.loss_rate_percent, down.rtt_samples), (None, None, None));
    assert_eq!(down.duplicate_packets, Some(1));
    assert_eq!(events(&client), ["mptcp_established"]);
}

/// At the sender, what comes a round trip after the data behind it was lost before the capture; what comes sooner was overtaken.
#[test]
fn losses_before_the_capture() {
    let tables = Script::at(Server).run(
        "
        0   client wifi S  0    0    0
        0.1 server wifi SA 0    1    0
        20  client wifi A  1    1    0
        100 server wifi A  1    1    1000
        120 client wifi A  1    1001 0
        200 server wifi A  2001 1    1000
        201 server wifi A  1001 1    1000      # overtaken
        221 client wifi A  1    3001 0
        300 server wifi A  4001 1    1000
        325 server wifi A  3001 1    1000      # lost on the host, sent again
        345 client wifi A  1    5001 0
        ",
    );
    let down = flow(&tables, 0, Down);
    assert_eq!((down.gap_filled_packets, down.retransmitted_packets), (Some(2), Some(0)));
    let lost = tables.diagnostics.iter().find(|row| row.diagnostic == "lost_before_capture").unwrap();
    assert_eq!((lost.subflow, lost.count), (Some(0), Some(1)));
    // 1 of the 5 that were captured and 1 that was not.
    assert!(lost.message.ends_with("16.67 %"), "{}", lost.message);
}

/// An ACK inside a segment, or past its end, is not the ACK of its end.
#[test]
fn round_trip_times_need_the_exact_acknowledgement() {
    let tables = Script::at(Server).run(
        "
        0   client wifi S  0    0    0
        0.1 server wifi SA 0    1    0
        20  client wifi A  1    1    0
        100 server wifi A  1    1    1000
        101 server wifi A  1001 1    1000
        125 client wifi A  1    2001 0      # both at once: 24 ms, from the second
        200 server wifi A  2001 1    1000
        220 client wifi A  1    2501 0      # half of it
        225 client wifi A  1    3001 0      # the other half
        ",
    );
    let samples: Vec<_> = tables.rtt.iter().map(|row| row.rtt_ms).collect();
    assert_eq!(samples, [24.0]);
}

/// A connection's RTT is the mean over all samples of its subflows, not of their means.
#[test]
fn round_trip_time_of_a_connection() {
    let tables = Script::at(Server).run(&format!(
        "{TWO_PATHS_AT_SERVER}
        200 server wifi A 1    1    100 dss(1 1 100, ack 1)
        210 client wifi A 1    101  0   dss(ack 101)              # 10
        220 server wifi A 101  1    100 dss(101 101 100, ack 1)
        240 client wifi A 1    201  0   dss(ack 201)              # 20
        250 server lte  A 1    1    100 dss(201 1 100, ack 1)
        310 client lte  A 1    101  0   dss(ack 301)              # 60
        "
    ));
    assert_eq!(flow(&tables, 0, Down).rtt_ms_mean, Some(15.0));
    assert_eq!(flow(&tables, 1, Down).rtt_ms_mean, Some(60.0));
    let down = transfer(&tables, Down);
    assert_eq!((down.rtt_samples, down.rtt_ms_mean), (Some(3), Some(30.0)));
    // Deviations −20, −10, 30 from 30: √(1400 / 2).
    close(down.rtt_ms_sigma, 700f64.sqrt());
}

/// Out-of-order delay: a segment's arrival until its data is in order at connection level; in order counts with 0.
#[test]
fn out_of_order_delay_at_the_receiver() {
    let tables = Script::default().run(&format!(
        "{TWO_PATHS}
        200 server wifi A 1    1    1000 dss(1 1 1000, ack 1)         # in order: 0
        210 server wifi A 1001 1    500  dss(1501 1001 500, ack 1)    # waits for LTE: 30
        215 server wifi A 1501 1    500  dss(2001 1501 500, ack 1)    # 25
        240 server lte  A 1    1    500  dss(1001 1 500, ack 1)       # 0
        240 client lte  A 1    501  0    dss(ack 2501)
        "
    ));
    let down = transfer(&tables, Down);
    assert_eq!((down.reordering_segments, down.out_of_order_segments), (Some(4), Some(2)));
    assert_eq!(down.out_of_order_delay_ms_mean, Some(13.75));
    // Deviations −13.75 twice, 16.25, 11.25: √(768.75 / 3).
    close(down.out_of_order_delay_ms_sigma, 256.25f64.sqrt());
    assert_eq!(down.out_of_order_delay_ms_median, Some(0.0));
    assert_eq!(down.out_of_order_delay_ms_max, Some(30.0));
    let mut samples: Vec<_> =
        tables.reordering.iter().map(|row| (row.data_offset_bytes, row.subflow, row.out_of_order_delay_ms)).collect();
    samples.sort_by_key(|sample| sample.0);
    assert_eq!(samples, [(0, 0, 0.0), (1000, 1, 0.0), (1500, 0, 30.0), (2000, 0, 25.0)]);
    // At the sender it cannot be known.
    let sender = Script::at(Server).run(&format!(
        "{TWO_PATHS_AT_SERVER}
        200 server wifi A 1    1    1000 dss(1 1 1000, ack 1)
        240 client wifi A 1    1001 0    dss(ack 1001)
        "
    ));
    assert_eq!(transfer(&sender, Down).reordering_segments, None);
    assert_eq!(sender.reordering, []);
}

/// Reinjected: sent again under new subflow sequence numbers, on whichever subflow. The share is the receiver's to tell.
#[test]
fn reinjections() {
    let tables = Script::at(Server).run(&format!(
        "{TWO_PATHS_AT_SERVER}
        200 server wifi A 1    1    1000 dss(1 1 1000, ack 1)
        201 server wifi A 1001 1    1000 dss(1001 1001 1000, ack 1)
        300 server lte  A 1    1    1000 dss(501 1 1000, ack 1)       # 500 of either
        350 client lte  A 1    1001 0    dss(ack 1)
        360 client wifi A 1    2001 0    dss(ack 2001)
        400 server wifi A 2001 1    100  dss(1 2001 100, ack 1)       # the same subflow, new numbers
        420 client wifi A 1    2101 0    dss(ack 2001)
        "
    ));
    assert_eq!(transfer(&tables, Down).bytes, 2000);
    assert_eq!(transfer(&tables, Down).reinjected_bytes, Some(1100));
    assert_eq!(transfer(&tables, Down).reinjected_packets, Some(2));
    let (wifi, lte) = (flow(&tables, 0, Down), flow(&tables, 1, Down));
    assert_eq!((wifi.reinjected_bytes, lte.reinjected_bytes), (Some(100), Some(1000)));
    // Of 1000 bytes the sender's end leaves open over which they came first.
    assert_eq!((wifi.delivered_bytes, lte.delivered_bytes, wifi.share, lte.share), (None, None, None, None));
    let open = tables.diagnostics.iter().find(|row| row.diagnostic == "share_unknown").unwrap();
    assert_eq!(open.count, Some(1000));
    // They are no retransmissions: nothing was sent again under the same subflow sequence numbers.
    assert_eq!((wifi.retransmitted_packets, lte.retransmitted_packets), (Some(0), Some(0)));
    let listed: Vec<_> = tables.events.iter().filter(|row| row.event == "reinjection").map(|row| row.bytes).collect();
    assert_eq!(listed, [Some(1000), Some(100)]);
}

/// Duplicate: all bytes had passed the capture before. Gap-filled: never seen before, below the highest seen.
#[test]
fn duplicates_and_filled_gaps_at_the_receiver() {
    let tables = Script::default().run(
        "
        0   client wifi S  0    0    0
        20  server wifi SA 0    1    0
        20  client wifi A  1    1    0
        100 server wifi A  1    1    1000
        101 server wifi A  2001 1    1000
        140 server wifi A  1001 1    1000    # fills the gap
        160 server wifi A  1    1    1000    # duplicate
        161 server wifi A  2501 1    1000    # half of it new: neither
        161 client wifi A  1    3501 0
        ",
    );
    let down = flow(&tables, 0, Down);
    assert_eq!((down.duplicate_packets, down.gap_filled_packets, down.data_packets), (Some(1), Some(1), 5));
    assert_eq!((down.bytes, down.data_bytes), (3500, 5000));
    assert_eq!((down.retransmitted_packets, down.loss_rate_percent), (None, None));
}

/// A silence of 200 ms (TCP_RTO_MIN of Linux) before a retransmission is a time-out.
#[test]
fn time_outs() {
    let tables = Script::at(Server).run(
        "
        0   client wifi S  0 0    0
        0.1 server wifi SA 0 1    0
        20  client wifi A  1 1    0
        100 server wifi A  1 1    1000
        350 server wifi A  1 1    1000
        370 client wifi A  1 1001 0
        ",
    );
    let timeout = event(&tables, "timeout");
    assert_eq!((timeout.bytes, timeout.duration_ms, timeout.record), (Some(1000), Some(250.0), 5));
    // Karn: no sample.
    assert_eq!(flow(&tables, 0, Down).rtt_samples, Some(0));
    assert_eq!(flow(&tables, 0, Down).rtt_ms_mean, None);
}

#[test]
fn gaps() {
    let tables = Script::default().run(&format!(
        "{TWO_PATHS}
        200  server wifi A 1    1    100 dss(1 1 100, ack 1)
        400  server lte  A 1    1    100 dss(101 1 100, ack 1)
        1900 server lte  A 101  1    100 dss(201 101 100, ack 1)
        2000 server wifi A 101  1    100 dss(301 101 100, ack 1)
        2000 client wifi A 1    201  0   dss(ack 401)
        "
    ));
    let down = transfer(&tables, Down);
    assert_eq!((down.gaps, down.longest_gap_ms, down.longest_gap_start_s), (Some(1), Some(1500.0), Some(0.4)));
    assert_eq!(flow(&tables, 0, Down).longest_gap_ms, Some(1800.0));
    assert_eq!(flow(&tables, 1, Down).longest_gap_ms, Some(1500.0));
    let gap = tables.events.iter().find(|row| row.event == "gap" && row.subflow.is_none()).unwrap();
    // Where it began, at the packet after which nothing came.
    assert_eq!((gap.duration_ms, gap.at_s, gap.direction), (Some(1500.0), 0.4, Some(Down)));
}

const UNEVEN: &str = "
    0    client wifi S  0    0    0
    20   server wifi SA 0    1    0
    20   client wifi A  1    1    0
    500  server wifi A  1    1    1000
    500  client wifi A  1    1001 0
    1500 server wifi A  1001 1    3000
    1500 client wifi A  1    4001 0
    2500 server wifi A  4001 1    1000
    2500 client wifi A  1    5001 0
    3500 server wifi A  5001 1    3000
    3500 client wifi A  1    8001 0
    4200 server wifi A  8001 1    100
    4200 client wifi A  1    8101 0
    ";

/// Bins of 1 s from the first packet; the last one until the last acknowledgement.
#[test]
fn throughput_in_bins() {
    let tables = Script::default().run(UNEVEN);
    let of_connection = tables.throughput.iter().filter(|row| row.subflow.is_none() && row.direction == Down);
    let bins: Vec<_> = of_connection.map(|row| (row.at_s, row.bytes, row.throughput_mbps)).collect();
    // 1000 B/s = 0.008 Mbit/s; 100 bytes in 0.2 s = 0.004 Mbit/s.
    assert_eq!(
        bins,
        [(0.0, 1000, 0.008), (1.0, 3000, 0.024), (2.0, 1000, 0.008), (3.0, 3000, 0.024), (4.0, 100, 0.004)]
    );
}

/// A connection that idles for a month has no row for each of its seconds; what does not need them is told all the same.
#[test]
fn throughput_of_a_very_long_connection() {
    let tables = Script::default().run(
        "
        0          client wifi S  0   0    0
        20         server wifi SA 0   1    0
        20         client wifi A  1   1    0
        40         server wifi A  1   1    1000
        40         client wifi A  1   1001 0
        2592000000 server wifi A  1001 1   1000
        2592000000 client wifi A  1   2001 0
        ",
    );
    assert_eq!((transfer(&tables, Down).bytes, transfer(&tables, Down).elapsed_s), (2000, Some(2_592_000.0)));
    assert_eq!(transfer(&tables, Down).gaps, Some(1));
    assert_eq!(tables.throughput, []);
    let left_out = tables.diagnostics.iter().find(|row| row.diagnostic == "throughput_left_out").unwrap();
    // A row per second for the connection, and for its only subflow.
    assert_eq!(left_out.count, Some(2 * 2_592_000));
}

/// σ/μ of the series of whole bins, smoothed and its start dropped as asked.
#[test]
fn coefficient_of_variation() {
    let with = |smoothing_s: i64, trim_s: i64| {
        let options = Options {
            smoothing_ns: smoothing_s * 1_000_000_000,
            trim_ns: trim_s * 1_000_000_000,
            ..Options::default()
        };
        let tables = analyze_with(options, Script::default().packets(UNEVEN));
        let down = transfer(&tables, Down);
        (down.throughput_mbps_mean, down.throughput_mbps_sigma, down.coefficient_of_variation)
    };
    // 8, 24, 8, 24 kbit/s: mean 16, σ = √(4 × 8² / 3).
    let (mean, sigma, cv) = with(1, 0);
    close(mean, 0.016);
    close(sigma, (256.0f64 / 3.0).sqrt() / 1000.0);
    close(cv, (256.0f64 / 3.0).sqrt() / 16.0);
    // 24, 8, 24: mean 56/3, σ = √(((16/3)² × 2 + (32/3)²) / 2) = √(256/3).
    let (mean, _, cv) = with(1, 1);
    close(mean, 0.056 / 3.0);
    close(cv, (256.0f64 / 3.0).sqrt() / (56.0 / 3.0));
    // Over two seconds each: 16, 16, 16.
    let (mean, sigma, cv) = with(2, 0);
    close(mean, 0.016);
    assert!(sigma.unwrap() < 1e-12 && cv.unwrap() < 1e-12);
    // Longer than the transfer: nothing to take it of.
    assert_eq!(with(5, 5), (None, None, None));
}

/// In flight: sent and not yet acknowledged, over the data packets. Window: the field shifted by the scale that the
/// announcing side's SYN told, if both told one (RFC 7323 §2.2).
#[test]
fn data_in_flight_and_window() {
    let text = |server_scale: &str| {
        format!(
            "
            0   client wifi S  0    0    0 ws(7)
            0.1 server wifi SA 0    1    0 {server_scale}
            20  client wifi A  1    1    0 win(200)
            100 server wifi A  1    1    1000
            101 server wifi A  1001 1    1000
            120 client wifi A  1    1001 0 win(100)
            121 server wifi A  2001 1    1000
            "
        )
    };
    let scaled = Script::at(Server).run(&text("ws(2)"));
    let down = flow(&scaled, 0, Down);
    // After each data packet: 1000, 2000, 2000.
    close(down.in_flight_bytes_mean, 5000.0 / 3.0);
    assert_eq!(down.in_flight_bytes_max, Some(2000));
    assert_eq!((down.window_bytes_min, down.window_bytes_max), (Some(100 << 7), Some(200 << 7)));
    let of_down = scaled.window.iter().filter(|row| row.direction == Down);
    let rows: Vec<_> = of_down.map(|row| (row.in_flight_bytes, row.window_bytes, row.record)).collect();
    assert_eq!(
        rows,
        [
            (Some(0), Some(25_600), 3),
            (Some(1000), Some(25_600), 4),
            (Some(2000), Some(25_600), 5),
            (Some(1000), Some(12_800), 6),
            (Some(2000), Some(12_800), 7),
        ]
    );
    let unscaled = Script::at(Server).run(&text(""));
    assert_eq!(flow(&unscaled, 0, Down).window_bytes_max, Some(200));
    // At the receiver, what is in flight is not known; what it announces is.
    let receiver = Script::default().run(&text("ws(2)").replace("0.1 server", "20  server"));
    assert_eq!(flow(&receiver, 0, Down).in_flight_bytes_max, None);
    assert_eq!(flow(&receiver, 0, Down).window_bytes_max, Some(25_600));
}

/// An ACK that the FIN overtook has the number before the next too.
#[test]
fn an_ack_overtaken_by_the_fin_is_no_keep_alive() {
    let tables = Script::default().run(
        "
        0    client wifi S  0 0 0
        20   server wifi SA 0 1 0
        20   client wifi A  1 1 0
        30   client wifi FA 1 1 0
        50   server wifi A  1 2 0
        50.1 client wifi A  1 1 0
        ",
    );
    assert_eq!(flow(&tables, 0, Up).keep_alive_packets, Some(0));
}

/// RFC 1122 §4.2.3.6: a keep-alive repeats the number before the next, with one byte of garbage or none.
#[test]
fn keep_alives() {
    let tables = Script::at(Server).run(
        "
        0     client wifi S  0    0    0
        0.1   server wifi SA 0    1    0
        20    client wifi A  1    1    0
        100   server wifi A  1    1    1000
        120   client wifi A  1    1001 0
        60120 server wifi A  1000 1    0
        60140 client wifi A  1    1001 0
        90120 server wifi A  1000 1    1
        90140 client wifi A  1    1001 0
        ",
    );
    let down = flow(&tables, 0, Down);
    assert_eq!((down.keep_alive_packets, down.zero_window_probe_packets), (Some(2), Some(0)));
    assert_eq!((down.data_packets, down.bytes, down.retransmitted_packets), (1, 1000, Some(0)));
    assert_eq!(events(&tables), ["tcp_established"]);
    assert_eq!(transfer(&tables, Down).elapsed_s, Some(0.12));
    // Nothing was sent yet: the number before the next is the SYN's.
    let idle = Script::at(Server).run(
        "
        0     client wifi S  0 0 0
        0.1   server wifi SA 0 1 0
        20    client wifi A  1 1 0
        60000 client wifi A  0 1 0
        60000 server wifi A  1 1 0
        90000 server wifi A  0 1 0
        90020 client wifi A  1 1 0
        ",
    );
    assert_eq!([Up, Down].map(|direction| flow(&idle, 0, direction).keep_alive_packets), [Some(1), Some(1)]);
}

/// RFC 9293 §3.8.6.1: into a closed window a byte is sent now and then, or an old number without one (Linux).
#[test]
fn zero_window_probes() {
    let tables = Script::at(Server).run(
        "
        0    client wifi S  0    0    0
        0.1  server wifi SA 0    1    0
        20   client wifi A  1    1    0
        100  server wifi A  1    1    1000
        120  client wifi A  1    1001 0 win(0)
        320  server wifi A  1000 1    0           # Linux
        340  client wifi A  1    1001 0 win(0)
        740  server wifi A  1001 1    1           # others
        760  client wifi A  1    1001 0 win(0)
        1560 server wifi A  1001 1    1           # again
        1580 client wifi A  1    1002 0           # it opened
        1580 server wifi A  1002 1    500
        1600 client wifi A  1    1502 0
        ",
    );
    let down = flow(&tables, 0, Down);
    assert_eq!((down.zero_window_probe_packets, down.keep_alive_packets), (Some(3), Some(0)));
    // The byte came through in the end; that it was tried twice is no loss.
    assert_eq!((transfer(&tables, Down).bytes, down.bytes), (1501, 1501));
    assert_eq!(
        (down.retransmitted_packets, down.loss_rate_percent, down.duplicate_packets),
        (Some(0), Some(0.0), Some(0))
    );
    // From 120 to 1580 ms nothing new came.
    assert_eq!(events(&tables), ["tcp_established", "gap"]);
    assert_eq!(transfer(&tables, Down).longest_gap_ms, Some(1460.0));
    assert_eq!(down.window_bytes_min, Some(0));
}
