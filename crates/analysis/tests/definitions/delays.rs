//! Losses, round-trip times, what comes out of order and what comes late.

use crate::script::Host::Server;
use crate::script::*;
use crate::{TWO_PATHS, TWO_PATHS_AT_SERVER};

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
