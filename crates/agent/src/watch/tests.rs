//! The guard beside a kernel that is played: it fails, loses answers, and others change what it has.

use super::*;
use crate::kernel::Means;
use crate::played::{LTE, Played, WIFI, address, endpoint, host, ip};
use guard::TICK_NS;
use parameters::{Number, Parameters, Table, Text};

const MS: i64 = 1_000_000;

struct Bench {
    host: Played,
    watch: Watch<Played>,
    now: Time,
    decided: Vec<(i64, IpAddr, Decision)>,
}

fn settings() -> Settings {
    Settings::read(&Table::new(), None).unwrap()
}

fn watch(host: &Played, left: Vec<Taken>, observes: bool) -> Watch<Played> {
    Watch::new(host.clone(), settings(), None, left, observes).unwrap()
}

impl Bench {
    fn new() -> Bench {
        Bench::with(host(), Vec::new(), false)
    }

    fn with(host: Played, left: Vec<Taken>, observes: bool) -> Bench {
        let watch = watch(&host, left, observes);
        Bench { host, watch, now: Time::default(), decided: Vec::new() }
    }

    fn of_backups(host: Played, left: Vec<Taken>) -> Bench {
        let settings = Settings { then: Text("backup".into()), ..settings() };
        let watch = Watch::new(host.clone(), settings, None, left, false).unwrap();
        Bench { host, watch, now: Time::default(), decided: Vec::new() }
    }

    fn run(&mut self, ms: i64) -> &mut Bench {
        let end = self.now + ms * MS;
        while self.now < end {
            self.now = self.now + TICK_NS;
            for decided in self.watch.step(self.now).unwrap() {
                self.decided.push((self.now.as_nanos() / MS, decided.address, decided.decision));
            }
        }
        self
    }

    fn kill_wifi(&mut self) -> &mut Bench {
        let mut host = self.host.0.borrow_mut();
        host.answering.retain(|&one| one != ip(WIFI));
        host.subflows.iter_mut().filter(|one| one.0 == ip(WIFI)).for_each(|one| one.1 = false);
        drop(host);
        self
    }

    fn revive_wifi(&mut self) -> &mut Bench {
        self.host.0.borrow_mut().answering.push(ip(WIFI));
        self
    }

    fn listed(&self) -> Vec<u8> {
        let mut ids: Vec<_> = self.host.0.borrow().endpoints.iter().map(|one| one.id).collect();
        ids.sort_unstable();
        ids
    }

    /// Of Wi-Fi's endpoint.
    fn flags(&self) -> Option<u32> {
        self.host.0.borrow().endpoints.iter().find(|one| one.id == 1).map(|one| one.flags)
    }

    fn count(&self, verdict: Verdict) -> usize {
        self.decided.iter().filter(|one| one.2.verdict == verdict).count()
    }
}

#[test]
fn a_path_that_dies_is_taken_away_and_put_back() {
    let mut bench = Bench::new();
    bench.run(2000).kill_wifi().run(400);
    assert_eq!(bench.listed(), [2]);
    bench.run(3000).revive_wifi().run(1000);
    assert_eq!(bench.listed(), [1, 2]);
    assert_eq!((bench.count(Verdict::Suspended), bench.count(Verdict::Resumed)), (1, 1));
}

#[test]
fn a_path_that_dies_may_become_a_backup_instead() {
    let mut bench = Bench::of_backups(host(), Vec::new());
    bench.run(2000).kill_wifi().run(1000);
    assert_eq!(bench.flags(), Some(6));
    bench.revive_wifi().run(1000);
    assert_eq!((bench.flags(), bench.count(Verdict::Resumed)), (Some(2), 1));
    // It ends while the path is bad.
    bench.host.0.borrow_mut().subflows[0].1 = true;
    bench.run(1000).kill_wifi().run(1000);
    assert_eq!(bench.flags(), Some(6));
    bench.watch.restore();
    assert_eq!(bench.flags(), Some(2));
}

#[test]
fn what_an_earlier_guard_made_a_backup_is_taken_over_by_either() {
    let left = || vec![Taken { endpoint: endpoint(1, WIFI), interface: "if1".into() }];
    let of_before = || {
        let host = host();
        host.0.borrow_mut().endpoints[0].flags = 6;
        host
    };
    for mut bench in [Bench::of_backups(of_before(), left()), Bench::with(of_before(), left(), false)] {
        bench.run(3000);
        assert_eq!((bench.flags(), bench.count(Verdict::Resumed)), (Some(2), 1));
    }
    // One that it had removed comes back as it was.
    let host = host();
    host.0.borrow_mut().endpoints.remove(0);
    let mut bench = Bench::of_backups(host, left());
    bench.run(3000);
    assert_eq!((bench.flags(), bench.count(Verdict::Resumed)), (Some(2), 1));
}

#[test]
fn a_path_whose_radio_hears_too_little_is_left() {
    let host = host();
    let settings = Settings { leave_below: Some(Number(-80.0)), ..settings() };
    let watch = Watch::new(host.clone(), settings, None, Vec::new(), false).unwrap();
    let mut bench = Bench { host, watch, now: Time::default(), decided: Vec::new() };
    bench.run(2000).host.0.borrow_mut().signals = vec![("if1".into(), -85)];
    bench.run(2000);
    assert_eq!(bench.listed(), [2]);
    // It answers all the while.
    bench.run(10_000);
    assert_eq!(bench.listed(), [2]);
    bench.host.0.borrow_mut().signals = vec![("if1".into(), -70)];
    bench.run(3000);
    assert_eq!(bench.listed(), [1, 2]);
}

#[test]
fn it_says_that_no_signal_is_known() {
    for (signals, says) in [(vec![], true), (vec![("if9".into(), -70)], true), (vec![("if2".into(), -70)], false)] {
        let host = host();
        host.0.borrow_mut().signals = signals;
        let settings = Settings { leave_below: Some(Number(-80.0)), ..settings() };
        let mut watch = Watch::new(host, settings, None, Vec::new(), false).unwrap();
        assert_eq!(watch.notes().iter().any(|note| note.contains("no signal")), says);
    }
}

#[test]
fn it_says_where_the_limit_of_subflows_keeps_a_path_away() {
    // Endpoints of IPv4 and of IPv6, the limit, and whether a connection over all of its version can use its first path again.
    for (ipv4, ipv6, limit, suffices) in
        [(2, 0, 2, true), (2, 0, 1, false), (3, 0, 2, false), (3, 0, 3, true), (2, 2, 2, true), (1, 0, 0, true)]
    {
        let host = host();
        let of = |count, prefix: &str| (1..=count).map(|at| endpoint(at, &format!("{prefix}{at}"))).collect::<Vec<_>>();
        host.0.borrow_mut().endpoints = [of(ipv4, "10.0.0."), of(ipv6, "fd00::")].concat();
        host.0.borrow_mut().limit = limit;
        let notes = watch(&host, Vec::new(), false).notes();
        assert_eq!(notes.is_empty(), suffices, "{notes:?}");
        assert!(suffices || notes[0].ends_with(&format!("ip mptcp limits set subflows {ipv4}")), "{notes:?}");
    }
}

#[test]
fn what_others_make_of_a_backup_counts() {
    let mut bench = Bench::of_backups(host(), Vec::new());
    bench.run(2000).kill_wifi().run(1000);
    bench.host.0.borrow_mut().endpoints.retain(|one| one.id != 1);
    bench.run(1000).revive_wifi().run(2000);
    assert_eq!((bench.flags(), bench.watch.restore()), (None, Vec::new()));
    // A backup of the host's own cannot become one.
    let host = host();
    host.0.borrow_mut().endpoints[0].flags = 6;
    let mut bench = Bench::of_backups(host, Vec::new());
    bench.run(2000).kill_wifi().run(1000);
    assert_eq!(bench.flags(), None);
}

#[test]
fn connections_may_come_long_after_the_guard() {
    let mut bench = Bench::new();
    let subflows = std::mem::take(&mut bench.host.0.borrow_mut().subflows);
    bench.run(120_000);
    bench.host.0.borrow_mut().subflows = subflows;
    bench.run(3000).kill_wifi().run(1000);
    assert_eq!(bench.listed(), [2]);
}

#[test]
fn who_drops_pings_is_asked_by_handshakes() {
    let mut bench = Bench::new();
    bench.host.0.borrow_mut().drops_pings = true;
    bench.run(10_000).kill_wifi().run(1000);
    assert_eq!(bench.listed(), [2]);
    assert!(bench.host.0.borrow().probes.iter().any(|one| one.1 == Means::Handshake));
}

#[test]
fn an_address_that_goes_while_suspended_loses_no_endpoint() {
    let mut bench = Bench::new();
    bench.run(2000).kill_wifi().run(1000);
    let gone = bench.host.0.borrow_mut().addresses.remove(0);
    bench.run(5000);
    assert_eq!(bench.listed(), [2]);
    // It comes back as another interface.
    bench.host.0.borrow_mut().addresses.push(Address { index: 9, ..gone });
    bench.revive_wifi().run(2000);
    assert_eq!(bench.listed(), [1, 2]);
    let host = bench.host.0.borrow();
    assert_eq!(host.endpoints.iter().find(|one| one.id == 1).unwrap().interface, 9);
}

#[test]
fn an_address_that_stays_away_is_put_back_at_the_end() {
    let mut bench = Bench::new();
    bench.run(2000).kill_wifi().run(1000);
    bench.host.0.borrow_mut().addresses.remove(0);
    bench.run(1000);
    assert!(bench.watch.restore().is_empty());
    assert_eq!(bench.listed(), [1, 2]);
    assert_eq!(bench.host.0.borrow().endpoints.iter().find(|one| one.id == 1), Some(&endpoint(1, WIFI)));
}

#[test]
fn a_path_whose_address_or_carrier_goes_is_left() {
    for carrier in [false, true] {
        let mut bench = Bench::new();
        bench.run(2000);
        if carrier {
            bench.host.0.borrow_mut().addresses[1].is_running = false;
        } else {
            bench.host.0.borrow_mut().addresses.remove(1);
        }
        bench.run(1000);
        assert_eq!(bench.listed(), [1]);
        let expected = if carrier { "its interface has no carrier" } else { "the host lost its address" };
        assert!(bench.decided.iter().any(|(.., decision)| decision.to_string() == expected));
        bench.host.0.borrow_mut().addresses = vec![address(1, WIFI), address(2, LTE)];
        bench.run(1500);
        assert_eq!(bench.listed(), [1, 2]);
    }
}

#[test]
fn the_end_of_all_connections_brings_nothing_back_untried() {
    let mut bench = Bench::new();
    bench.run(2000).kill_wifi().run(1000);
    bench.host.0.borrow_mut().subflows.clear();
    bench.host.0.borrow_mut().has_connection = false;
    bench.run(50_000);
    assert_eq!((bench.listed(), bench.count(Verdict::Resumed)), (vec![2], 0));
    // Nobody is asked for ever.
    bench.run(15_000);
    assert_eq!(bench.listed(), [1, 2]);
}

#[test]
fn a_connection_that_has_no_subflow_left_gets_one() {
    let mut bench = Bench::new();
    bench.run(2000).kill_wifi().run(1000);
    bench.host.0.borrow_mut().subflows.clear();
    bench.run(100);
    assert_eq!(bench.listed(), [1, 2]);
}

#[test]
fn what_the_kernel_refuses_ends_nothing() {
    let mut bench = Bench::new();
    bench.run(2000);
    bench.host.0.borrow_mut().refuses_delete = true;
    bench.kill_wifi().run(5000);
    assert_eq!((bench.listed(), bench.count(Verdict::Suspended)), (vec![1, 2], 0));
    let notes = bench.watch.notes();
    assert!(matches!(&notes[..], [one] if one.starts_with("10.0.1.2 could not be taken out of use")), "{notes:?}");
    bench.host.0.borrow_mut().refuses_delete = false;
    bench.revive_wifi();
    bench.host.0.borrow_mut().subflows[0].1 = true;
    bench.run(3000).kill_wifi().run(1000);
    assert_eq!(bench.listed(), [2]);
    bench.host.0.borrow_mut().refuses_add = true;
    bench.revive_wifi().run(3000);
    assert_eq!(bench.listed(), [2]);
    bench.host.0.borrow_mut().refuses_add = false;
    bench.run(1000);
    assert_eq!(bench.listed(), [1, 2]);
}

#[test]
fn nothing_is_decided_while_the_kernel_says_nothing() {
    let mut bench = Bench::new();
    bench.run(2000).host.0.borrow_mut().is_silent = true;
    bench.run(3000);
    bench.host.0.borrow_mut().is_silent = false;
    bench.run(3000);
    assert_eq!((bench.listed(), bench.count(Verdict::Suspended)), (vec![1, 2], 0));
    bench.host.0.borrow_mut().is_silent = true;
    let ended = (0..800).find_map(|step| bench.watch.step(bench.now + step * TICK_NS).err());
    assert!(ended.unwrap().to_string().starts_with("cannot ask the kernel"));
}

#[test]
fn what_others_remove_stays_removed_and_what_they_bring_stays() {
    let mut bench = Bench::new();
    bench.run(2000).host.0.borrow_mut().endpoints.remove(1);
    bench.run(2000);
    assert!(bench.watch.restore().is_empty());
    assert_eq!(bench.listed(), [1]);
    let mut bench = Bench::new();
    bench.run(2000).kill_wifi().run(1000);
    bench.host.0.borrow_mut().endpoints.push(endpoint(7, WIFI));
    bench.run(1000);
    bench.watch.restore();
    assert_eq!(bench.listed(), [2, 7]);
}

#[test]
fn what_an_earlier_guard_left_is_put_back_once_it_answers() {
    let host = host();
    host.0.borrow_mut().endpoints.remove(0);
    host.0.borrow_mut().subflows.remove(0);
    host.0.borrow_mut().answering.remove(0);
    let left = vec![Taken { endpoint: endpoint(1, WIFI), interface: "if1".into() }];
    let mut bench = Bench::with(host, left.clone(), false);
    bench.run(3000);
    assert_eq!(bench.listed(), [2]);
    bench.revive_wifi().run(2000);
    assert_eq!(bench.listed(), [1, 2]);
    // Somebody was faster.
    let mut bench = Bench::with(self::host(), left, false);
    bench.run(100);
    assert_eq!(bench.listed(), [1, 2]);
    assert!(bench.watch.paths().all(|(.., is_left)| !is_left));
}

#[test]
fn observing_touches_nothing() {
    let mut bench = Bench::with(host(), Vec::new(), true);
    bench.run(2000).kill_wifi().run(2000);
    assert_eq!((bench.listed(), bench.count(Verdict::Suspended)), (vec![1, 2], 1));
    bench.revive_wifi().run(2000);
    assert_eq!(bench.count(Verdict::Resumed), 1);
    bench.watch.restore();
    assert_eq!(bench.listed(), [1, 2]);
}

#[test]
fn a_fault_of_ours_puts_back_too() {
    let host = host();
    let seen = host.clone();
    let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let mut bench = Bench::with(host, Vec::new(), false);
        bench.run(2000).kill_wifi().run(1000);
        assert_eq!(bench.listed(), [2]);
        panic!("on purpose");
    }));
    assert!(ended.is_err());
    assert_eq!(seen.0.borrow().endpoints.len(), 2);
}

#[test]
fn two_hundred_connections_are_one_path_each() {
    let mut bench = Bench::new();
    {
        let mut host = bench.host.0.borrow_mut();
        host.subflows = (0..200).map(|n| (ip(if n % 2 == 0 { WIFI } else { LTE }), n % 2 == 0, 0)).collect();
    }
    bench.run(2000).kill_wifi().run(1000);
    assert_eq!((bench.listed(), bench.count(Verdict::Suspended)), (vec![2], 1));
}

#[test]
fn many_connections_are_not_all_asked_for_each_time() {
    let mut bench = Bench::new();
    bench.host.0.borrow_mut().subflows = (0..100).map(|n| (ip(if n % 2 == 0 { WIFI } else { LTE }), true, 0)).collect();
    bench.run(1000);
    let before = (bench.host.0.borrow().lists, bench.host.0.borrow().asked);
    bench.run(1000);
    let host = bench.host.0.borrow();
    // One of each path in each of a hundred steps, and all of them ten times.
    let (lists, asked) = (host.lists - before.0, host.asked - before.1);
    assert!(lists == 0 && asked <= 2 * 100 + 10 * 100, "{lists} lists, {asked} asked for");
    drop(host);
    // Where nothing comes any more, all are.
    bench.kill_wifi().run(1000);
    assert_eq!(bench.listed(), [2]);
}

#[test]
fn probes_are_no_reason_to_ask_more_often() {
    let mut bench = Bench::new();
    bench.run(2000).kill_wifi();
    let (asked, end) = (bench.host.0.borrow().asked, bench.now + 140 * MS);
    while bench.now < end && bench.listed().len() == 2 {
        bench.now = bench.now + MS;
        bench.watch.step(bench.now).unwrap();
    }
    // Of two subflows.
    let asked = (bench.host.0.borrow().asked - asked) / 2;
    assert!((10..=18).contains(&asked), "{asked}");
    assert_eq!(bench.listed(), [2]);
}

#[test]
fn what_begins_among_many_is_seen() {
    let mut bench = Bench::new();
    bench.host.0.borrow_mut().subflows =
        (0..100).map(|n| (ip(if n % 2 == 0 { WIFI } else { LTE }), false, 0)).collect();
    bench.run(2000).host.0.borrow_mut().subflows[42].1 = true;
    bench.run(1000).kill_wifi().run(400);
    assert_eq!(bench.listed(), [2]);
}
