use super::bins::{And, Runs};
use super::{Bin, Losses, MOST_BINS, Timeline};
use crate::event::{Data, FlowEvent, Kind, Seen};
use tables::Direction;
use wire::{PointId, Time};

fn at(ms: i64) -> Time {
    Time::from_nanos(ms * 1_000_000)
}

fn on(timeline: &mut Timeline, ms: i64, subflow: usize, kind: Kind) {
    let seen = Seen { at: at(ms), point: PointId(0), record: 1 };
    timeline.on(&FlowEvent { seen, subflow, direction: Direction::Down, kind });
}

#[test]
fn losses_are_counted_however_many_there_are() {
    let mut timeline = Timeline::new(at(0));
    on(&mut timeline, 0, 0, Kind::Rtt { nanos: 20_000_000 });
    for ms in (0..50_000).step_by(10) {
        on(&mut timeline, ms, 0, Kind::Data(Data { bytes: 1000, packets: 1, ..Data::default() }));
    }
    timeline.finish();
    let losses = timeline.flows[0].losses.as_ref().unwrap();
    assert_eq!((losses.count, losses.bursts, losses.seconds), (5000, 1, 50));
    assert_eq!((losses.above(19_000.0), losses.above(40_000.0)), (5000, 0));
    assert!(timeline.whole.len() <= MOST_BINS && timeline.flows[0].bins.len() <= MOST_BINS);
}

#[test]
fn what_a_loss_leaves_in_flight_shows_however_long_times_are() {
    let left_after = |left_bytes| {
        let mut timeline = Timeline::new(at(0));
        on(&mut timeline, 0, 0, Kind::Rtt { nanos: 20_000_000 });
        let flight = |in_flight_bytes| Kind::Flight { in_flight_bytes, window_bytes: None };
        // A loss each 200 ms, and as much in flight as before from 100 ms after it on, for five minutes.
        for ms in (0..300_000).step_by(10) {
            let since = ms % 200;
            on(&mut timeline, ms, 0, flight(if (20..100).contains(&since) { left_bytes } else { 20_000 }));
            if since == 0 {
                on(&mut timeline, ms, 0, Kind::Data(Data { bytes: 1000, packets: 1, ..Data::default() }));
            }
        }
        timeline.flows[0].losses.as_ref().unwrap().left_after()
    };
    assert_eq!((left_after(10_000), left_after(20_000)), (0.5, 1.0));
}

/// New data every 10 ms with answers 20 ms later for half a second; then a window of ten segments that nobody answers.
fn silent_after_a_window() -> Box<Timeline> {
    let mut timeline = Timeline::new(at(0));
    let new = || Kind::Data(Data { bytes: 1000, new_bytes: 1000, packets: 1, ..Data::default() });
    let flight = |in_flight_bytes| Kind::Flight { in_flight_bytes, window_bytes: None };
    on(&mut timeline, 20, 0, Kind::Rtt { nanos: 20_000_000 });
    for ms in (0..500).step_by(10) {
        on(&mut timeline, ms, 0, new());
        on(&mut timeline, ms, 0, flight(3000));
        on(&mut timeline, ms + 5, 0, flight(2000));
    }
    for number in 0..10 {
        on(&mut timeline, 500 + number, 0, new());
        on(&mut timeline, 500 + number, 0, flight(3000 + 1000 * number as u64));
    }
    timeline
}

#[test]
fn what_a_dead_path_held_is_no_loss_of_a_queue() {
    let again = || Kind::Data(Data { bytes: 1000, packets: 1, ..Data::default() });
    let mut dead = silent_after_a_window();
    for ms in [800, 1400, 2600, 2620, 2620, 2640, 2640, 2640] {
        on(&mut dead, ms, 0, again());
    }
    assert!(dead.flows[0].losses.is_none());
    // Where the path goes on answering meanwhile, a few were lost.
    let mut alive = silent_after_a_window();
    on(&mut alive, 560, 0, Kind::Sacked { twice: false, gap: true });
    for ms in [561, 562, 563] {
        on(&mut alive, ms, 0, again());
    }
    assert_eq!(alive.flows[0].losses.as_ref().unwrap().count, 3);
}

#[test]
fn how_long_a_queue_was_that_lost_what_left_after_a_dead_path_came_back_nothing_tells() {
    let again = || Kind::Data(Data { bytes: 1000, packets: 1, ..Data::default() });
    let mut back = silent_after_a_window();
    on(&mut back, 5000, 0, again());
    on(&mut back, 5020, 0, Kind::Flight { in_flight_bytes: 0, window_bytes: None });
    on(&mut back, 5020, 0, Kind::Flight { in_flight_bytes: 50_000, window_bytes: None });
    on(&mut back, 5390, 0, Kind::Data(Data { bytes: 1000, new_bytes: 1000, packets: 1, ..Data::default() }));
    on(&mut back, 5395, 0, Kind::Sacked { twice: false, gap: true });
    (0..20).for_each(|_| on(&mut back, 5400, 0, again()));
    assert!(back.flows[0].losses.is_none());
    on(&mut back, 5500, 0, Kind::Rtt { nanos: 150_000_000 });
    on(&mut back, 5510, 0, again());
    let losses = back.flows[0].losses.as_ref().unwrap();
    assert_eq!((losses.count, losses.above(140_000.0)), (1, 1));
}

#[test]
fn a_time_out_is_spurious_where_the_path_had_held_all_up() {
    let again = || Kind::Data(Data { bytes: 1000, packets: 1, ..Data::default() });
    let flight = |in_flight_bytes| Kind::Flight { in_flight_bytes, window_bytes: None };
    let spurious = |answers: &[(i64, u64)]| {
        let mut timeline = silent_after_a_window();
        on(&mut timeline, 800, 0, again());
        answers.iter().for_each(|&(ms, left_bytes)| on(&mut timeline, ms, 0, flight(left_bytes)));
        timeline.finish();
        timeline.flows[0].bins.iter().map(|bin| bin.spurious).sum::<u8>()
    };
    assert_eq!(spurious(&[(1000, 8000), (1001, 3000), (1002, 0), (1900, 2000), (1990, 0)]), 1);
    // Of a gap that the receiver had reported, the rest had come long before.
    let mut gap = silent_after_a_window();
    on(&mut gap, 530, 0, Kind::Sacked { twice: false, gap: true });
    on(&mut gap, 900, 0, again());
    [(1000, 0), (1900, 2000), (1990, 0)].iter().for_each(|&(ms, left)| on(&mut gap, ms, 0, flight(left)));
    gap.finish();
    assert!(gap.flows[0].bins.iter().all(|bin| bin.spurious == 0));
    // What was sent again is acknowledged, and little else.
    assert_eq!(spurious(&[(1000, 11_000), (1020, 10_000), (1900, 9000), (1990, 0)]), 0);
    assert_eq!(
        spurious(&[(1000, 10_000), (1000, 0), (1900, 2000), (1990, 0)]),
        1,
        "what came at once is answered at once"
    );
    // All of it had come before, and its acknowledgements were lost: one answers what was sent again.
    assert_eq!(spurious(&[(1000, 1000), (1020, 0), (1900, 2000), (1990, 0)]), 0);
    // One answer to all, and one to what came twice: sooner than a round trip after that left, it had been lost before.
    let with_rtt = |rtt_us, again_ms, answer_ms, twice_ms| {
        let mut timeline = silent_after_a_window();
        timeline.flows[0].last_rtt_us = rtt_us;
        on(&mut timeline, 800, 0, again());
        on(&mut timeline, again_ms, 0, again());
        let mut answers = [(answer_ms, flight(0)), (twice_ms, Kind::Sacked { twice: true, gap: false })];
        answers.sort_by_key(|(ms, _)| *ms);
        answers.into_iter().for_each(|(ms, kind)| on(&mut timeline, ms, 0, kind));
        [(answer_ms + 5, 2000), (3000, 0)].iter().for_each(|&(ms, left)| on(&mut timeline, ms, 0, flight(left)));
        timeline.finish();
        timeline.flows[0].bins.iter().map(|bin| bin.spurious).sum::<u8>()
    };
    let at_once = |again_ms, answer_ms, twice_ms| with_rtt(20_000, again_ms, answer_ms, twice_ms);
    assert_eq!([at_once(1400, 1900, 1900), at_once(1400, 1900, 1901)], [1, 1], "held");
    assert_eq!(at_once(1400, 1425, 1425), 0, "its acknowledgements were lost");
    assert_eq!(at_once(1400, 1900, 2900), 0, "nothing came twice then");
    assert_eq!(with_rtt(0, 1400, 1425, 1425), 0, "nothing tells what would be late");
    // What left at once when all had come, and was lost, is no part of it.
    let mut later = silent_after_a_window();
    on(&mut later, 800, 0, again());
    (0..3).for_each(|number| on(&mut later, 1000, 0, flight(8000 - 4000 * number)));
    (0..8).for_each(|_| on(&mut later, 1060, 0, again()));
    on(&mut later, 1900, 0, flight(0));
    later.finish();
    assert_eq!(later.flows[0].bins.iter().map(|bin| bin.spurious).sum::<u8>(), 1);
}

#[test]
fn what_is_sent_again_a_round_trip_later_was_no_time_out() {
    let again = || Kind::Data(Data { bytes: 1000, packets: 1, ..Data::default() });
    for (rtt_ms, time_outs) in [(500, 0), (20, 1)] {
        let mut timeline = Timeline::new(at(0));
        on(&mut timeline, 0, 0, Kind::Rtt { nanos: rtt_ms * 1_000_000 });
        on(&mut timeline, 0, 0, again());
        on(&mut timeline, 510, 0, again());
        timeline.finish();
        let sum = timeline.flows[0].bins.iter().map(|bin| bin.timeouts).sum::<u8>();
        assert_eq!(sum, time_outs, "{rtt_ms} ms");
    }
}

#[test]
fn round_trips_before_losses_are_told_apart_to_a_few_percent() {
    let mut losses = Losses::new(at(0));
    for rtt_us in [60_000, 64_000, 69_000] {
        losses.add(at(0), &Data::default(), rtt_us, 0, at(0));
    }
    assert_eq!([losses.above(62_000.0), losses.above(66_500.0), losses.above(72_000.0)], [2, 1, 0]);
    for (part, rtt_us) in [(0.05, 60_000.0), (0.5, 64_000.0), (0.95, 69_000.0)] {
        assert!((losses.quantile(part) / rtt_us - 1.0).abs() < 0.03, "{part}");
    }
}

#[test]
fn losses_far_apart_in_one_flight_are_no_burst() {
    let mut losses = Losses::new(at(0));
    for offset in [0, 1000, 3000, 40_000, 90_000, 91_000] {
        losses.add(at(0), &Data { bytes: 1000, offset, ..Data::default() }, 20_000, 0, at(0));
    }
    assert_eq!((losses.bursts, losses.runs), (1, 3));
}

#[test]
fn what_left_after_a_pause_met_no_short_queue() {
    for (rtt_ms, apart_ms, holds_ms, alone) in
        [(20, 2, 0, 0), (20, 4, 0, 1), (200, 9, 0, 0), (200, 11, 0, 1), (20, 30, 40, 0), (20, 50, 40, 1)]
    {
        let mut timeline = Timeline::new(at(0));
        on(&mut timeline, 0, 0, Kind::Rtt { nanos: rtt_ms * 1_000_000 });
        let apart_nanos = apart_ms * 1_000_000;
        on(&mut timeline, 1, 0, Kind::Data(Data { bytes: 1000, packets: 1, apart_nanos, ..Data::default() }));
        let losses = timeline.flows[0].losses.as_ref().unwrap();
        assert_eq!(losses.alone(f64::from(holds_ms) * 1e3), alone, "{rtt_ms} {apart_ms} {holds_ms}");
    }
}

#[test]
fn a_window_that_fills_behind_a_gap_is_no_limit() {
    let behind = |twice| Kind::Sacked { twice, gap: true };
    let twice = Kind::Sacked { twice: true, gap: false };
    for (event, limited) in [(None, 10), (Some(behind(false)), 1), (Some(behind(true)), 1), (Some(twice), 10)] {
        let mut timeline = Timeline::new(at(0));
        on(&mut timeline, 0, 0, Kind::Flight { in_flight_bytes: 0, window_bytes: Some(10_000) });
        on(&mut timeline, 1, 0, Kind::Arrived { bytes: 10_000 });
        if let Some(event) = event {
            on(&mut timeline, 2, 0, event);
        }
        (3..12).for_each(|ms| on(&mut timeline, ms, 0, Kind::Arrived { bytes: 1 }));
        timeline.finish();
        let sum = timeline.whole.iter().map(|bin| bin.limited).sum::<u32>();
        assert_eq!(sum, limited);
    }
}

#[test]
fn waiting_is_counted_however_often_it_happens() {
    let mut timeline = Timeline::new(at(0));
    // Subflow 0 brings what 1 had overtaken by 150 ms; every other time what 0 itself had.
    for turn in 0..1000 {
        let came = 200 * turn + 150;
        on(&mut timeline, came, 0, Kind::InOrder { offset: 0, bytes: 1, delay_nanos: 0 });
        let waited = Kind::InOrder { offset: 1, bytes: 1, delay_nanos: 150_000_000 };
        on(&mut timeline, came - 150, usize::from(turn % 2 == 0), waited);
    }
    timeline.finish();
    let waited_us = |bins: &mut dyn Iterator<Item = u32>| bins.map(u64::from).sum::<u64>();
    assert_eq!(waited_us(&mut timeline.whole.iter().map(|bin| bin.waited_us)), 150_000_000);
    assert_eq!(waited_us(&mut timeline.flows[0].bins.iter().map(|bin| bin.waited_us)), 75_000_000);
    assert_eq!(waited_us(&mut timeline.flows[1].bins.iter().map(|bin| bin.waited_us)), 0);
}

#[test]
fn time_outs_that_double_are_told_from_those_that_do_not() {
    let mut timeline = Timeline::new(at(0));
    let again = || Kind::Data(Data { bytes: 1000, packets: 1, ..Data::default() });
    for ms in [0, 250, 750, 1750] {
        on(&mut timeline, ms, 0, again());
    }
    on(&mut timeline, 1760, 0, Kind::Flight { in_flight_bytes: 1000, window_bytes: None });
    on(&mut timeline, 1800, 0, Kind::Flight { in_flight_bytes: 0, window_bytes: None });
    // An answer came: the next is the first of another row.
    on(&mut timeline, 3000, 0, again());
    timeline.finish();
    let sum = timeline.flows[0]
        .bins
        .iter()
        .fold((0, 0), |(timeouts, backed_off), bin| (timeouts + bin.timeouts, backed_off + bin.backed_off));
    assert_eq!(sum, (4, 2));
}

/// Bins that are kept once where they are equal are the same as bins that are kept one by one.
#[test]
fn equal_bins_are_kept_once() {
    let mut state = 1_u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    for most in [2, 40] {
        let (mut runs, mut plain) = (Runs::<Bin>::default(), Vec::<Bin>::new());
        for _ in 0..4000 {
            let bin = Bin { came_bytes: random(most) as u32, ..Bin::default() };
            let index = random(plain.len() as u64 + 3) as usize;
            if index >= MOST_BINS {
                runs.halve();
                plain =
                    plain.chunks(2).map(|pair| pair.iter().fold(Bin::default(), |sum, &bin| sum.and(bin))).collect();
                continue;
            }
            plain.resize(plain.len().max(index + 1), Bin::default());
            match random(2) {
                0 => {
                    runs.put(index, bin);
                    plain[index] = plain[index].and(bin);
                }
                _ => {
                    runs.at(index).rtt_us += 1;
                    plain[index].rtt_us += 1;
                }
            }
            if random(10) == 0 {
                assert_eq!(runs.clone().all(), plain);
            }
        }
    }
}
