//! Chains: nothing is lost without a reason, nothing appears, order stays, changes take effect.

mod common;

use common::{Fate, MS, S, at, element, packet};
use link::{Chain, Change, Direction, Element, Gate, Out, Reason, Unsupported};
use proptest::prelude::*;
use serde_json::{Value, json};
use wire::Time;

fn queue() -> impl Strategy<Value = Value> {
    prop_oneof![
        (1..40_u32).prop_map(|n| json!({"queue": "drop-tail", "packets": n})),
        (1..40_000_u32).prop_map(|n| json!({"queue": "drop-head", "bytes": n})),
        (1..400_u64).prop_map(|ms| json!({"queue": "codel", "delay": ms * 1_000_000, "interval": 20_000_000})),
        (1..400_u64).prop_map(|ms| json!({"queue": "pie", "delay": ms * 1_000_000, "burst": 20_000_000})),
        // All of them one flow.
        (1..40_u32).prop_map(|n| json!({"queue": "fq-codel", "packets": n, "flows": 1, "interval": 20_000_000})),
    ]
}

/// Elements that keep order.
fn any_element() -> impl Strategy<Value = Value> {
    prop_oneof![
        (1_000_000..1_000_000_000_u64, queue())
            .prop_map(|(rate, queue)| json!({"element": "rate", "rate": rate, "queue": queue})),
        (1_000_000..100_000_000_u64, queue()).prop_map(|(rate, queue)| json!({
            "element": "rate-process", "mean": rate, "deviation": rate / 2, "correlation": 50_000_000,
            "floor": 100_000, "queue": queue})),
        (1_000_000..100_000_000_u64, queue()).prop_map(|(rate, queue)| json!({
            "element": "rate-markov", "high": rate, "high_time": 30_000_000, "low_time": 10_000_000, "queue": queue})),
        (prop::collection::vec(1..20_u64, 1..20), queue()).prop_map(|(mut trace, queue)| {
            trace.sort_unstable();
            json!({"element": "trace", "trace": trace, "queue": queue})
        }),
        (0..50_000_000_u64, 0..20_000_000_u64)
            .prop_map(|(delay, jitter)| json!({"element": "delay", "delay": delay, "jitter": jitter})),
        (0.0..0.3).prop_map(|ratio| json!({"element": "loss", "ratio": ratio})),
        (0.0..0.3, 0.1..1.0).prop_map(|(p, r)| json!({"element": "gilbert-elliott", "p": p, "r": r})),
        Just(json!({"element": "gilbert-elliott-time", "good_time": 30_000_000, "bad_time": 3_000_000})),
        (0.0..0.5, 1..5_u32, 0..3_000_000_u64).prop_map(|(ratio, tries, back_off)| json!({
            "element": "arq", "error_ratio": ratio, "tries": tries, "back_off": back_off})),
        (0..100_000_000_u64, 0..20_000_000_u64, prop::option::of(0..20_000_000_u64)).prop_map(
            |(takes, idle, shared)| json!({
                "element": "promotion", "takes": takes, "idle_after": idle, "shared_after": shared,
                "shared_takes": shared.map_or(0, |_| takes / 2), "shared_bytes": shared.map_or(0, |_| 500)})
        ),
        (1_000_000..100_000_000_u64, 0..20_000_000_u64, any::<bool>()).prop_map(|(every, pause, lossy)| json!({
            "element": "handover", "every": every, "shortest": 0, "longest": pause, "lossy": lossy})),
        (100_000..10_000_000_u64, 0.05..1.0, 0..20_000_000_u64).prop_map(
            |(slot, share, request)| json!({"element": "grants", "slot": slot, "share": share, "request": request})
        ),
        (1_000_000..100_000_000_u64, 1..50_000_000_u64).prop_map(|(rate, delay)| json!({
            "element": "base-station", "rate": rate, "drain_rate": 4 * rate, "delay": delay})),
    ]
}

fn elements(values: &[Value], seed: u64, name: &str) -> Vec<Box<dyn Element>> {
    values.iter().enumerate().map(|(index, value)| element(value, seed, &format!("{name}/{index}"))).collect()
}

fn chain(up: &[Value], down: &[Value], seed: u64) -> Chain {
    Chain::of(elements(up, seed, "up"), elements(down, seed, "down"))
}

/// A packet every so often in either direction: gap, whether it goes up, size.
fn traffic() -> impl Strategy<Value = Vec<(i64, bool, u32)>> {
    prop::collection::vec((0..2_000_000_i64, any::<bool>(), 40..1500_u32), 1..300)
}

fn direction(up: bool) -> Direction {
    if up { Direction::Up } else { Direction::Down }
}

fn of(fate: &Fate, direction: Direction) -> (Vec<u32>, Vec<u32>) {
    let sent = fate.sent.iter().filter(|one| one.1 == direction).map(|one| one.2).collect();
    let mut all: Vec<u32> = sent;
    let in_order = all.clone();
    all.extend(fate.dropped.iter().filter(|one| one.1 == direction).map(|one| one.2));
    all.sort_unstable();
    (in_order, all)
}

/// Each packet left once or was dropped once, in its own direction, and those that left did so in order.
fn assert_conserved(fate: &Fate, packets: &[(i64, bool, u32)]) -> Result<(), TestCaseError> {
    for up in [true, false] {
        let pushed: Vec<u32> =
            packets.iter().enumerate().filter(|(_, one)| one.1 == up).map(|(number, _)| number as u32).collect();
        let (in_order, all) = of(fate, direction(up));
        prop_assert!(in_order.is_sorted());
        prop_assert_eq!(all, pushed);
    }
    prop_assert!(fate.times().is_sorted());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn everything_leaves_once_or_is_dropped(
        up in prop::collection::vec(any_element(), 0..5), down in prop::collection::vec(any_element(), 0..5),
        packets in traffic(), seed in any::<u64>(),
    ) {
        let run = || {
            let mut chain = chain(&up, &down, seed);
            let mut fate = Fate::default();
            let mut now = 0;
            for (number, (gap, up, bytes)) in packets.iter().enumerate() {
                now += gap;
                fate.push(&mut chain, at(now), direction(*up), packet(number as u32, *bytes));
            }
            fate.run(&mut chain, at(1000 * S));
            fate
        };
        let fate = run();
        assert_conserved(&fate, &packets)?;
        prop_assert_eq!(fate, run());
    }

    /// The same when the elements are replaced on the way, twice, and when the gate closes and opens.
    #[test]
    fn nothing_is_lost_when_elements_are_replaced(
        profiles in prop::collection::vec(prop::collection::vec(any_element(), 0..5), 3..=3),
        packets in traffic(), seed in any::<u64>(),
    ) {
        let mut link = chain(&profiles[0], &profiles[0], seed);
        let mut fate = Fate::default();
        let mut out = Out::default();
        let mut now = 0;
        for (number, (gap, up, bytes)) in packets.iter().enumerate() {
            now += gap;
            if number % 50 == 25 {
                let next = chain(&profiles[number / 50 % 3], &profiles[number / 50 % 3], seed);
                fate.run(&mut link, at(now));
                link.change(at(now), Change::Profile(Box::new(next)), &mut out).unwrap();
                fate.collect(at(now), &mut out);
            }
            fate.push(&mut link, at(now), direction(*up), packet(number as u32, *bytes));
        }
        fate.run(&mut link, at(1000 * S));
        assert_conserved(&fate, &packets)?;
    }

    /// Servers do the work of a delay right behind them: as if something stood between the two.
    #[test]
    fn a_delay_behind_a_server_is_as_one_further_behind(
        rate in 1_000_000..1_000_000_000_u64, queue in queue(), delay in 0..50_000_000_u64, packets in traffic(),
    ) {
        let [rate, delay] =
            [json!({"element": "rate", "rate": rate, "queue": queue}), json!({"element": "delay", "delay": delay})];
        let run = |between: &[Value]| {
            let list = [std::slice::from_ref(&rate), between, std::slice::from_ref(&delay)].concat();
            let mut link = chain(&list, &list, 1);
            let (mut fate, mut out, mut queues) = (Fate::default(), Out::default(), Vec::new());
            let mut now = 0;
            for (number, (gap, up, bytes)) in packets.iter().enumerate() {
                now += gap;
                fate.push(&mut link, at(now), direction(*up), packet(number as u32, *bytes));
                link.catch_up(at(now), &mut out);
                let mut states = Vec::new();
                link.queues(&mut states);
                queues.extend(states.iter().map(|state| (state.packets, state.bytes, state.delay_ns)));
                if number == 150 {
                    fate.run(&mut link, at(now));
                    link.change(at(now), Change::Profile(Box::new(chain(&list, &list, 2))), &mut out).unwrap();
                }
                fate.collect(at(now), &mut out);
            }
            fate.run(&mut link, at(1000 * S));
            (fate, queues)
        };
        prop_assert_eq!(run(&[]), run(&[json!({"element": "loss", "ratio": 0})]));
    }

    /// A chain that is woken late does what it would have done, only later.
    #[test]
    fn lateness_does_not_add_up(up in prop::collection::vec(any_element(), 1..5), packets in traffic(), seed in any::<u64>()) {
        let run = |punctual: bool| {
            let mut chain = chain(&up, &[], seed);
            let mut fate = Fate::default();
            let mut out = Out::default();
            let mut now = 0;
            for (number, (gap, _, bytes)) in packets.iter().enumerate() {
                now += gap;
                if punctual {
                    fate.run(&mut chain, at(now - 1));
                }
                chain.push(at(now), Direction::Up, packet(number as u32, *bytes), &mut out);
                fate.collect(at(now), &mut out);
            }
            fate.run(&mut chain, at(1000 * S));
            fate
        };
        let (punctual, late) = (run(true), run(false));
        prop_assert_eq!(punctual.numbers(), late.numbers());
    }
}

#[test]
fn directions_are_apart() {
    let up = [json!({"element": "rate", "rate": 12_000_000}), json!({"element": "delay", "delay": 3 * MS})];
    let down = [json!({"element": "delay", "delay": 5 * MS})];
    let mut chain = chain(&up, &down, 1);
    let mut fate = Fate::default();
    fate.push(&mut chain, at(0), Direction::Up, packet(1, 1500));
    fate.push(&mut chain, at(0), Direction::Down, packet(2, 1500));
    fate.run(&mut chain, at(S));
    assert_eq!(fate.sent, [(4 * MS, Direction::Up, 1), (5 * MS, Direction::Down, 2)]);
}

/// As a medium that one station uses at a time.
#[test]
fn an_element_may_be_shared_by_both_directions() {
    let mut medium = Chain::new(vec![element(&json!({"element": "rate", "rate": 12_000_000}), 1, "a")], &[0], &[0]);
    let mut fate = Fate::default();
    fate.push(&mut medium, at(0), Direction::Up, packet(1, 1500));
    fate.push(&mut medium, at(0), Direction::Down, packet(2, 1500));
    fate.run(&mut medium, at(S));
    assert_eq!(fate.sent, [(MS, Direction::Up, 1), (2 * MS, Direction::Down, 2)]);
}

#[test]
fn a_drop_names_its_element() {
    let up = [json!({"element": "delay", "delay": 0}), json!({"element": "loss", "ratio": 1})];
    let mut chain = chain(&up, &[json!({"element": "loss", "ratio": 1})], 1);
    let mut out = Out::default();
    chain.push(at(0), Direction::Up, packet(1, 100), &mut out);
    chain.push(at(0), Direction::Down, packet(2, 100), &mut out);
    let dropped_at: Vec<_> = out.dropped.iter().map(|one| (one.direction, one.element)).collect();
    assert_eq!(dropped_at, [(Direction::Up, 1), (Direction::Down, 2)]);
}

/// What its elements do before a packet can leave is done when it is called, but as of its own time.
#[test]
fn a_chain_is_woken_when_a_packet_may_leave() {
    let rate = json!({"element": "rate", "rate": 12_000_000});
    let lossy = json!({"element": "periodic-loss", "every": 1});
    let mut link = chain(&[rate.clone(), lossy, json!({"element": "delay", "delay": 50 * MS})], &[], 1);
    let mut out = Out::default();
    link.push(at(0), Direction::Up, packet(1, 1500), &mut out);
    assert_eq!(link.deadline(), at(51 * MS));
    link.wake(at(20 * MS), &mut out);
    assert_eq!((out.dropped.len(), out.dropped[0].at, out.dropped[0].element), (1, at(MS), 1));
    assert_eq!(link.deadline(), Time::MAX);
}

/// What queues moves to the new server, the half sent packet first; what is in flight arrives when it would have, and
/// nothing overtakes it.
#[test]
fn an_answer_leaves_as_early_as_it_can() {
    let delay = |ms: i64| json!({"element": "delay", "delay": ms * MS});
    // 20 ms to the box and back, 60 ms behind it.
    let parts = elements(&[delay(20), json!({"element": "mtu", "bytes": 500}), delay(60), delay(20)], 1, "x");
    let mut chain = Chain::new(parts, &[0, 1, 2], &[1, 3]);
    let mut out = Out::default();
    chain.push(at(0), Direction::Up, packet(0, 1500), &mut out);
    let mut woken = Vec::new();
    while out.sent.is_empty() {
        woken.push(chain.deadline());
        chain.wake(chain.deadline(), &mut out);
    }
    assert_eq!(woken, [at(40 * MS)]);
    assert_eq!(out.sent[0].0, Direction::Down);
}

#[test]
fn a_profile_takes_over_in_order() {
    let slow = [json!({"element": "rate", "rate": 1_200_000}), json!({"element": "delay", "delay": 50 * MS})];
    let fast = [json!({"element": "rate", "rate": 12_000_000}), json!({"element": "delay", "delay": MS})];
    let mut link = chain(&slow, &[], 1);
    let mut fate = Fate::default();
    for number in 0..4 {
        fate.push(&mut link, at(0), Direction::Up, packet(number, 1500));
    }
    fate.run(&mut link, at(15 * MS));
    let mut out = Out::default();
    link.change(at(15 * MS), Change::Profile(Box::new(chain(&fast, &[], 1))), &mut out).unwrap();
    fate.run(&mut link, at(S));
    // Packet 0 left the server at 10 ms. The others leave the new one at 16, 17, 18 and would be there 1 ms later.
    assert_eq!(fate.numbers(), [0, 1, 2, 3]);
    assert_eq!(fate.times(), [60 * MS; 4]);
    fate.push(&mut link, at(2 * S), Direction::Up, packet(4, 1500));
    fate.run(&mut link, at(3 * S));
    assert_eq!(fate.times()[4], 2 * S + 2 * MS);
}

#[test]
fn a_gate_holds_loses_and_lets_through() {
    let mut gate: Box<dyn Element> = Box::new(Chain::new(vec![Box::new(Gate::new())], &[0], &[0]));
    let mut fate = Fate::default();
    let script = [
        (Some(Change::Hold), 1),
        (None, 2),
        (Some(Change::Restore), 3),
        (Some(Change::Blackout), 4),
        (Some(Change::Restore), 5),
        (Some(Change::Detach), 6),
        (Some(Change::Hold), 7),
        // A hold outlives the interface's return.
        (Some(Change::Attach), 8),
        (Some(Change::Blackout), 9),
    ];
    for (number, (change, time)) in script.into_iter().enumerate() {
        let mut out = Out::default();
        if let Some(change) = change {
            gate.change(at(time), change, &mut out).unwrap();
        }
        fate.collect(at(time), &mut out);
        fate.push(&mut *gate, at(time), Direction::Down, packet(number as u32, 100));
    }
    let down = Direction::Down;
    assert_eq!(fate.sent, [(3, down, 0), (3, down, 1), (3, down, 2), (5, down, 4)]);
    let lost = [
        (4, 3, Reason::Blackout),
        (6, 5, Reason::Detached),
        (7, 6, Reason::Detached),
        (9, 7, Reason::Blackout),
        (9, 8, Reason::Blackout),
    ];
    assert_eq!(fate.dropped, lost.map(|(time, number, reason)| (time, down, number, reason)));
}

#[test]
fn what_no_element_takes_comes_back() {
    let mut link = chain(&[json!({"element": "loss", "ratio": 0})], &[], 1);
    let result = link.change(at(0), Change::Blackout, &mut Out::default());
    assert!(matches!(result, Err(Unsupported(Change::Blackout))));
}
