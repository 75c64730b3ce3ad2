//! Those that spare paths or money: `maps`, `offload`, `budget`.

use crate::bench::{
    Bench, LTE, NEAR, S, TICK, WIFI, begun, carried, close, closed, down, endpoint, join, opened, set, settings, spent,
    up, withdraw,
};
use serde_json::json;
use transport::path_manager::{Budgeted, Closed, LocalEndpoint, PathCommand, PathEvent, Settings};

fn offload(parameters: serde_json::Value) -> Bench {
    let mut client = Bench::new(set("offload", vec![endpoint(LTE, "backup")], parameters));
    assert_eq!(client.on(begun(true)), [TICK]);
    assert_eq!((client.on(up(WIFI)), client.on(up(LTE))), (vec![], vec![]));
    client
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
    assert_eq!(client.on(carried(0, 95_000_000)), [], "reported once");
}
