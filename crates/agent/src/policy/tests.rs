//! Policies beside a kernel that is played.

use super::*;
use crate::played::{LTE, Played, WIFI, host, ip};
use parameters::Table;
use serde_json::json;

const MS: i64 = 1_000_000;

struct Bench {
    host: Played,
    policy: Policy<Played>,
    now: Time,
    ordered: Vec<(i64, &'static str, IpAddr)>,
}

impl Bench {
    /// Wi-Fi carries the first connection's first subflow; 1000 bytes come whenever it is looked at.
    fn new(name: &str, parameters: serde_json::Value, plans: &[(&str, Plan)]) -> Bench {
        let host = host();
        let parameters: Table = serde_json::from_value(parameters).unwrap();
        let settings = Settings { name: name.into(), parameters, max_subflows: 8, ..Settings::default() };
        let plans = plans.iter().map(|&(interface, plan)| (interface.to_owned(), plan)).collect();
        let policy = Policy::new(host.clone(), settings, plans, None, Vec::new(), false).unwrap();
        Bench { host, policy, now: Time::default(), ordered: Vec::new() }
    }

    fn run(&mut self, ms: i64) -> &mut Bench {
        let end = self.now + ms * MS;
        while self.now < end {
            self.now = self.now + TICK_NS;
            for ordered in self.policy.step(self.now).unwrap() {
                self.ordered.push((self.now.as_nanos() / MS, ordered.signal, ordered.address));
            }
        }
        self
    }

    fn endpoints(&self) -> Vec<IpAddr> {
        self.host.0.borrow().endpoints.iter().map(|one| one.address).collect()
    }

    fn backups(&self) -> Vec<IpAddr> {
        self.host.0.borrow().endpoints.iter().filter(|one| one.is_backup()).map(|one| one.address).collect()
    }

    fn end(&mut self) -> &mut Bench {
        let mut host = self.host.0.borrow_mut();
        host.subflows.clear();
        host.has_connection = false;
        drop(host);
        self.run(200)
    }
}

#[test]
fn nothing_is_touched_without_a_connection() {
    let mut bench = Bench::new("on-demand", json!({}), &[]);
    bench.end();
    assert_eq!(bench.endpoints(), [ip(WIFI), ip(LTE)]);
    assert!(bench.ordered.is_empty());
}

#[test]
fn a_second_path_comes_on_demand_and_goes_when_it_is_idle() {
    // 1000 bytes every 100 ms.
    let mut bench = Bench::new("on-demand", json!({"after": 10_000, "idle": 2_000_000_000}), &[]);
    bench.run(500);
    assert_eq!(bench.endpoints(), [ip(WIFI)]);
    bench.run(1000);
    assert_eq!(bench.endpoints(), [ip(WIFI), ip(LTE)]);
    bench.host.0.borrow_mut().subflows[0].1 = false;
    bench.run(2500);
    assert_eq!(bench.endpoints(), [ip(WIFI)]);
    let signals: Vec<_> = bench.ordered.iter().map(|&(_, signal, address)| (signal, address)).collect();
    assert_eq!(signals, [("path-closed", ip(LTE)), ("path-opened", ip(LTE)), ("path-closed", ip(LTE))]);
    // The host is as it was found.
    bench.end();
    assert_eq!(bench.endpoints(), [ip(WIFI), ip(LTE)]);
}

#[test]
fn a_dead_path_is_helped_at_once() {
    let mut bench = Bench::new("on-demand", json!({}), &[]);
    bench.run(500);
    assert_eq!(bench.endpoints(), [ip(WIFI)]);
    bench.host.0.borrow_mut().timeouts = 1;
    bench.run(200);
    assert_eq!(bench.endpoints(), [ip(WIFI), ip(LTE)]);
}

#[test]
fn a_budget_closes_its_path_or_makes_it_a_backup() {
    let plans = [("if1", Plan { budget_bytes: Some(5000), cost_per_mb: 0.0 })];
    let mut bench = Bench::new("budget", json!({}), &plans);
    bench.host.0.borrow_mut().addresses[0].interface = "if1".into();
    bench.host.0.borrow_mut().addresses[1].interface = "if2".into();
    bench.run(1500);
    assert_eq!(bench.endpoints(), [ip(LTE)]);
    assert_eq!(bench.ordered.iter().map(|one| one.1).collect::<Vec<_>>(), ["path-spent", "path-closed"]);
    let mut bench = Bench::new("budget", json!({"then": "backup"}), &plans);
    bench.host.0.borrow_mut().addresses[0].interface = "if1".into();
    bench.run(1500);
    assert_eq!((bench.endpoints().len(), bench.backups()), (2, vec![ip(WIFI)]));
    bench.end();
    assert!(bench.backups().is_empty());
}

#[test]
fn who_plans_for_an_interface_that_no_path_has_is_told() {
    let plans = [("wwan0", Plan::default()), ("if1", Plan::default()), ("eth7", Plan::default())];
    assert_eq!(Bench::new("budget", json!({}), &plans).policy.strangers(), ["eth7", "wwan0"]);
}

#[test]
fn backups_are_spared_until_the_others_would_be_late() {
    // 200 kB within 10 s, at 10 kB a second.
    let size = json!({"size": 200_000, "tolerance": 10_000_000_000_i64});
    let mut bench = Bench::new("offload", size, &[]);
    let backup = bench.host.0.borrow().endpoints[1].backed();
    bench.host.0.borrow_mut().endpoints[1] = backup;
    bench.run(900);
    assert_eq!(bench.endpoints(), [ip(WIFI)]);
    bench.run(600);
    assert_eq!((bench.endpoints(), bench.backups()), (vec![ip(WIFI), ip(LTE)], Vec::new()));
    bench.end();
    assert_eq!(bench.backups(), [ip(LTE)]);
}

#[test]
fn what_a_killed_one_closed_is_back_and_no_first_path() {
    let host = host();
    let closed = host.0.borrow_mut().endpoints.remove(1);
    host.0.borrow_mut().subflows[0].2 = 5000;
    let left = vec![Taken { endpoint: closed, interface: "if2".into() }];
    let settings = Settings { name: "on-demand".into(), max_subflows: 8, ..Settings::default() };
    let policy = Policy::new(host.clone(), settings, HashMap::new(), None, left, false).unwrap();
    let mut bench = Bench { host, policy, now: Time::default(), ordered: Vec::new() };
    assert_eq!(bench.endpoints(), [ip(WIFI), ip(LTE)]);
    bench.run(500);
    assert_eq!(bench.endpoints(), [ip(WIFI)]);
}

#[test]
fn no_connection_loses_its_last_subflow() {
    let mut bench = Bench::new("on-demand", json!({}), &[]);
    bench.host.0.borrow_mut().tokens = vec![1, 2];
    bench.run(500);
    assert_eq!(bench.endpoints(), [ip(WIFI), ip(LTE)]);
    let mut host = bench.host.0.borrow_mut();
    host.subflows.push((ip(WIFI), false, 0));
    host.tokens.push(2);
    drop(host);
    bench.run(200);
    assert_eq!(bench.endpoints(), [ip(WIFI)]);
}

#[test]
fn who_ends_leaves_the_host_as_it_was() {
    let mut bench = Bench::new("on-demand", json!({}), &[]);
    bench.run(500);
    assert_eq!(bench.endpoints(), [ip(WIFI)]);
    let host = bench.host.clone();
    drop(bench);
    assert_eq!(host.0.borrow().endpoints.len(), 2);
}

#[test]
fn what_others_bring_or_take_is_theirs() {
    let mut bench = Bench::new("on-demand", json!({}), &[]);
    bench.run(500);
    let lte = crate::played::endpoint(2, LTE);
    bench.host.0.borrow_mut().endpoints.push(lte);
    bench.run(1000);
    assert_eq!(bench.endpoints(), [ip(WIFI), ip(LTE)]);
    bench.host.0.borrow_mut().endpoints.retain(|one| one.address != ip(LTE));
    bench.run(1000);
    drop(std::mem::take(&mut bench.ordered));
    let host = bench.host.clone();
    drop(bench);
    assert_eq!(host.0.borrow().endpoints.len(), 1);
}
