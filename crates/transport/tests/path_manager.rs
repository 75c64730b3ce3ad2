//! What path managers order when something happens.

use proptest::prelude::*;
use serde_json::json;
use std::net::{IpAddr, SocketAddr};
use transport::path_manager::{
    Budgeted, Closed, LocalEndpoint, NAMES, PathCommand, PathEvent, PathManager, Settings, build, descriptions,
};
use wire::Time;

const S: i64 = 1_000_000_000;

const WIFI: &str = "10.0.0.1";
const LTE: &str = "10.1.0.1";
const SIX: &str = "2001:db8::1";
const NEAR: &str = "192.0.2.1:443";
const FAR: &str = "192.0.2.2:443";
const FAR_SIX: &str = "[2001:db8:1::2]:443";

fn ip(address: &str) -> IpAddr {
    address.parse().unwrap()
}

fn socket(address: &str) -> SocketAddr {
    address.parse().unwrap()
}

fn join(local: &str, remote: &str) -> PathCommand {
    PathCommand::Join { local: ip(local), remote: socket(remote), backup: false }
}

fn up(address: &str) -> PathEvent {
    PathEvent::AddressUp { address: ip(address) }
}

fn down(address: &str) -> PathEvent {
    PathEvent::AddressDown { address: ip(address) }
}

fn announced(id: u8, remote: &str) -> PathEvent {
    PathEvent::Announced { id, remote: socket(remote) }
}

fn begun(client: bool) -> PathEvent {
    let (local, remote) = if client { (WIFI, NEAR) } else { ("192.0.2.1", "10.0.0.1:5000") };
    PathEvent::Established { client, local: SocketAddr::new(ip(local), 443), remote: socket(remote) }
}

fn opened(subflow: usize, local: &str, remote: &str) -> PathEvent {
    PathEvent::SubflowEstablished { subflow, local: SocketAddr::new(ip(local), 6000), remote: socket(remote) }
}

fn closed(subflow: usize, local: &str, remote: &str, reason: Closed) -> PathEvent {
    PathEvent::SubflowClosed { subflow, local: SocketAddr::new(ip(local), 6000), remote: socket(remote), reason }
}

fn announce(address: &str) -> PathCommand {
    PathCommand::Announce { address: ip(address), port: None }
}

fn withdraw(address: &str) -> PathCommand {
    PathCommand::Withdraw { address: ip(address) }
}

fn spent(address: &str, budget: Budgeted) -> PathCommand {
    PathCommand::Spent { address: ip(address), budget }
}

fn wake(seconds: i64) -> PathCommand {
    PathCommand::Wake { after_ns: seconds * S }
}

/// A path manager and the time.
struct Bench {
    manager: Box<dyn PathManager>,
    now: Time,
}

impl Bench {
    fn new(settings: Settings) -> Bench {
        Bench { manager: build(&settings).unwrap(), now: Time::default() }
    }

    fn named(name: &str) -> Bench {
        Bench::new(settings(name))
    }

    fn on(&mut self, event: PathEvent) -> Vec<PathCommand> {
        let mut commands = Vec::new();
        self.manager.on(self.now, &event, &mut commands);
        commands
    }

    /// Several events, of which only the last's orders matter.
    fn after(mut self, events: &[PathEvent]) -> Bench {
        for &event in events {
            self.on(event);
        }
        self
    }

    fn at(&mut self, seconds: i64) -> Vec<PathCommand> {
        self.now = Time::from_nanos(seconds * S);
        self.on(PathEvent::Timer)
    }
}

/// With limits that hold nothing back.
fn settings(name: &str) -> Settings {
    Settings { name: name.into(), max_subflows: 8, max_add_addr_accepted: 8, ..Settings::default() }
}

fn endpoint(address: &str, flags: &str) -> LocalEndpoint {
    let has = |flag| flags.split(' ').any(|other| other == flag);
    LocalEndpoint {
        address: ip(address),
        subflow: has("subflow"),
        signal: has("signal"),
        backup: has("backup"),
        fullmesh: has("fullmesh"),
        budget_bytes: None,
        cost_per_mb: 0.0,
    }
}

fn linux(endpoints: &[LocalEndpoint], max_subflows: u32, max_add_addr_accepted: u32) -> Bench {
    let endpoints = endpoints.to_vec();
    Bench::new(Settings { endpoints, max_subflows, max_add_addr_accepted, ..settings("linux") })
}

#[test]
fn path_managers_are_known_by_name() {
    assert_eq!(
        NAMES,
        ["full-mesh", "linux", "single", "ndiffports", "handover", "offload", "budget", "guard", "on-demand", "maps"]
    );
    assert!(descriptions().iter().all(|one| !one.summary.is_empty() && !one.summary.contains('\n')));
    assert!(build(&Settings { name: "binder".into(), ..Settings::default() }).is_err());
}

#[test]
fn single_does_nothing() {
    let mut bench = Bench::named("single");
    for event in [up(WIFI), begun(true), up(LTE), announced(1, FAR), down(WIFI), PathEvent::Timer] {
        assert_eq!(bench.on(event), []);
    }
}

#[test]
fn full_mesh_of_two_by_two_has_four_subflows() {
    let mut client = Bench::named("full-mesh");
    assert_eq!(client.on(begun(true)), []);
    assert_eq!(client.on(up(WIFI)), [], "the pair that it began with");
    assert_eq!(client.on(up(LTE)), [join(LTE, NEAR)]);
    assert_eq!(client.on(announced(1, FAR)), [join(WIFI, FAR), join(LTE, FAR)]);
    assert_eq!(client.on(announced(1, FAR)), [], "said again");
    assert_eq!(client.on(up(SIX)), [], "no partner of its family");
    assert_eq!(client.on(announced(2, FAR_SIX)), [join(SIX, FAR_SIX)]);
}

#[test]
fn full_mesh_servers_announce() {
    let mut server = Bench::named("full-mesh").after(&[up("192.0.2.1"), up("192.0.2.2")]);
    assert_eq!(server.on(begun(false)), [announce("192.0.2.2")]);
    assert_eq!(server.on(up("192.0.2.3")), [announce("192.0.2.3")]);
    assert_eq!(server.on(announced(1, "10.1.0.1:5000")), [], "clients are behind NATs");
    server.on(opened(1, "192.0.2.3", "10.0.0.1:5001"));
    assert_eq!(server.on(down("192.0.2.3")), [withdraw("192.0.2.3"), PathCommand::Close { subflow: 1 }]);
    assert_eq!(server.on(closed(1, "192.0.2.3", "10.0.0.1:5001", Closed::Removed)), []);
    assert_eq!(server.on(up("192.0.2.3")), [announce("192.0.2.3")]);
}

#[test]
fn full_mesh_follows_addresses() {
    let mut client = Bench::named("full-mesh").after(&[begun(true), up(WIFI), up(LTE), opened(1, LTE, NEAR)]);
    // The connection may close what lost its address before it tells of the address.
    assert_eq!(client.on(closed(1, LTE, NEAR, Closed::AddressLost)), []);
    assert_eq!(client.on(down(LTE)), [withdraw(LTE)]);
    assert_eq!(client.at(1), [], "there is nothing to join from");
    assert_eq!(client.on(up(LTE)), [join(LTE, NEAR)]);
    client.on(opened(2, LTE, NEAR));
    assert_eq!(client.on(down(LTE)), [withdraw(LTE), PathCommand::Close { subflow: 2 }]);
    assert_eq!(client.on(closed(2, LTE, NEAR, Closed::Removed)), []);
    // The peer's addresses too.
    assert_eq!(client.on(announced(1, FAR)), [join(WIFI, FAR)]);
    assert_eq!(client.on(PathEvent::Withdrawn { id: 1 }), []);
    assert_eq!(client.on(closed(3, WIFI, FAR, Closed::Removed)), []);
    assert_eq!(client.on(up(LTE)), [join(LTE, NEAR)], "not to what was withdrawn");
    assert_eq!(client.on(announced(1, FAR)), [join(WIFI, FAR), join(LTE, FAR)]);
}

#[test]
fn full_mesh_tries_again_with_growing_waits() {
    let mut client = Bench::named("full-mesh").after(&[begun(true), up(WIFI), up(LTE)]);
    let mut at = 0;
    for wait in [1, 2, 4, 8, 16, 30, 30] {
        assert_eq!(client.on(closed(1, LTE, NEAR, Closed::TimedOut)), [wake(wait)]);
        at += wait;
        assert_eq!(client.at(at), [join(LTE, NEAR)]);
    }
    client.on(opened(1, LTE, NEAR));
    assert_eq!(client.on(closed(1, LTE, NEAR, Closed::Reset)), [wake(1)], "once open all is forgotten");
    // The initial subflow as well.
    assert_eq!(client.on(closed(0, WIFI, NEAR, Closed::TimedOut)), []);
    assert_eq!(client.at(at + 1), [join(WIFI, NEAR), join(LTE, NEAR)]);
}

#[test]
fn full_mesh_gives_up_what_is_refused_or_done() {
    let mut client = Bench::named("full-mesh").after(&[begun(true), up(WIFI), up(LTE)]);
    assert_eq!(client.on(closed(1, LTE, NEAR, Closed::Refused)), [wake(1)]);
    assert_eq!(client.at(1), [join(LTE, NEAR)]);
    assert_eq!(client.on(closed(1, LTE, NEAR, Closed::Refused)), [wake(2)]);
    assert_eq!(client.at(3), [join(LTE, NEAR)]);
    assert_eq!(client.on(closed(1, LTE, NEAR, Closed::Refused)), []);
    assert_eq!(client.at(1000), []);
    assert_eq!(client.on(up(LTE)), [join(LTE, NEAR)], "the interface may be in another network");
    for reason in [Closed::Finished, Closed::Protocol, Closed::Removed] {
        let mut client = Bench::named("full-mesh").after(&[begun(true), up(WIFI), up(LTE), opened(1, LTE, NEAR)]);
        assert_eq!(client.on(closed(1, LTE, NEAR, reason)), [], "{reason:?}");
        assert_eq!(client.at(1000), [], "{reason:?}");
    }
}

#[test]
fn full_mesh_keeps_to_its_settings() {
    let settings = Settings {
        endpoints: vec![endpoint(WIFI, "backup"), endpoint(LTE, "backup")],
        max_subflows: 2,
        max_add_addr_accepted: 1,
        ..settings("full-mesh")
    };
    let mut client = Bench::new(settings);
    assert_eq!(client.on(begun(true)), [PathCommand::SetBackup { subflow: 0, backup: true }]);
    client.on(up(WIFI));
    let backup = |local, remote| PathCommand::Join { local: ip(local), remote: socket(remote), backup: true };
    assert_eq!(client.on(up(LTE)), [backup(LTE, NEAR)]);
    assert_eq!(client.on(announced(1, FAR)), [backup(WIFI, FAR)], "two further subflows");
    assert_eq!(client.on(closed(2, LTE, NEAR, Closed::Finished)), [backup(LTE, FAR)], "room for another");
    client.on(closed(3, LTE, FAR, Closed::Finished));
    assert_eq!(client.on(announced(2, "192.0.2.3:443")), [], "one announced address");
}

fn carried(subflow: usize, received_bytes: u64) -> PathEvent {
    PathEvent::Carried { subflow, sent_bytes: 0, received_bytes }
}

fn close(subflow: usize) -> PathCommand {
    PathCommand::Close { subflow }
}

const TICK: PathCommand = PathCommand::Wake { after_ns: 100_000_000 };
const HANDOVER_TICK: PathCommand = PathCommand::Wake { after_ns: 200_000_000 };

#[test]
fn ndiffports_opens_a_second_subflow_on_the_same_addresses() {
    let mut client = Bench::named("ndiffports");
    assert_eq!(client.on(begun(true)), [join(WIFI, NEAR)]);
    assert_eq!(client.on(up(WIFI)), []);
    assert_eq!(client.on(up(LTE)), [], "no other address");
    client.on(opened(1, WIFI, NEAR));
    assert_eq!(client.on(closed(0, WIFI, NEAR, Closed::TimedOut)), [wake(1)]);
    assert_eq!(client.at(1), [join(WIFI, NEAR)]);
    assert_eq!(client.on(closed(2, WIFI, NEAR, Closed::Refused)), [wake(2)], "waits double");
    client.on(opened(3, WIFI, NEAR));
    for (subflow, reason) in [(1, Closed::AddressLost), (3, Closed::AddressLost)] {
        assert_eq!(client.on(closed(subflow, WIFI, NEAR, reason)), []);
    }
    assert_eq!(client.on(down(WIFI)), [withdraw(WIFI)]);
    assert_eq!(client.at(100), [], "not from an address that is gone");
    assert_eq!(client.on(up(WIFI)), [join(WIFI, NEAR), join(WIFI, NEAR)]);
    let mut server = Bench::named("ndiffports");
    assert_eq!(server.on(begun(false)), []);
}

fn handover(backup: &str) -> Bench {
    let endpoints = vec![endpoint(backup, "backup")];
    let settings = Settings { endpoints, ..settings("handover") };
    let mut client = Bench::new(settings);
    assert_eq!(client.on(begun(true)), [HANDOVER_TICK]);
    assert_eq!((client.on(up(WIFI)), client.on(up(LTE))), (vec![], vec![]), "one path is enough");
    client
}

#[test]
fn handover_makes_before_it_breaks() {
    let timeout = |subflow, timeouts| PathEvent::SubflowTimeout { subflow, timeouts };
    let priority = |backup| PathEvent::SubflowPriority { subflow: 0, backup };
    for degrades in [timeout(0, 2), priority(true)] {
        let mut client = handover(LTE);
        assert_eq!(client.on(timeout(0, 1)), [], "once is chance");
        assert_eq!(client.on(priority(false)), []);
        assert_eq!(client.on(degrades), [join(LTE, NEAR)]);
        assert_eq!(client.on(degrades), [], "is being opened");
        assert_eq!(client.on(opened(1, LTE, NEAR)), []);
        assert_eq!(client.on(carried(1, 0)), [], "not before it has proved itself");
        assert_eq!(client.on(carried(1, 1)), [close(0)]);
        assert_eq!(client.on(closed(0, WIFI, NEAR, Closed::Removed)), [], "that was wanted");
        assert_eq!(client.on(down(WIFI)), [withdraw(WIFI)]);
        assert_eq!(client.on(up(WIFI)), [join(WIFI, NEAR)], "back to what is no backup");
        client.on(opened(2, WIFI, NEAR));
        assert_eq!(client.on(closed(2, WIFI, NEAR, Closed::TimedOut)), [], "the old one stands");
        client.on(up(WIFI));
        client.on(opened(3, WIFI, NEAR));
        assert_eq!(client.on(carried(3, 1)), [close(1)]);
    }
}

/// A receiver has no time-outs: it sees that nothing comes any more.
#[test]
fn handover_hears_silence() {
    let mut client = handover(LTE);
    let mut tick = |ms: i64, received_bytes| {
        client.now = Time::from_nanos(ms * 1_000_000);
        let silence = client.on(carried(0, received_bytes));
        assert_eq!(client.on(PathEvent::Timer), [HANDOVER_TICK]);
        silence
    };
    assert_eq!(tick(5_000, 0), [], "nothing came yet: the peer may have nothing to say");
    assert_eq!(tick(5_200, 1000), []);
    assert_eq!(tick(6_000, 2000), []);
    assert_eq!(tick(6_999, 2000), []);
    assert_eq!(tick(7_000, 2000), [join(LTE, NEAR)]);
}

#[test]
fn handover_goes_on_after_a_break() {
    let mut client = handover(LTE);
    assert_eq!(client.on(closed(0, WIFI, NEAR, Closed::AddressLost)), [join(LTE, NEAR)]);
    assert_eq!(client.on(closed(1, LTE, NEAR, Closed::TimedOut)), [], "a second before the next try");
    assert_eq!(client.at(1), [HANDOVER_TICK, join(LTE, NEAR)]);
    client.on(opened(2, LTE, NEAR));
    assert_eq!(client.on(closed(2, LTE, NEAR, Closed::Reset)), [join(LTE, NEAR)], "there is no other");
}

fn set(name: &str, endpoints: Vec<LocalEndpoint>, parameters: serde_json::Value) -> Settings {
    let parameters = parameters.as_object().unwrap().clone();
    Settings { endpoints, parameters, ..settings(name) }
}

fn offload(parameters: serde_json::Value) -> Bench {
    let mut client = Bench::new(set("offload", vec![endpoint(LTE, "backup")], parameters));
    assert_eq!(client.on(begun(true)), [TICK]);
    assert_eq!((client.on(up(WIFI)), client.on(up(LTE))), (vec![], vec![]));
    client
}

fn on_demand(parameters: serde_json::Value) -> Bench {
    let mut client = Bench::new(set("on-demand", Vec::new(), parameters));
    assert_eq!(client.on(begun(true)), [TICK]);
    assert_eq!((client.on(up(WIFI)), client.on(up(LTE))), (vec![], vec![]));
    client
}

#[test]
fn on_demand_has_one_path_until_enough_is_carried_and_once_it_is_idle() {
    let mut client = on_demand(json!({"after": 100_000, "idle": 10 * S}));
    client.on(carried(0, 99_999));
    assert_eq!(client.at(1), [TICK]);
    client.on(carried(0, 100_000));
    assert_eq!(client.at(2), [join(LTE, NEAR), TICK]);
    client.on(opened(1, LTE, NEAR));
    client.on(carried(1, 50_000));
    assert_eq!(client.at(11), [TICK]);
    assert_eq!(client.at(12), [withdraw(LTE), close(1), TICK]);
    client.on(closed(1, LTE, NEAR, Closed::Removed));
    // From there on as much again.
    client.on(carried(0, 199_999));
    assert_eq!(client.at(13), [TICK]);
    client.on(carried(0, 200_000));
    assert_eq!(client.at(14), [join(LTE, NEAR), TICK]);
}

#[test]
fn on_demand_looks_elsewhere_where_its_path_fails() {
    let timeout = PathEvent::SubflowTimeout { subflow: 0, timeouts: 1 };
    assert_eq!(on_demand(json!({})).on(timeout), [join(LTE, NEAR)]);
    // Whoever lost its path stays with the other.
    let mut client = on_demand(json!({}));
    assert!(client.on(down(WIFI)).contains(&join(LTE, NEAR)));
    client.on(opened(1, LTE, NEAR));
    client.on(carried(1, 1000));
    client.at(20);
    assert_eq!(client.on(up(WIFI)), []);
}

const OTHER: &str = "10.2.0.1";

fn maps(parameters: serde_json::Value) -> Bench {
    let mut client = Bench::new(set("maps", Vec::new(), parameters));
    assert_eq!(client.on(begun(true)), [TICK]);
    assert_eq!([WIFI, LTE, OTHER].map(|address| client.on(up(address))), [vec![], vec![], vec![]]);
    client
}

#[test]
fn maps_probes_an_unused_path_once_its_own_gets_worse_and_keeps_the_better() {
    let mut client = maps(json!({}));
    client.on(carried(0, 1_000_000));
    assert_eq!(client.at(1), [TICK]);
    // As much as 70 % is no worse.
    client.on(carried(0, 1_700_000));
    assert_eq!(client.at(2), [TICK]);
    client.on(carried(0, 2_399_999));
    assert_eq!(client.at(3), [join(LTE, NEAR), TICK], "it waited longest");
    client.on(opened(1, LTE, NEAR));
    // What comes while its window opens does not count.
    client.on(carried(1, 9_000_000));
    assert_eq!(client.at(4), [TICK]);
    client.on(carried(0, 3_000_000));
    client.on(carried(1, 9_600_000));
    assert_eq!(client.at(5), [withdraw(LTE), close(1), TICK], "less than 600001 bytes");
    client.on(closed(1, LTE, NEAR, Closed::Removed));
    // Sparingly: not before 10 s have passed, and then another.
    assert_eq!(client.at(14), [TICK]);
    assert_eq!(client.at(15), [join(OTHER, NEAR), TICK]);
    client.on(opened(2, OTHER, NEAR));
    assert_eq!(client.at(16), [TICK]);
    client.on(carried(2, 1));
    assert_eq!(client.at(17), [withdraw(WIFI), close(0), TICK]);
}

#[test]
fn maps_uses_another_path_where_its_own_is_lost() {
    let mut client = maps(json!({}));
    assert!(client.on(down(WIFI)).contains(&join(LTE, NEAR)));
    client.on(opened(1, LTE, NEAR));
    assert_eq!(client.on(up(WIFI)), []);
    // Two of three.
    let mut client = Bench::new(set("maps", Vec::new(), json!({"paths": 2})));
    let orders = [begun(true), up(WIFI), up(LTE), up(OTHER)].map(|event| client.on(event));
    assert_eq!(orders, [vec![TICK], vec![], vec![join(LTE, NEAR)], vec![]]);
}

#[test]
fn offload_waits_as_long_as_may_be() {
    let mut client = offload(json!({}));
    assert_eq!(client.at(59), [TICK], "size unknown");
    assert_eq!(client.at(60), [join(LTE, NEAR), TICK]);
}

/// Wiffler's rule at 10 s of 60: what Wi-Fi carried says W = 5 times that, against the rest.
#[test]
fn offload_predicts_what_makes_it_in_time() {
    let at_ten = |carried_bytes: u64, conservatism: f64| {
        let size = 60_000_000;
        let mut client = offload(json!({"size": size, "tolerance": 60 * S, "conservatism": conservatism}));
        client.on(carried(0, carried_bytes));
        (client.at(10), client)
    };
    // 10 MB in 10 s: 50 MB more in the 50 s that are left, and 50 MB are the rest.
    assert_eq!(at_ten(10_000_000, 1.0).0, [TICK]);
    let (needs, mut client) = at_ten(9_999_999, 1.0);
    assert_eq!(needs, [join(LTE, NEAR), TICK]);
    assert_eq!(at_ten(10_000_000, 1.1).0, [join(LTE, NEAR), TICK], "who is careful begins earlier");
    client.on(opened(1, LTE, NEAR));
    // 15 s later LTE has brought 10 MB and Wi-Fi 15 MB: 21 MB are predicted for the 35 s, 35 MB are the rest.
    client.on(carried(0, 15_000_000));
    client.on(carried(1, 10_000_000));
    assert_eq!(client.at(25), [TICK], "goes on");
    // At 40 s, 36 MB and 10 MB: 18 MB are predicted, and 14 MB are the rest, by 1.25 less than that.
    client.on(carried(0, 36_000_000));
    assert_eq!(client.at(40), [withdraw(LTE), close(1), TICK]);
    assert_eq!(client.on(closed(1, LTE, NEAR, Closed::Removed)), []);
    assert_eq!(client.at(41), [TICK]);
}

#[test]
fn wrong_parameters_are_refused() {
    for (name, parameters) in [
        ("ndiffports", json!({"subflows": 0})),
        ("ndiffports", json!({"subflows": 1.5})),
        ("handover", json!({"timeouts": 0})),
        ("on-demand", json!({"idle": 0})),
        ("offload", json!({"conservatism": 0})),
        ("maps", json!({"paths": 0})),
        ("maps", json!({"worse": 1.5})),
        ("maps", json!({"probe": S / 2})),
        ("budget", json!({"then": "pay"})),
        ("budget", json!({"cost_budget": 0})),
    ] {
        assert!(build(&set(name, Vec::new(), parameters.clone())).is_err(), "{name} {parameters}");
    }
    let mut three = Bench::new(set("ndiffports", Vec::new(), json!({"subflows": 3})));
    assert_eq!(three.on(begun(true)), [join(WIFI, NEAR), join(WIFI, NEAR)]);
}

/// A box breaks every further subflow, as one does that joins segments: it is not tried for ever.
#[test]
fn ndiffports_gives_up_what_is_broken_again_and_again() {
    let mut client = Bench::named("ndiffports");
    client.on(up(WIFI));
    assert_eq!(client.on(begun(true)), [join(WIFI, NEAR)]);
    let mut joins = 1;
    for second in 1..1000 {
        if joins == second {
            client.on(opened(joins as usize, WIFI, NEAR));
            client.on(closed(joins as usize, WIFI, NEAR, Closed::Reset));
        }
        joins += client.at(second).iter().filter(|command| **command == join(WIFI, NEAR)).count() as i64;
    }
    assert_eq!(joins, 8, "the one more, and seven in its place");
    assert_eq!(client.on(up(WIFI)), [join(WIFI, NEAR)], "the address is new, and what is on its way perhaps");
}

#[test]
fn budget_can_make_a_backup() {
    let plan = LocalEndpoint { budget_bytes: Some(1_000), ..endpoint(LTE, "subflow") };
    let mut client = Bench::new(set("budget", vec![plan], json!({"then": "backup"})));
    for event in [begun(true), up(WIFI), up(LTE), opened(1, LTE, NEAR), carried(1, 999)] {
        client.on(event);
    }
    let backup = PathCommand::SetBackup { subflow: 1, backup: true };
    assert_eq!(client.on(carried(1, 1_000)), [spent(LTE, Budgeted::Data), backup]);
    assert_eq!(client.at(1), [TICK], "once");
}

#[test]
fn budget_closes_what_is_used_up() {
    let plan = LocalEndpoint { budget_bytes: Some(1_000_000), ..endpoint(LTE, "subflow") };
    let mut client = Bench::new(Settings { endpoints: vec![plan], ..settings("budget") });
    assert_eq!(client.on(begun(true)), [TICK]);
    assert_eq!((client.on(up(WIFI)), client.on(up(LTE))), (vec![], vec![join(LTE, NEAR)]));
    client.on(opened(1, LTE, NEAR));
    client.on(carried(0, 50_000_000));
    client.on(carried(1, 600_000));
    assert_eq!(client.at(1), [TICK]);
    client.on(PathEvent::Carried { subflow: 1, sent_bytes: 300_000, received_bytes: 699_999 });
    assert_eq!(client.at(2), [TICK], "a byte is left");
    assert_eq!(client.on(carried(1, 1_000_000)), [spent(LTE, Budgeted::Data)]);
    assert_eq!(client.at(3), [withdraw(LTE), close(1), TICK]);
    assert_eq!(client.on(closed(1, LTE, NEAR, Closed::Removed)), []);
    assert_eq!((client.at(100), client.on(up(LTE))), (vec![TICK], vec![]), "and does not come back");
}

/// What costs nothing goes on; what does is paid together.
#[test]
fn what_all_may_cost_closes_what_costs() {
    let costly = |address, cost_per_mb| LocalEndpoint { cost_per_mb, ..endpoint(address, "subflow") };
    let plans = vec![costly(LTE, 0.5), costly("10.2.0.1", 2.0)];
    let mut client = Bench::new(set("budget", plans, json!({"cost_budget": 3})));
    for event in [begun(true), up(WIFI), up(LTE), up("10.2.0.1"), opened(1, LTE, NEAR), opened(2, "10.2.0.1", NEAR)] {
        client.on(event);
    }
    assert_eq!(client.on(carried(0, 90_000_000)), [], "Wi-Fi is free");
    assert_eq!(client.on(carried(1, 2_000_000)), [], "1 of 3");
    assert_eq!(client.on(carried(2, 999_999)), [], "a byte less than 2");
    let both = [spent(LTE, Budgeted::Cost), spent("10.2.0.1", Budgeted::Cost)];
    assert_eq!(client.on(carried(2, 1_000_000)), both);
    assert_eq!(client.at(1), [withdraw(LTE), close(1), withdraw("10.2.0.1"), close(2), TICK]);
    assert_eq!(client.on(carried(0, 95_000_000)), [], "told once");
}

/// ip-mptcp(8): subflow
#[test]
fn linux_opens_subflows_from_endpoints() {
    let endpoints = [endpoint(WIFI, "subflow"), endpoint(LTE, "subflow backup"), endpoint("10.2.0.1", "")];
    let mut client = linux(&endpoints, 2, 0).after(&[up(WIFI), up(LTE), up("10.2.0.1")]);
    let backup = PathCommand::Join { local: ip(LTE), remote: socket(NEAR), backup: true };
    assert_eq!(client.on(begun(true)), [backup], "the initial subflow's endpoint had its turn");
    assert_eq!(client.on(announced(1, FAR)), [], "add_addr_accepted 0");
    client.on(opened(1, LTE, NEAR));
    assert_eq!(client.on(closed(1, LTE, NEAR, Closed::TimedOut)), [], "not opened again");
    assert_eq!(client.on(down(LTE)), [withdraw(LTE)]);
    assert_eq!(client.on(up(LTE)), [backup], "a new endpoint");
    let mut server = linux(&endpoints, 2, 0).after(&[up(LTE)]);
    assert_eq!(server.on(begun(false)), [], "the client opens");
}

#[test]
fn linux_keeps_to_its_limits() {
    let third = "10.2.0.1";
    let endpoints = [endpoint(LTE, "subflow"), endpoint(third, "subflow")];
    let mut client = linux(&endpoints, 1, 8).after(&[up(WIFI), up(LTE), up(third)]);
    assert_eq!(client.on(begun(true)), [join(LTE, NEAR)]);
    assert_eq!(client.on(announced(1, FAR)), [], "no room for a subflow");
    // mptcp_pm_subflow_check_next: the next endpoint's turn.
    assert_eq!(client.on(closed(1, LTE, NEAR, Closed::Reset)), [join(third, NEAR)]);
    let mut none = linux(&endpoints, 0, 0).after(&[up(LTE)]);
    assert_eq!(none.on(begun(true)), []);
}

/// ip-mptcp(8): signal
#[test]
fn linux_announces_endpoints() {
    let endpoints = [endpoint("192.0.2.1", "signal"), endpoint("192.0.2.2", "signal")];
    let mut server = linux(&endpoints, 2, 0).after(&[up("192.0.2.1"), up("192.0.2.2")]);
    assert_eq!(server.on(begun(false)), [announce("192.0.2.2")]);
    server.on(opened(1, "192.0.2.2", "10.0.0.1:5001"));
    assert_eq!(server.on(down("192.0.2.2")), [withdraw("192.0.2.2"), PathCommand::Close { subflow: 1 }]);
    assert_eq!(server.on(up("192.0.2.2")), [announce("192.0.2.2")]);
}

#[test]
fn linux_joins_what_is_announced() {
    // Without fullmesh endpoints: from where the routes lead.
    let mut client = linux(&[endpoint(LTE, "subflow")], 8, 1).after(&[up(WIFI), up(LTE), begun(true)]);
    assert_eq!(client.on(announced(1, NEAR)), [], "lookup_subflow_by_daddr");
    assert_eq!(client.on(announced(1, FAR)), [join(WIFI, FAR)]);
    assert_eq!(client.on(announced(2, "192.0.2.3:443")), [], "one is accepted");
    client.on(PathEvent::Withdrawn { id: 1 });
    assert_eq!(client.on(announced(2, "192.0.2.3:443")), [join(WIFI, "192.0.2.3:443")]);
    // With them: from each.
    let meshed = [endpoint(WIFI, "subflow fullmesh"), endpoint(LTE, "subflow fullmesh")];
    let mut client = linux(&meshed, 8, 8).after(&[up(WIFI), up(LTE)]);
    assert_eq!(client.on(begun(true)), [join(LTE, NEAR)]);
    assert_eq!(client.on(announced(1, FAR)), [join(WIFI, FAR), join(LTE, FAR)], "four subflows");
    // An endpoint that comes late meets every address known.
    let mut client = linux(&meshed, 8, 8).after(&[up(WIFI), begun(true), announced(1, FAR)]);
    assert_eq!(client.on(up(LTE)), [join(LTE, NEAR), join(LTE, FAR)]);
}

/// A connection as simple as can be, that does what it is told.
struct Model {
    bench: Bench,
    settings: Settings,
    up: Vec<IpAddr>,
    /// Place, local and remote address, whether it is established.
    alive: Vec<(usize, IpAddr, SocketAddr, bool)>,
    places: usize,
    wake: Option<Time>,
}

impl Model {
    fn tell(&mut self, event: PathEvent) {
        for command in self.bench.on(event) {
            match command {
                PathCommand::Join { local, remote, .. } => {
                    assert!(self.up.contains(&local), "joins from {local}, which is down");
                    assert_eq!(local.is_ipv4(), remote.is_ipv4());
                    let twice = self.alive.iter().any(|&(_, l, r, _)| (l, r) == (local, remote));
                    assert!(!twice || self.settings.name == "ndiffports", "joins {local} to {remote} twice");
                    self.alive.push((self.places, local, remote, false));
                    self.places += 1;
                    let further = self.alive.iter().filter(|subflow| subflow.0 != 0).count();
                    assert!(further <= self.settings.max_subflows as usize, "{further} subflows");
                }
                PathCommand::Announce { address, .. } => assert!(self.up.contains(&address)),
                PathCommand::Withdraw { address } => assert!(!self.up.contains(&address)),
                PathCommand::Close { subflow } => {
                    let closed = self.alive.iter().find(|other| other.0 == subflow).copied();
                    let (_, local, remote, _) = closed.expect("closes what is open");
                    self.alive.retain(|other| other.0 != subflow);
                    self.tell(closed_at(subflow, local, remote, Closed::Removed));
                }
                PathCommand::SetBackup { .. } | PathCommand::Spent { .. } => {}
                PathCommand::Probe { local, .. } => assert!(self.up.contains(&local)),
                PathCommand::Decided { .. } => {}
                PathCommand::Wake { after_ns } => {
                    assert!(after_ns > 0);
                    self.wake = Some(self.bench.now + after_ns);
                }
            }
        }
    }

    fn advance(&mut self, ns: i64) {
        let end = self.bench.now + ns;
        while let Some(at) = self.wake.filter(|&at| at <= end) {
            self.wake = None;
            self.bench.now = at;
            self.tell(PathEvent::Timer);
        }
        self.bench.now = end;
    }
}

fn closed_at(subflow: usize, local: IpAddr, remote: SocketAddr, reason: Closed) -> PathEvent {
    PathEvent::SubflowClosed { subflow, local: SocketAddr::new(local, 6000), remote, reason }
}

proptest! {
    #[test]
    fn orders_are_sound(
        name in prop::sample::select(NAMES),
        client in any::<bool>(),
        limits in (0..5_u32, 0..4_u32),
        flags in prop::collection::vec(prop::sample::subsequence(vec!["subflow", "signal", "backup", "fullmesh"], 0..4), 4),
        steps in prop::collection::vec((0..6_u8, 0..8_usize, 0..40 * S), 0..80),
    ) {
        let locals: Vec<_> = (0..4).map(|i| format!("10.{i}.0.1")).collect();
        let reasons = [Closed::TimedOut, Closed::Reset, Closed::Refused, Closed::Finished, Closed::Protocol];
        let endpoints = locals.iter().zip(&flags).map(|(address, flags)| endpoint(address, &flags.join(" "))).collect();
        let (max_subflows, max_add_addr_accepted) = limits;
        let settings =
            Settings { endpoints, max_subflows, max_add_addr_accepted, ..settings(name) };
        let bench = Bench::new(settings.clone());
        let mut model = Model { bench, settings, up: vec![ip(WIFI)], alive: Vec::new(), places: 1, wake: None };
        model.alive.push((0, ip(WIFI), socket(NEAR), true));
        model.tell(up(WIFI));
        let (local, remote) = (SocketAddr::new(ip(WIFI), 443), socket(NEAR));
        model.tell(PathEvent::Established { client, local, remote });
        for (what, which, ns) in steps {
            let address = ip(&locals[which % locals.len()]);
            let subflow = model.alive.get(which % model.alive.len().max(1)).copied();
            match (what, subflow) {
                (0, _) => {
                    if !model.up.contains(&address) {
                        model.up.push(address);
                    }
                    model.tell(PathEvent::AddressUp { address });
                }
                (1, _) => {
                    model.up.retain(|&up| up != address);
                    // What is still being opened the connection closes by itself.
                    let opening: Vec<_> =
                        model.alive.extract_if(.., |subflow| subflow.1 == address && !subflow.3).collect();
                    for (place, local, remote, _) in opening {
                        model.tell(closed_at(place, local, remote, Closed::AddressLost));
                    }
                    model.tell(PathEvent::AddressDown { address });
                }
                (2, _) => {
                    let remote = SocketAddr::new(ip(&format!("192.0.2.{}", which + 1)), 443);
                    model.tell(PathEvent::Announced { id: which as u8, remote });
                }
                (3, Some((place, local, remote, false))) => {
                    model.alive.iter_mut().filter(|other| other.0 == place).for_each(|other| other.3 = true);
                    let local = SocketAddr::new(local, 6000);
                    model.tell(PathEvent::SubflowEstablished { subflow: place, local, remote });
                }
                (4, Some((place, local, remote, _))) => {
                    model.alive.retain(|other| other.0 != place);
                    model.tell(closed_at(place, local, remote, reasons[which % reasons.len()]));
                }
                (5, _) => model.tell(PathEvent::Withdrawn { id: which as u8 }),
                _ => {}
            }
            model.advance(ns);
        }
        // Who manages paths leaves none on an address that is down.
        let stand = model.alive.iter().all(|subflow| model.up.contains(&subflow.1));
        prop_assert!(stand || name == "single" || !client);
    }

    #[test]
    fn a_full_mesh_is_full(locals in 1..4_usize, remotes in 1..4_u8) {
        let mut client = Bench::named("full-mesh");
        let mut joins: Vec<_> = client.on(begun(true));
        for i in 0..locals {
            joins.extend(client.on(up(&format!("10.{i}.0.1"))));
        }
        for i in 1..remotes {
            joins.extend(client.on(announced(i, &format!("192.0.2.{}:443", i + 1))));
        }
        prop_assert_eq!(joins.len(), locals * usize::from(remotes) - 1);
        let only_joins = joins.iter().all(|command| matches!(command, PathCommand::Join { .. }));
        prop_assert!(only_joins);
    }
}
