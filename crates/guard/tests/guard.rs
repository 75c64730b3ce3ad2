//! What the guard decides of two paths that are described to it, as often as it asks.

use guard::{Cause, Decision, Guard, Order, Seen, Settings, State, Verdict};
use parameters::{Number, Parameters, Table, Text};
use std::collections::VecDeque;
use wire::Time;

const MS: i64 = 1_000_000;

fn settings() -> Settings {
    Settings::read(&Table::new(), None).unwrap()
}

/// What a path does from now on.
#[derive(Clone, Copy)]
struct Way {
    /// Round-trip time of probes; none: they vanish.
    rtt_ms: Option<i64>,
    /// Whether data comes in every step.
    receives: bool,
    /// Whether our data is acknowledged in every step; none: there is none.
    acked: Option<bool>,
}

const FLOWS: Way = Way { rtt_ms: Some(30), receives: true, acked: None };
const IDLE: Way = Way { receives: false, ..FLOWS };
const DEAD: Way = Way { rtt_ms: None, receives: false, acked: None };

struct Bench {
    guard: Guard,
    now: Time,
    ways: Vec<Way>,
    seen: Vec<Seen>,
    answers: VecDeque<(Time, usize, u16)>,
    decisions: Vec<(i64, usize, Decision)>,
    can_send: bool,
    /// What is sent before waits until then.
    held: Time,
    sent: usize,
    /// The host is so busy that nobody looks more often.
    rarely_ns: i64,
    /// Whether what is decided is done.
    acts: bool,
}

impl Bench {
    fn new(ways: &[Way]) -> Bench {
        Bench::with(settings(), ways)
    }

    fn with(settings: Settings, ways: &[Way]) -> Bench {
        let mut guard = Guard::new(settings);
        let seen = Seen { carries: true, srtt_ns: Some(30 * MS), rttvar_ns: 5 * MS, ..Seen::default() };
        let now = Time::default();
        for _ in ways {
            guard.add(now);
        }
        let (ways, seen) = (ways.to_vec(), vec![seen; ways.len()]);
        Bench {
            guard,
            now,
            ways,
            seen,
            answers: VecDeque::new(),
            decisions: vec![],
            can_send: true,
            held: now,
            sent: 0,
            rarely_ns: 0,
            acts: true,
        }
    }

    fn run(&mut self, ms: i64) -> &mut Bench {
        let end = self.now + ms * MS;
        while self.now < end {
            self.now = self.now + self.guard.pause_ns(self.now).max(self.rarely_ns);
            let mut orders = Vec::new();
            while let Some(at) = self.answers.iter().position(|&(at, ..)| at <= self.now) {
                let (_, path, number) = self.answers.remove(at).unwrap();
                self.guard.answered(self.now, path, number, &mut orders);
            }
            for (path, way) in self.ways.iter().enumerate() {
                let seen = &mut self.seen[path];
                seen.received_bytes += 1000 * u64::from(way.receives);
                seen.outstanding = way.acked.is_some();
                seen.acked_bytes += 1000 * u64::from(way.acked == Some(true));
                self.guard.seen(self.now, path, *seen, &mut orders);
            }
            self.guard.tick(self.now, &mut orders);
            for order in orders {
                match order {
                    Order::Probe { path, number, about } => {
                        if !self.can_send {
                            continue;
                        }
                        self.guard.sent(self.now, path, number, about);
                        self.sent += 1;
                        let rtt = self.ways[path].rtt_ms;
                        self.answers.extend(rtt.map(|rtt| (self.now.max(self.held) + rtt * MS, path, number)));
                    }
                    Order::Decided { path, decision } => {
                        // The policy closes what is suspended, and opens it again.
                        match decision.verdict {
                            Verdict::Suspended if self.acts => self.seen[path].carries = false,
                            Verdict::Resumed if self.acts => self.seen[path].carries = true,
                            _ => {}
                        }
                        self.decisions.push((self.now.as_nanos() / MS, path, decision));
                    }
                }
            }
        }
        self
    }

    fn set(&mut self, path: usize, way: Way) -> &mut Bench {
        self.ways[path] = way;
        self
    }

    fn first(&self, verdict: Verdict) -> Option<i64> {
        self.decisions.iter().find(|(.., decision)| decision.verdict == verdict).map(|&(at, ..)| at)
    }

    fn count(&self, verdict: Verdict) -> usize {
        self.decisions.iter().filter(|(.., decision)| decision.verdict == verdict).count()
    }
}

#[test]
fn a_path_that_dies_is_left_in_tenths_of_a_second() {
    for dies in [DEAD, Way { acked: Some(false), ..DEAD }] {
        let mut bench = Bench::new(&[FLOWS, IDLE]);
        bench.run(2000).set(0, dies).run(2000);
        let left = bench.first(Verdict::Suspended).unwrap() - 2000;
        // Half of 60 ms of margin, after gaps of 10 ms or a round trip of 30 ms and four times 5 ms; then 90 ms for probes.
        assert!((120..180).contains(&left), "{left} ms");
        assert_eq!((bench.guard.state(0), bench.count(Verdict::Suspended)), (State::Suspended, 1));
    }
}

#[test]
fn what_clears_a_path_is_a_decision() {
    let mut bench = Bench::new(&[FLOWS, IDLE]);
    let last = |bench: &Bench| bench.decisions.last().map(|(.., decision)| decision.to_string()).unwrap();
    // Its data waited in a radio that stood still, and comes before any answer.
    bench.run(2000).set(0, DEAD).run(120).set(0, FLOWS).run(100);
    assert_eq!(bench.count(Verdict::Cleared), 1);
    assert!(last(&bench).starts_with("nothing came for 1"), "{}", last(&bench));
    assert!(last(&bench).ends_with(" ms, then data moved again"), "{}", last(&bench));
    bench.run(20_000).set(0, Way { rtt_ms: Some(90), ..DEAD }).run(500);
    assert_eq!(bench.count(Verdict::Cleared), 2);
    assert!(last(&bench).contains(" probes answered within "), "{}", last(&bench));
}

#[test]
fn a_path_is_cleared_of_what_it_was_suspected_of() {
    let mut bench = Bench::new(&[FLOWS, FLOWS]);
    bench.run(2000).set(1, Way { rtt_ms: Some(90), ..IDLE }).run(5000);
    let overtaken = bench.decisions.iter().map(|(.., decision)| decision).filter(|one| one.cause == Cause::Overtaken);
    let still_ms: Vec<_> = overtaken.map(|one| one.still_ns / MS).collect();
    assert!(still_ms.len() > 2);
    for pair in still_ms.chunks_exact(2) {
        assert!((pair[0]..pair[0] + 100).contains(&pair[1]), "{still_ms:?}");
    }
}

#[test]
fn that_the_other_path_is_looked_at_too_costs_no_time() {
    // One packet came over it, as the peer tries it; it falls silent, and answers 90 ms after it is asked.
    let other = Way { rtt_ms: Some(90), ..IDLE };
    let mut bench = Bench::new(&[FLOWS, other]);
    bench.run(2000).set(0, DEAD).run(60).set(1, Way { receives: true, ..other }).run(10).set(1, other).run(500);
    let left = bench.first(Verdict::Suspended).unwrap() - 2000;
    assert!((120..180).contains(&left), "{left} ms");
    assert_eq!(bench.guard.state(0), State::Suspended);
}

#[test]
fn a_path_whose_signal_is_weak_is_left_and_comes_back_with_hysteresis() {
    let table = serde_json::json!({"leave_below": -80.0});
    let settings = Settings::read(table.as_object().unwrap(), None).unwrap().check().unwrap();
    let mut bench = Bench::new(&[FLOWS, IDLE]);
    bench.guard = Guard::new(settings);
    bench.ways.iter().for_each(|_| _ = bench.guard.add(bench.now));
    let mut state = |dbm: i32, ms: i64| {
        bench.guard.heard(0, Some(dbm));
        bench.run(ms).guard.state(0)
    };
    assert_eq!((state(-80, 2000), state(-81, 900)), (State::Good, State::Good));
    assert_eq!(state(-81, 600), State::OnTrial, "it answers all the while");
    // A little more is not enough, nor what may not last.
    assert_eq!((state(-76, 3000), state(-75, 900)), (State::OnTrial, State::OnTrial));
    assert_eq!(state(-75, 400), State::Good);
    let left = bench.decisions.iter().find(|one| one.2.verdict == Verdict::Suspended).unwrap();
    assert_eq!(left.2.to_string(), "its radio hears -81 dBm only");
}

#[test]
fn the_signal_takes_no_last_path() {
    let table = serde_json::json!({"leave_below": -80.0});
    let settings = || Settings::read(table.as_object().unwrap(), None).unwrap();
    let mut bench = Bench::new(&[FLOWS, FLOWS]);
    bench.guard = Guard::new(settings());
    bench.ways.iter().for_each(|_| _ = bench.guard.add(bench.now));
    (0..2).for_each(|path| bench.guard.heard(path, Some(-90)));
    assert_eq!(bench.run(5000).count(Verdict::Suspended), 0, "both are weak");
    // One gets better: the other is left, and comes back when that one is gone.
    bench.guard.heard(1, Some(-50));
    bench.run(3000);
    assert_eq!((bench.guard.may_use(0), bench.guard.may_use(1)), (false, true));
    bench.guard.down(1);
    bench.run(100);
    assert!(bench.guard.may_use(0));
    for wrong in [serde_json::json!({"return_above": -70.0}), serde_json::json!({"leave_below": 5.0})] {
        assert!(Settings::read(wrong.as_object().unwrap(), None).unwrap().check().is_err());
    }
}

#[test]
fn who_can_look_rarely_sends_all_probes_that_are_due() {
    let mut bench = Bench::new(&[FLOWS, IDLE]);
    bench.rarely_ns = 100 * MS;
    bench.run(2000).set(0, DEAD).run(2000);
    let left = bench.first(Verdict::Suspended).unwrap() - 2000;
    // A look finds it silent, the next sends what is left of the probes, and the answer of the other path is heard with one more.
    assert!(left <= 400, "{left} ms");
}

#[test]
fn what_ticks_come_late_does_not_add_up() {
    let mut bench = Bench::new(&[FLOWS, IDLE]);
    bench.seen[0].srtt_ns = Some(40 * MS);
    bench.run(2000).set(0, DEAD).run(2000);
    let left = bench.first(Verdict::Suspended).unwrap() - 2000;
    // Probes have twice 60 ms, from the fourth tick on, and one tick more at most.
    assert!((40 + 120..=40 + 120 + 5).contains(&left), "{left} ms");
}

#[test]
fn who_died_in_a_pause_is_left_once_the_other_delivers() {
    let mut bench = Bench::new(&[FLOWS, FLOWS]);
    bench.run(2000).set(0, IDLE).set(1, IDLE).run(400).set(0, DEAD).run(1000).set(1, FLOWS).run(2000);
    let left = bench.first(Verdict::Suspended).unwrap() - 3400;
    assert!((60..250).contains(&left), "{left} ms");
    // One that only is not needed is asked less and less often.
    let mut bench = Bench::new(&[FLOWS, FLOWS]);
    bench.run(2000).set(0, IDLE).run(100_000);
    assert!(bench.count(Verdict::Suspect) == 0 && bench.sent < 60, "{} probes", bench.sent);
}

#[test]
fn a_path_that_is_back_is_used_within_a_second() {
    let mut bench = Bench::new(&[FLOWS, IDLE]);
    bench.run(2000).set(0, DEAD).run(3000).set(0, IDLE).run(3000);
    let back = bench.first(Verdict::Resumed).unwrap() - 5000;
    assert!((300..1000).contains(&back), "{back} ms");
}

#[test]
fn each_return_takes_longer() {
    let mut bench = Bench::new(&[FLOWS, FLOWS]);
    bench.run(2000);
    let mut waits = Vec::new();
    for _ in 0..5 {
        bench.decisions.clear();
        bench.set(0, DEAD).run(2000).set(0, FLOWS);
        let before = bench.now.as_nanos() / MS;
        bench.run(8000);
        let resumed = bench.first(Verdict::Resumed).unwrap_or_else(|| panic!("{waits:?} {:?}", bench.decisions));
        waits.push(resumed - before);
    }
    assert!(waits.is_sorted() && waits[4] > 4800, "{waits:?}");
}

#[test]
fn the_last_good_path_stays() {
    // The peer's host is gone: nothing is proved of one path rather than the other.
    let mut bench = Bench::new(&[Way { acked: Some(true), ..FLOWS }, IDLE]);
    bench.run(2000).set(0, Way { acked: Some(false), ..DEAD }).set(1, DEAD).run(20_000);
    assert_eq!(bench.count(Verdict::Suspended), 0);
    // And there is only one.
    let mut bench = Bench::new(&[FLOWS]);
    bench.run(2000).set(0, DEAD).run(20_000);
    assert!(bench.decisions.is_empty(), "{:?}", bench.decisions);
}

#[test]
fn idleness_is_no_fault() {
    let mut bench = Bench::new(&[FLOWS, FLOWS]);
    for _ in 0..50 {
        bench.set(0, IDLE).set(1, IDLE).run(3000).set(0, FLOWS).run(500).set(1, FLOWS).run(500);
    }
    assert_eq!(bench.count(Verdict::Suspended), 0);
    // Either path stops 100 times: two probes go over each until the first answer.
    assert!(bench.sent <= 800, "{} probes", bench.sent);
}

#[test]
fn a_path_that_never_answered_is_not_judged() {
    let mut bench = Bench::new(&[Way { rtt_ms: None, ..FLOWS }, IDLE]);
    bench.run(2000).set(0, DEAD).run(5000);
    assert!(bench.decisions.is_empty(), "{:?}", bench.decisions);
}

#[test]
fn who_cannot_be_asked_yet_is_asked_later() {
    // For a minute there is nobody to send a probe to.
    let mut bench = Bench::new(&[FLOWS, IDLE]);
    bench.can_send = false;
    bench.run(60_000);
    bench.can_send = true;
    bench.run(500).set(0, DEAD).run(1000);
    assert_eq!(bench.count(Verdict::Suspended), 1);
    // And who answers nobody for a minute is judged once it does.
    let mut bench = Bench::new(&[Way { rtt_ms: None, ..FLOWS }, Way { rtt_ms: None, ..IDLE }]);
    bench.run(60_000).set(0, FLOWS).set(1, IDLE).run(12_000).set(0, DEAD).run(1000);
    assert_eq!(bench.count(Verdict::Suspended), 1);
    assert!(bench.sent < 100, "{} probes", bench.sent);
}

#[test]
fn the_end_of_all_connections_proves_nothing() {
    let mut bench = Bench::new(&[FLOWS, IDLE]);
    bench.run(2000).set(0, DEAD).run(2000);
    assert_eq!(bench.guard.state(0), State::Suspended);
    bench.seen[1].carries = false;
    bench.guard.connected(false);
    bench.run(10_000);
    assert_eq!((bench.guard.state(0), bench.count(Verdict::Resumed)), (State::Suspended, 0));
    // It is back, and answers: it has to do so as long as ever.
    bench.set(0, IDLE).run(200);
    assert_eq!(bench.guard.state(0), State::OnTrial);
    bench.run(1000);
    let (_, _, resumed) = bench.decisions.last().unwrap();
    assert!(resumed.verdict == Verdict::Resumed && resumed.answers >= 3, "{resumed:?}");
}

#[test]
fn a_connection_without_a_subflow_gets_what_there_is() {
    let mut bench = Bench::new(&[FLOWS, IDLE]);
    bench.run(2000).set(0, DEAD).run(2000);
    bench.seen[1].carries = false;
    bench.run(40);
    assert_eq!(bench.guard.state(0), State::Good);
}

#[test]
fn what_was_left_has_to_answer() {
    let mut guard = Guard::new(settings());
    let now = Time::default();
    let (left, other) = (guard.add_left(now), guard.add(now));
    assert_eq!((guard.state(left), guard.state(other)), (State::Suspended, State::Good));
}

#[test]
fn a_path_without_address_is_left_unless_it_is_the_last() {
    let mut bench = Bench::new(&[FLOWS, IDLE]);
    let mut orders = Vec::new();
    bench.run(2000).guard.lost(Time::default(), 1, Cause::Lost, &mut orders);
    let [Order::Decided { path: 1, decision }] = orders[..] else { panic!("{orders:?}") };
    assert_eq!((decision.verdict, decision.to_string().as_str()), (Verdict::Suspended, "the host lost its address"));
    bench.guard.lost(bench.now, 0, Cause::Lost, &mut orders);
    assert_eq!(orders.len(), 1);
}

#[test]
fn silence_that_was_no_fault_does_not_blunt_what_is_sent() {
    // A client asks and hears, with pauses in which its path is late to answer: silence was suspected in vain.
    let mut bench = Bench::new(&[Way { acked: Some(true), ..FLOWS }, IDLE]);
    for _ in 0..10 {
        bench.set(0, Way { acked: Some(true), ..FLOWS }).run(500);
        bench.set(0, Way { rtt_ms: Some(90), ..IDLE }).run(500);
    }
    bench.decisions.clear();
    let before = bench.now.as_nanos() / MS;
    bench.set(0, Way { acked: Some(false), ..DEAD }).run(2000);
    let left = bench.first(Verdict::Suspended).unwrap() - before;
    assert!(left < 350, "{left} ms");
}

#[test]
fn a_bad_path_is_better_than_none() {
    let mut bench = Bench::new(&[FLOWS, IDLE]);
    bench.run(2000).set(0, DEAD).run(2000);
    assert_eq!(bench.guard.state(0), State::Suspended);
    bench.guard.down(1);
    bench.run(40);
    assert_eq!(bench.guard.state(0), State::Good);
}

#[test]
fn a_path_on_trial_is_better_than_one_that_is_silent() {
    let mut bench = Bench::new(&[FLOWS, FLOWS]);
    bench.run(2000);
    for _ in 0..5 {
        bench.set(0, DEAD).run(2000).set(0, FLOWS).run(8000);
    }
    bench.set(0, DEAD).run(2000).set(0, IDLE).run(1000);
    assert_eq!(bench.guard.state(0), State::OnTrial);
    // A pause is no reason to hurry, as long as the other answers.
    bench.set(1, IDLE).run(1000);
    assert_eq!(bench.guard.state(0), State::OnTrial);
    bench.set(1, FLOWS).run(1000).set(1, DEAD).run(500);
    assert_eq!(bench.guard.state(0), State::Good);
}

#[test]
fn what_stands_still_at_a_handover_is_not_left() {
    // For 80 ms nothing passes, from any time of a pause on: what was sent meanwhile waits, or is lost.
    for rtt_ms in [Some(30), None] {
        for begins in (0..200).step_by(5) {
            let mut bench = Bench::new(&[Way { acked: Some(true), ..FLOWS }, IDLE]);
            bench.run(2000).set(0, IDLE).run(begins);
            bench.held = bench.now + 80 * MS;
            bench.set(0, Way { rtt_ms, ..DEAD }).run(80);
            bench.set(0, IDLE).run(1000);
            assert_eq!(bench.count(Verdict::Suspended), 0, "after {begins} ms");
        }
    }
}

#[test]
fn who_is_late_elsewhere_gets_as_much_more_time_here() {
    // The peer is busy: it answers over the other path 200 ms later than it does, and over this one 220 ms.
    let mut bench = Bench::new(&[Way { acked: Some(true), ..FLOWS }, IDLE]);
    bench.run(2000);
    bench.set(0, Way { rtt_ms: Some(250), acked: Some(false), ..IDLE }).set(1, Way { rtt_ms: Some(230), ..IDLE });
    bench.run(1000);
    assert!(bench.count(Verdict::Suspect) > 0 && bench.count(Verdict::Suspended) == 0, "{:?}", bench.decisions);
}

#[test]
fn a_filled_queue_gets_time() {
    let mut bench = Bench::new(&[Way { acked: Some(true), ..IDLE }, IDLE]);
    bench.run(2000);
    bench.seen[0].srtt_ns = Some(800 * MS);
    // Nothing for 0.9 s, as where a burst of losses waits in a full queue: probes take as long.
    bench.set(0, Way { rtt_ms: Some(900), receives: false, acked: Some(false) }).run(900);
    bench.set(0, Way { rtt_ms: Some(900), receives: false, acked: Some(true) }).run(5000);
    assert_eq!(bench.count(Verdict::Suspended), 0);
}

/// Paths whose subflows join one after the other; a round trip over them takes so long.
fn joining<const PATHS: usize>(settings: Settings, rtts_ms: [i64; PATHS]) -> Bench {
    let mut bench = Bench::with(settings, &rtts_ms.map(|rtt| Way { rtt_ms: Some(rtt), ..IDLE }));
    for (seen, rtt) in bench.seen.iter_mut().zip(rtts_ms) {
        seen.srtt_ns = Some(rtt * MS);
    }
    bench.seen[1..].iter_mut().for_each(|seen| seen.carries = false);
    for path in 1..PATHS {
        bench.run(100);
        bench.seen[path].carries = true;
    }
    bench.run(2000);
    bench
}

/// A path carries data, dies, and is used again.
fn fails(bench: &mut Bench, path: usize) {
    let way = bench.ways[path];
    bench.set(path, Way { receives: true, ..way }).run(1000).set(path, DEAD).run(2000).set(path, way).run(1000);
}

/// Messages over one path, for so long each, with pauses of as much.
fn messages(bench: &mut Bench, path: usize, ms: i64) {
    let way = bench.ways[path];
    for _ in 0..5000 / ms {
        bench.set(path, Way { receives: true, ..way }).run(ms).set(path, way).run(ms);
    }
}

/// What was left and used again, and why.
fn orders(bench: &Bench) -> Vec<(usize, Verdict, Cause)> {
    let ordered =
        bench.decisions.iter().filter(|(.., one)| matches!(one.verdict, Verdict::Suspended | Verdict::Resumed));
    ordered.map(|&(_, path, one)| (path, one.verdict, one.cause)).collect()
}

#[test]
fn who_stands_before_a_quicker_path_that_is_back_steps_behind_it() {
    // Of which path, how long a round trip takes over both, how long messages take, and whether that changes the order.
    for (dies, rtts_ms, ms, steps) in [
        (0, [20, 60], 100, true),
        // Messages follow each other, or are long.
        (0, [20, 60], 20, false),
        (0, [20, 60], 2500, false),
        // The other is no slower.
        (0, [60, 60], 100, false),
        // It stood last before.
        (1, [60, 20], 100, false),
    ] {
        let mut bench = joining(settings(), rtts_ms);
        let other = 1 - dies;
        fails(&mut bench, dies);
        assert_eq!((bench.count(Verdict::Suspended), bench.count(Verdict::Resumed)), (1, 1));
        bench.decisions.clear();
        messages(&mut bench, other, ms);
        let step = [(other, Verdict::Suspended, Cause::Ahead), (other, Verdict::Resumed, Cause::Ahead)];
        assert_eq!(orders(&bench), if steps { step.to_vec() } else { vec![] }, "{rtts_ms:?} {ms} ms");
        // The order is what it was.
        bench.decisions.clear();
        messages(&mut bench, other, ms);
        assert_eq!(orders(&bench), []);
    }
}

#[test]
fn nobody_steps_behind_who_is_all_that_a_connection_has() {
    let mut bench = joining(settings(), [20, 60]);
    fails(&mut bench, 0);
    bench.decisions.clear();
    bench.seen[1].is_only = true;
    messages(&mut bench, 1, 100);
    assert_eq!(orders(&bench), []);
}

#[test]
fn a_step_that_is_not_done_is_not_tried_again_and_again() {
    let mut bench = joining(settings(), [20, 60]);
    fails(&mut bench, 0);
    bench.acts = false;
    bench.decisions.clear();
    messages(&mut bench, 1, 100);
    assert_eq!(orders(&bench), [(1, Verdict::Suspended, Cause::Ahead), (1, Verdict::Resumed, Cause::Ahead)]);
}

#[test]
fn of_two_slower_paths_one_steps_behind_after_the_other() {
    let mut bench = joining(settings(), [20, 60, 60]);
    fails(&mut bench, 0);
    bench.decisions.clear();
    let way = bench.ways[1];
    for _ in 0..25 {
        let moves = Way { receives: true, ..way };
        bench.set(1, moves).set(2, moves).run(100).set(1, way).set(2, way).run(100);
    }
    let of = |path| [Verdict::Suspended, Verdict::Resumed].map(|verdict| (path, verdict, Cause::Ahead));
    assert_eq!(orders(&bench), [of(1), of(2)].concat());
}

/// For how long the slower of two paths was away to step behind the other, in ms.
fn stepped_ms(bench: &Bench) -> i64 {
    let at = |verdict| bench.decisions.iter().rfind(|(_, path, one)| (*path, one.verdict) == (1, verdict)).unwrap().0;
    at(Verdict::Resumed) - at(Verdict::Suspended)
}

#[test]
fn failures_of_long_ago_keep_nobody_away_who_steps_behind() {
    let mut bench = joining(settings(), [20, 60]);
    fails(&mut bench, 0);
    messages(&mut bench, 1, 100);
    let usual_ms = stepped_ms(&bench);
    let mut bench = joining(settings(), [20, 60]);
    for _ in 0..9 {
        fails(&mut bench, 1);
        bench.run(40_000);
    }
    bench.run(3_600_000);
    fails(&mut bench, 0);
    messages(&mut bench, 1, 100);
    assert_eq!(stepped_ms(&bench), usual_ms);
}

#[test]
fn who_would_not_come_back_or_keeps_its_place_does_not_step_behind() {
    // Both radios hear too little.
    let mut bench = joining(Settings { leave_below: Some(Number(-80.0)), ..settings() }, [20, 60]);
    fails(&mut bench, 0);
    [0, 1].into_iter().for_each(|path| bench.guard.heard(path, Some(-90)));
    bench.run(1500).decisions.clear();
    messages(&mut bench, 1, 100);
    assert_eq!(orders(&bench), []);
    // A backup keeps its subflows; the other had lost its address, and with it its endpoint.
    let mut bench = joining(Settings { then: Text("backup".into()), ..settings() }, [20, 60]);
    let way = bench.ways[0];
    bench.guard.lost(bench.now, 0, Cause::Lost, &mut Vec::new());
    bench.seen[0].carries = false;
    bench.set(0, DEAD).run(2000).set(0, way).run(1000).decisions.clear();
    messages(&mut bench, 1, 100);
    assert_eq!(orders(&bench), []);
}

#[test]
fn a_new_connection_has_an_order_of_its_own() {
    let mut bench = joining(settings(), [20, 60]);
    let way = bench.ways[0];
    bench.set(0, Way { receives: true, ..way }).run(1000).set(0, DEAD).run(2000);
    // All connections end; the path answers again, and no subflow joins.
    bench.guard.connected(false);
    bench.seen[1].carries = false;
    bench.set(0, way);
    while bench.count(Verdict::Resumed) == 0 {
        bench.run(1);
    }
    bench.seen[0].carries = false;
    bench.run(10_000).guard.connected(true);
    // The next begins over the slower one.
    bench.seen[1].carries = true;
    bench.run(100).seen[0].carries = true;
    bench.run(200).decisions.clear();
    messages(&mut bench, 1, 100);
    assert_eq!(orders(&bench), []);
}

#[test]
fn who_steps_behind_is_back_as_soon_as_the_other_is_suspect() {
    for slow_ms in [60, 600] {
        let mut bench = joining(settings(), [20, slow_ms]);
        fails(&mut bench, 0);
        bench.decisions.clear();
        let way = bench.ways[1];
        bench.set(1, Way { receives: true, ..way }).run(1000).set(1, way);
        while orders(&bench).is_empty() {
            bench.run(1);
        }
        bench.set(0, Way { acked: Some(false), ..DEAD }).run(3000);
        let at =
            |path, verdict| bench.decisions.iter().find(|one| (one.1, one.2.verdict) == (path, verdict)).unwrap().0;
        assert_eq!(at(1, Verdict::Resumed), at(0, Verdict::Suspect), "{slow_ms} ms");
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let of: [(&str, serde_json::Value); 7] = [
        ("then", "close".into()),
        ("probes", 0.5.into()),
        ("trial_answers", 0.0.into()),
        ("probe_factor", 0.5.into()),
        ("probe_timeout", 0.into()),
        ("margin", i64::MAX.into()),
        ("hold_down", i64::MAX.into()),
    ];
    for (name, value) in of {
        let table: Table = [(name.into(), value)].into_iter().collect();
        let fault = Settings::read(&table, None).and_then(Settings::check).unwrap_err();
        assert!(format!("{fault:?}").contains(name));
    }
}
