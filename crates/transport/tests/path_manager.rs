//! What path managers order when something happens.

#[path = "path_manager/bench.rs"]
mod bench;
#[path = "path_manager/full_mesh.rs"]
mod full_mesh;
#[path = "path_manager/handover.rs"]
mod handover;
#[path = "path_manager/linux.rs"]
mod linux;
#[path = "path_manager/model.rs"]
mod model;
#[path = "path_manager/sparing.rs"]
mod sparing;

use bench::{Bench, FAR, LTE, NEAR, S, WIFI, announced, begun, carried, down, join, opened, set, up};
use serde_json::json;
use transport::path_manager::{NAMES, PathCommand, PathEvent, Settings, build, descriptions};

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

/// Packets that come behind one that was lost show a path at work as others do.
#[test]
fn guard_hears_what_comes_out_of_order() {
    let probes = |grows: u64| {
        let mut bench = Bench::named("guard").after(&[begun(true), up(WIFI), up(LTE), opened(1, LTE, NEAR)]);
        let mut probes = 0;
        for tick in 0..200 {
            bench.now = bench.now + S / 100;
            bench.on(carried(0, 1000 * tick.min(100)));
            let out_of_order_bytes = tick.saturating_sub(100) * grows;
            let srtt_ns = Some(S / 50);
            bench.on(PathEvent::Waits { subflow: 0, outstanding: false, srtt_ns, rttvar_ns: 0, out_of_order_bytes });
            for command in bench.on(PathEvent::Timer) {
                if let PathCommand::Probe { local, number, .. } = command {
                    probes += 1;
                    bench.on(PathEvent::Answered { local, number });
                }
            }
        }
        probes
    };
    // Each path is asked at first, and Wi-Fi and its witness again if it falls silent.
    assert_eq!(probes(1000), 2);
    assert!(probes(0) > 2);
}
