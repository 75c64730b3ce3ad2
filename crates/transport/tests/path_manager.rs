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

use bench::{Bench, FAR, LTE, NEAR, S, WIFI, announced, begun, down, join, set, up};
use serde_json::json;
use transport::path_manager::{NAMES, PathEvent, Settings, build, descriptions};

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
