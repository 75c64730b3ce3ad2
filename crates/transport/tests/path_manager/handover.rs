//! Those that have one path at a time, or several subflows over one pair of addresses: `handover`, `on-demand`, `ndiffports`.

use crate::bench::{
    Bench, HANDOVER_TICK, LTE, NEAR, S, TICK, WIFI, begun, carried, close, closed, down, endpoint, join, opened, set,
    settings, up, wake, withdraw,
};
use serde_json::json;
use transport::path_manager::{Closed, PathEvent, Settings};
use wire::Time;

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
