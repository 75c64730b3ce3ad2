//! The mechanisms of recovery, each alone, against vectors and models.

use proptest::prelude::*;
use std::collections::BTreeSet;
use transport::config;
use transport::congestion::Window;
use transport::recovery::newreno::NewReno;
use transport::recovery::pacing::{self, Pacing};
use transport::recovery::prr::{Progress, Prr};
use transport::recovery::rack::{Circumstances, Rack};
use transport::recovery::ranges::Ranges;
use transport::recovery::rto::Rto;
use transport::recovery::scoreboard::{Record, Scoreboard, Verdict};
use transport::recovery::tlp::{Answer, Tlp};
use transport::recovery::usage::Usage;
use transport::subflow::Piece;
use wire::Time;

const MS: i64 = 1_000_000;

fn at(ms: i64) -> Time {
    Time::from_nanos(ms * MS)
}

fn record(offset: u64, sent: Time) -> Record {
    Record::new(sent, offset, Piece { data_offset: offset, len: 1000, data_fin: false, push: false }, false)
}

/// `n` segments of 1000 bytes from offset 0 on, a millisecond apart.
fn flight(n: u64) -> Scoreboard {
    let mut flight = Scoreboard::default();
    (0..n).for_each(|i| flight.sent(record(i * 1000, at(i as i64))));
    flight
}

#[test]
fn time_out_of_rfc_6298() {
    // RFC 6298 §2: SRTT 100, 100, 112.5 ms, RTTVAR 50, 37.5, 53.125 ms
    let settings =
        config::Tcp { linux_timeout: false, timer_wheel: false, min_timeout_ns: 0, ..config::Tcp::default() };
    let mut rto = Rto::new(&settings);
    assert_eq!(rto.timeout_ns(), 1000 * MS);
    for (rtt, timeout) in [(100, 300_000), (100, 250_000), (200, 325_000)] {
        rto.sample(rtt * MS, 0, 0);
        assert_eq!(rto.timeout_ns() / 1000, timeout);
    }
    rto.back_off();
    rto.back_off();
    assert_eq!(rto.timeout_ns(), 1300 * MS);
    (0..70).for_each(|_| rto.back_off());
    assert_eq!(rto.timeout_ns(), 120_000 * MS);
    rto.sample(100 * MS, 0, 0);
    assert!(rto.timeout_ns() < 400 * MS, "a sample ends the back-off");
}

#[test]
fn back_off_that_is_capped() {
    // RFC 6298 §5.5 doubles without end but for §2.5's bound; here no more than so often.
    for (max_backoff, waits) in
        [(Some(0), [1, 1, 1, 1, 1]), (Some(2), [1, 2, 4, 4, 4]), (None, [1, 2, 4, 8, 10]), (Some(9), [1, 2, 4, 8, 10])]
    {
        let settings = config::Tcp { max_backoff, max_timeout_ns: 10_000 * MS, ..config::Tcp::default() };
        let mut rto = Rto::new(&settings);
        for wait in waits {
            assert_eq!(rto.timeout_ns(), wait * 1000 * MS, "{max_backoff:?}");
            rto.back_off();
        }
        // 2 + 4 + 8 + 10, whatever the cap.
        assert_eq!(rto.patience_ns(4), 24_000 * MS);
    }
}

#[test]
fn least_time_outs() {
    // RFC 6298 §2.4: of the whole; Linux: of the variance term
    for (linux_timeout, timeout) in [(false, 200), (true, 220)] {
        let mut rto = Rto::new(&config::Tcp { linux_timeout, ..config::Tcp::default() });
        (0..100).for_each(|i| rto.sample(20 * MS, i, i));
        assert_eq!(rto.timeout_ns(), timeout * MS);
    }
}

#[test]
fn linux_doubles_whole_ticks() {
    // net/ipv4/tcp_input.c, __tcp_set_rto: 255.1 ms are 64 ticks of 4 ms. Behind such a path Linux 6.18 waited 544 and 1056 ms
    // after the first time-out, a step of its wheel longer than 512 and 1024; 510.2 ms would have been 512.
    for (timer_wheel, timeouts_us) in [(true, [256_000, 512_000, 1_024_000]), (false, [255_126, 510_252, 1_020_504])] {
        let mut rto = Rto::new(&config::Tcp { timer_wheel, ..config::Tcp::default() });
        (0..100).for_each(|i| rto.sample(55_126_000, i, i));
        for timeout_us in timeouts_us {
            assert_eq!(rto.timeout_ns() / 1000, timeout_us);
            rto.back_off();
        }
    }
}

#[test]
fn linux_keeps_the_greatest_deviation_of_a_round() {
    let mut rto = Rto::new(&config::Tcp { min_timeout_ns: MS, ..config::Tcp::default() });
    // The first: 2 R. Then the deviation rises by what the error is above a quarter of it.
    rto.sample(100 * MS, 0, 10);
    assert_eq!(rto.timeout_ns(), 300 * MS);
    rto.sample(180 * MS, 1, 10);
    assert_eq!(rto.timeout_ns(), (110 + 230) * MS);
    rto.sample(110 * MS, 2, 10);
    assert_eq!(rto.timeout_ns(), (110 + 230) * MS, "not before the round ends");
    rto.sample(110 * MS, 11, 20);
    let sinking = rto.timeout_ns();
    rto.sample(110 * MS, 21, 30);
    assert!(rto.timeout_ns() < sinking);
}

#[test]
fn a_syn_that_was_lost_makes_it_3_s() {
    // RFC 6298 §5.7
    let mut rto = Rto::new(&config::Tcp::default());
    rto.back_off();
    rto.after_lost_syn();
    assert_eq!(rto.timeout_ns(), 3000 * MS);
}

proptest! {
    #[test]
    fn ranges_are_a_set(ranges in prop::collection::vec((0..60u64, 1..12u64), 0..40), cut in 0..70u64, take: bool) {
        let (mut ours, mut model) = (Ranges::default(), BTreeSet::new());
        for (start, len) in ranges {
            let mut new = BTreeSet::new();
            let held = ours.insert(start..start + len, |part| new.extend(part));
            let expected: BTreeSet<u64> = (start..start + len).filter(|i| !model.contains(i)).collect();
            prop_assert_eq!(&new, &expected);
            model.extend(new);
            prop_assert!(held.clone().all(|i| model.contains(&i)));
            prop_assert!(!model.contains(&held.end) && (held.start == 0 || !model.contains(&(held.start - 1))));
        }
        if take {
            let mut next = cut;
            while model.contains(&next) {
                next += 1;
            }
            prop_assert_eq!(ours.take_first(cut), next);
            model = model.split_off(&next);
        } else {
            ours.trim(cut);
            model = model.split_off(&cut);
        }
        prop_assert_eq!(ours.iter().flatten().collect::<Vec<_>>(), model.iter().copied().collect::<Vec<_>>());
        prop_assert_eq!(ours.bytes(), model.len() as u64);
        prop_assert_eq!(ours.end(), model.last().map(|last| last + 1));
    }

    /// Whatever happens to a flight, its counters are what its records say, and nothing lost is forgotten.
    #[test]
    fn counters(acts in prop::collection::vec((0..8u8, 0..40u64, 1..10u64), 0..200)) {
        let (mut flight, mut sent, mut acked, mut now) = (Scoreboard::default(), 0u64, 0, 0);
        for (act, position, len) in acts {
            now += 1;
            let start = acked + position;
            match act {
                0 | 1 => (0..len).for_each(|_| {
                    flight.sent(record(sent * 1000, at(now)));
                    sent += 1;
                }),
                2 => {
                    acked = (acked + position % 5).min(sent);
                    flight.acknowledge(acked * 1000, |record| assert!(!record.sacked));
                }
                3 if start < sent => {
                    let end = (start + len).min(sent);
                    flight.sack(start * 1000..end * 1000, |record| assert!(!record.sacked));
                }
                4 => {
                    let before = at(now - len as i64);
                    flight.judge(|record| if record.last_sent < before { Verdict::Lost } else { Verdict::Unknown });
                    prop_assert!(flight.records().all(|r| r.sacked || r.last_sent >= before || (r.lost && !r.resent)));
                }
                5 => flight.lose_below_sacked(1000),
                6 if position == 0 => flight.time_out(|_| true),
                6 => flight.lose_first(),
                _ => {
                    let first = flight.records().position(|r| r.lost && !r.resent);
                    prop_assert_eq!(flight.next_lost(), first);
                    if let Some(first) = first {
                        flight.resend(first, at(now), false);
                    }
                }
            }
            let count = |is: fn(&Record) -> bool| flight.records().filter(|r| is(r)).count() as u32;
            prop_assert_eq!(flight.len(), (sent - acked) as u32);
            prop_assert_eq!(flight.sacked(), count(|r| r.sacked));
            prop_assert_eq!(flight.lost(), count(|r| r.lost));
            prop_assert_eq!(flight.waiting(), count(|r| r.lost && !r.resent));
            prop_assert_eq!(flight.pipe(), count(|r| !r.sacked && !r.lost) + count(|r| r.resent));
        }
    }
}

#[test]
fn is_lost_of_rfc_6675() {
    // RFC 6675 §4: more than two full segments above, or three blocks of whatever size
    let lost = |flight: &Scoreboard| flight.records().map(|record| u32::from(record.lost)).collect::<Vec<_>>();
    let mut scoreboard = flight(6);
    scoreboard.sack(1000..3000, |_| {});
    scoreboard.lose_below_sacked(1000);
    assert_eq!(lost(&scoreboard), [0, 0, 0, 0, 0, 0]);
    scoreboard.sack(4000..5000, |_| {});
    scoreboard.lose_below_sacked(1000);
    assert_eq!(lost(&scoreboard), [1, 0, 0, 0, 0, 0]);
    let mut scoreboard = flight(6);
    [1, 3, 5].into_iter().for_each(|i| scoreboard.sack(i * 1000..i * 1000 + 1000, |_| {}));
    scoreboard.lose_below_sacked(5000);
    assert_eq!(lost(&scoreboard), [1, 0, 0, 0, 0, 0]);
}

#[test]
fn next_seg_of_rfc_6675() {
    let mut flight = flight(6);
    flight.sack(4000..5000, |_| {});
    assert_eq!((flight.next_lost(), flight.next_unsure(), flight.last_unsacked()), (None, Some(0), Some(5)));
    flight.resend(0, at(10), false);
    assert_eq!(flight.next_unsure(), Some(1), "each once");
    for i in 1..4 {
        flight.resend(i, at(10), false);
    }
    assert_eq!(flight.next_unsure(), None, "nothing beyond what the peer has");
}

#[test]
fn a_peer_that_threw_away_what_it_had() {
    // RFC 2018 §8
    let mut flight = flight(3);
    flight.sack(0..2000, |_| {});
    flight.time_out(|_| true);
    assert_eq!((flight.sacked(), flight.waiting(), flight.next_lost()), (0, 3, Some(0)));
}

/// tcp_min_rtt_wlen: after 300 s and no more than 375 a round-trip time is forgotten.
#[test]
fn least_round_trips_are_forgotten() {
    let mut rto = Rto::new(&config::Tcp::default());
    assert_eq!(rto.min_rtt_ns(), None);
    rto.least(at(10_000), 20 * MS);
    for s in 11..310 {
        rto.least(at(s * 1000), 50 * MS);
        assert_eq!(rto.min_rtt_ns(), Some(20 * MS), "{s} s");
    }
    rto.least(at(386_000), 60 * MS);
    assert_eq!(rto.min_rtt_ns(), Some(50 * MS));
    rto.least(at(5_000_000), 70 * MS);
    assert_eq!(rto.min_rtt_ns(), Some(70 * MS));
}

/// RFC 8985 §6.2 step 5: the timer is for the last of those that may still arrive.
#[test]
fn judgement_waits_for_the_last() {
    let mut flight = flight(4);
    let verdict = |record: &Record| match record.offset {
        0 => Verdict::Lost,
        1000 | 2000 => Verdict::Wait(record.offset as i64),
        _ => Verdict::Unknown,
    };
    assert_eq!((flight.judge(verdict), flight.lost()), (Some(2000), 1));
    assert_eq!((flight.judge(|_| Verdict::Lost), flight.lost()), (None, 4));
}

/// tcp_timeout_mark_lost: what was sent less than a round trip ago is not lost by a time-out, but the first segment is.
#[test]
fn a_time_out_spares_what_was_just_sent() {
    let mut rack = Rack::default();
    let mut flight = flight(60);
    flight.acknowledge(1000, |record| rack.delivered(at(20), record, 0, false));
    flight.time_out(|record| rack.is_overdue(at(60), record));
    // Sent at 1 to 40 ms.
    assert_eq!(flight.lost(), 40);
    flight.time_out(|record| rack.is_overdue(at(0), record));
    assert_eq!(flight.lost(), 40);
}

#[test]
fn newreno() {
    // RFC 6582 §3.2
    let mut newreno = NewReno::default();
    assert!(newreno.duplicate(5) && newreno.duplicate(5) && !newreno.is_lost(1));
    assert!(newreno.duplicate(5) && newreno.is_lost(1));
    assert!(newreno.duplicate(5) && !newreno.duplicate(5), "no more than can have arrived");
    newreno.start(6000);
    assert!(!newreno.is_lost(6000) && newreno.is_lost(6001), "step 2: not for what a repair caused");
    assert_eq!(newreno.acknowledged(3), 1, "the hole; the others had their duplicates");
    assert_eq!((newreno.duplicates(), newreno.acknowledged(5), newreno.duplicates()), (2, 3, 0));
}

#[test]
fn proportional_rate_reduction() {
    // RFC 6937 §4 figure 1, shifted: 20 in flight, the first lost, ssthresh 10: one segment for every second ACK
    let (mut prr, mut pipe, mut sent) = (Prr::default(), 20, Vec::new());
    prr.start(20);
    pipe -= 3; // two SACKed before the third, and the one lost
    for ack in 0..17 {
        if ack > 0 {
            pipe -= 1;
        }
        let window = prr.window(&Progress { delivered: 1, nothing_lost: ack > 0, advanced: false }, pipe, 10);
        while pipe < window {
            prr.sent();
            pipe += 1;
            sent.push(ack);
        }
    }
    assert_eq!(sent.len(), 9, "half of what was delivered");
    assert!(sent.windows(2).all(|pair| (1..=3).contains(&(pair[1] - pair[0]))), "evenly: {sent:?}");
    assert_eq!(pipe, 10, "at the end ssthresh is in flight");
}

#[test]
fn proportional_rate_reduction_after_many_losses() {
    // RFC 6937 §3.1, slow-start bound: one more than delivered while repair makes progress, never above ssthresh
    let mut prr = Prr::default();
    prr.start(20);
    let ack = |delivered, nothing_lost, advanced| Progress { delivered, nothing_lost, advanced };
    assert_eq!(prr.window(&ack(1, false, false), 2, 10), 3);
    prr.sent();
    assert_eq!(prr.window(&ack(1, true, true), 2, 10), 4);
    assert_eq!(prr.window(&ack(1, false, true), 9, 10), 10);
}

#[test]
fn rack() {
    let mut rack = Rack::default();
    let calm = Circumstances { recovering: false, sacked: 1, srtt_ns: 100 * MS, min_rtt_ns: 40 * MS };
    let (early, late) = (record(0, at(0)), record(1000, at(5)));
    assert_eq!(rack.judge(at(60), &early, 0), Verdict::Unknown, "nothing was delivered");
    rack.delivered(at(55), &late, 0, false);
    // RFC 8985 §6.2 step 4: a quarter of the least round trip, unless losses are plain
    assert_eq!(rack.window_ns(&calm), 10 * MS);
    assert_eq!(rack.window_ns(&Circumstances { recovering: true, ..calm }), 0);
    assert_eq!(rack.window_ns(&Circumstances { sacked: 3, ..calm }), 0);
    // Step 5: sent 5 ms before what took 50 ms
    assert_eq!(rack.judge(at(55), &early, 10 * MS), Verdict::Wait(5 * MS));
    assert_eq!(rack.judge(at(60), &early, 10 * MS), Verdict::Lost);
    assert_eq!(rack.judge(at(500), &record(2000, at(6)), 0), Verdict::Unknown, "sent later");
    // Step 3: an original below what was delivered before
    rack.delivered(at(58), &early, 0, false);
    assert_eq!(rack.window_ns(&Circumstances { recovering: true, sacked: 9, ..calm }), 10 * MS);
    // Duplicates widen it once per round, up to a round trip
    rack.duplicate(1000, 9000);
    rack.duplicate(2000, 9000);
    assert_eq!(rack.window_ns(&calm), 20 * MS);
    (0..20).for_each(|i| rack.duplicate(9000 + i * 1000, 10_000 + i * 1000));
    assert_eq!(rack.window_ns(&calm), 100 * MS);
    (0..16).for_each(|_| rack.recovered());
    assert_eq!(rack.window_ns(&calm), 10 * MS);
}

#[test]
fn rack_takes_no_early_ack_for_a_copy() {
    // RFC 8985 §6.2 step 2: the original arrived
    let mut rack = Rack::default();
    let copy = Record { transmissions: 2, last_sent: at(100), ..record(0, at(0)) };
    rack.delivered(at(110), &copy, 40 * MS, false);
    rack.delivered(at(160), &copy, 40 * MS, true);
    assert_eq!(rack.judge(at(500), &record(1000, at(1)), 0), Verdict::Unknown);
    rack.delivered(at(160), &copy, 40 * MS, false);
    assert_eq!(rack.judge(at(500), &record(1000, at(1)), 0), Verdict::Lost);
}

#[test]
fn tail_loss_probe() {
    // RFC 8985 §7.2
    assert_eq!(Tlp::timeout_ns(None, 3), 1000 * MS);
    assert_eq!(Tlp::timeout_ns(Some(50 * MS), 1), 300 * MS);
    assert!(Tlp::timeout_ns(Some(50 * MS), 2) < 110 * MS);
    // §7.4.2: only an ACK beyond the probe's end, without a sign of a duplicate, shows a repair
    let answer = |acked, duplicate, bare| Answer { acked, duplicate, bare };
    for (answer, repaired, free) in [
        (answer(900, false, false), false, false),
        (answer(1000, false, false), false, false),
        (answer(1000, false, true), false, true),
        (answer(1000, true, false), false, true),
        (answer(2000, false, false), true, true),
    ] {
        let mut tlp = Tlp::default();
        tlp.sent(1000, true);
        assert_eq!((tlp.acknowledged(&answer), tlp.is_free()), (repaired, free), "{answer:?}");
        let mut tlp = Tlp::default();
        tlp.sent(1000, false);
        assert!(!tlp.acknowledged(&answer), "new data repairs nothing");
    }
}

fn window(cwnd_packets: f64, ssthresh_packets: f64) -> Window {
    Window {
        cwnd_packets,
        ssthresh_packets,
        srtt_ns: Some(100 * MS),
        min_rtt_ns: Some(100 * MS),
        mss_bytes: 1000,
        recovering: false,
        usable: true,
    }
}

#[test]
fn pacing_rate() {
    // Linux: twice in slow start, 1.2 times from half of ssthresh on
    assert_eq!(pacing::bytes_per_second(&window(10.0, f64::INFINITY), 5), 200_000);
    assert_eq!(pacing::bytes_per_second(&window(10.0, 20.0), 5), 120_000);
    assert_eq!(pacing::bytes_per_second(&window(10.0, 5.0), 20), 240_000);
    assert_eq!(pacing::bytes_per_second(&Window { srtt_ns: None, ..window(10.0, 5.0) }, 20), u64::MAX);
}

#[test]
fn pacing_spreads_segments() {
    // 1000 bytes at 100 kB/s are 10 ms; the first ten segments go as they like, the tenth is the first that counts
    // (tcp_update_skb_after_send)
    let mut pacing = Pacing::default();
    for _ in 0..10 {
        assert!(!pacing.holds(at(100)));
        pacing.sent(at(100), 1000, 100_000, 1);
    }
    assert!(pacing.holds(at(109)) && !pacing.holds(at(110)));
    // Who is late makes up for it, by half of a segment at most.
    pacing.sent(at(113), 1000, 100_000, 1);
    assert_eq!(pacing.release(), at(120));
    pacing.sent(at(500), 1000, 100_000, 1);
    assert_eq!(pacing.release(), at(505));
    // Three at once, then their time.
    for _ in 0..3 {
        assert!(!pacing.holds(at(505)));
        pacing.sent(at(505), 1000, 100_000, 3);
    }
    assert!(pacing.holds(at(505)));
    assert_eq!(pacing.release(), at(535));
}

#[test]
fn only_a_window_that_is_used_grows() {
    let mut usage = Usage::default();
    usage.sent(false, 4, 0, 4000);
    assert!(usage.is_limited(&window(7.0, f64::INFINITY)), "slow start may double what was used");
    assert!(!usage.is_limited(&window(8.0, f64::INFINITY)));
    assert!(!usage.is_limited(&window(7.0, 5.0)));
    usage.sent(true, 7, 1000, 11_000);
    assert!(usage.is_limited(&window(7.0, 5.0)));
    usage.sent(false, 3, 5000, 12_000);
    assert!(usage.is_limited(&window(7.0, 5.0)), "for a round trip");
    usage.sent(false, 3, 11_000, 15_000);
    assert!(!usage.is_limited(&window(7.0, 5.0)));
}
