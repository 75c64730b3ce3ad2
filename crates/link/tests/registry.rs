//! What scenarios may say: descriptions agree with what is built, and no value makes building panic.

use link::{Error, build, elements, queues};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use wire::Time;

fn make(value: &Value) -> Result<(), Error> {
    build(value, 1, "link/home/uplink/0", Time::default()).map(drop)
}

fn error(value: &Value) -> String {
    make(value).unwrap_err().to_string()
}

#[test]
fn errors_name_the_element_and_the_parameter() {
    for (value, expected) in [
        (json!(3), "3 is not a valid element: a table with the key `element` is needed"),
        (json!({"rate": 3}), "a table is not a valid element: a table with the key `element` is needed"),
        (json!({"element": "rate"}), "element `rate`, parameter `rate`: is missing"),
        (
            json!({"element": "rate", "rate": 1, "rat": 1}),
            "element `rate`, parameter `rat`: is unknown; known: rate, queue",
        ),
        (
            json!({"element": "rate", "rate": -1}),
            "element `rate`, parameter `rate`: -1 is not a whole number of bit/s from 0 to 1000000000000",
        ),
        (
            json!({"element": "loss", "ratio": 1.5}),
            "element `loss`, parameter `ratio`: 1.5 is not a number from 0 to 1",
        ),
        (
            json!({"element": "rate", "rate": 1, "queue": {"queue": "codel", "interval": 0}}),
            "element `rate`, parameter `queue`: `interval` must be longer than 0",
        ),
        (
            json!({"element": "rate", "rate": 1, "queue": {"queue": "red"}}),
            "element `rate`, parameter `queue`: there is no queue `red`, only drop-tail, drop-head, codel, fq-codel, pie",
        ),
        (
            json!({"element": "trace", "trace": [5, 4]}),
            "element `trace`, parameter `trace`: entry 2: 4 ms is before the 5 ms of the previous entry",
        ),
        (
            json!({"element": "rate-trace", "trace": [[0, 1], [1000, 2], [1000, 3]]}),
            "element `rate-trace`, parameter `trace`: row 3: 1000 ms is not after the 1000 ms of the previous row",
        ),
        (
            json!({"element": "rate-trace", "trace": [[5, 1]]}),
            "element `rate-trace`, parameter `trace`: row 1: begins at 5 ms, not at 0",
        ),
        (json!({"element": "rate-trace", "trace": []}), "element `rate-trace`, parameter `trace`: a trace needs a row"),
        (
            json!({"element": "rate-trace", "trace": [[0, 1, 2]]}),
            "element `rate-trace`, parameter `trace`: row 1: is not a list of 2 numbers",
        ),
        (
            json!({"element": "rate-trace", "trace": [[0, 1], [1000, 2]], "period": 1_000_000_000}),
            "element `rate-trace`, parameter `period`: is not after the last row of the trace",
        ),
        (
            json!({"element": "rate-trace", "trace": [[0, 1]], "period": 99_999}),
            "element `rate-trace`, parameter `period`: must be at least 100 µs",
        ),
        (
            json!({"element": "delay-trace", "trace": [[0, 20, 1]], "period": 1}),
            "element `delay-trace`, parameter `period`: must be at least 100 µs",
        ),
        (
            json!({"element": "rate-markov", "high": 1, "high_time": 1_000_000, "low_time": 99_999}),
            "element `rate-markov`, parameter `low_time`: must be at least 100 µs",
        ),
        (
            json!({"element": "delay-trace", "trace": [[0, 20, 101]]}),
            "element `delay-trace`, parameter `trace`: row 1: 101 is not a number of % from 0 to 100",
        ),
        (
            json!({"element": "delay", "delay": 1, "distribution": "pareto"}),
            "element `delay`, parameter `distribution`: must be normal or uniform, not `pareto`",
        ),
        (
            json!({"element": "arq", "error_ratio": 0.1, "round_trip": 500_000}),
            "element `arq`, parameter `round_trip`: is shorter than `step`: the radio would be as it was",
        ),
        (
            json!({"element": "arq", "error_ratio": 0.1, "tries": 0}),
            "element `arq`, parameter `tries`: must be from 1 to 100",
        ),
        (
            json!({"element": "handover", "every": 1_000_000, "shortest": 3, "longest": 2}),
            "element `handover`, parameter `longest`: is shorter than `shortest`",
        ),
        (json!({"element": "grants", "share": 0}), "element `grants`, parameter `share`: must be at least 0.1 %"),
        (
            json!({"element": "rate", "rate": 1, "queue": {"queue": "pie", "beta": -1}}),
            "element `rate`, parameter `queue`: `beta` must be from 0 to 1000",
        ),
        (
            json!({"element": "base-station", "rate": 2, "drain_rate": 1}),
            "element `base-station`, parameter `drain_rate`: is less than `rate`: nothing would drain",
        ),
        (
            json!({"element": "promotion", "takes": 1, "idle_after": 1, "shared_bytes": 1}),
            "element `promotion`, parameter `shared_bytes`: has no effect without `shared_after`: there is no shared channel",
        ),
        (
            json!({"element": "gilbert-elliott-time", "good_time": 1_000_000, "bad_time": 1_000_000, "good_loss": 0.2,
                "bad_loss": 0.1}),
            "element `gilbert-elliott-time`, parameter `bad_loss`: is less than `good_loss`",
        ),
        (
            json!({"element": "rate", "rate": 1, "queue": {"queue": "fq-codel", "quantum": 0}}),
            "element `rate`, parameter `queue`: `quantum` must be more than 0",
        ),
    ] {
        assert_eq!(error(&value), expected);
    }
    assert!(error(&json!({"element": "rte"})).starts_with("there is no element `rte`, only rate, rate-process, "));
}

/// A value that a parameter takes.
fn example(kind: &str) -> Value {
    match kind {
        "rate" | "duration" | "bytes" | "packets" => json!(1_000_000),
        "integer" => json!(3),
        "ratio" | "number" => json!(0.5),
        "flag" => json!(true),
        "trace" => json!([1]),
        "rate-trace" => json!([[0, 1.5]]),
        "delay-trace" => json!([[0, 10, 0.5]]),
        "queue" => json!({"queue": "drop-head"}),
        other => panic!("no example of {other}"),
    }
}

#[test]
fn descriptions_are_true() {
    for (all, key) in [(elements(), "element"), (queues(), "queue")] {
        for description in &all {
            assert!(!description.summary.is_empty(), "{}", description.name);
            let mut table = Map::new();
            table.insert(key.into(), description.name.into());
            let make_it = |table: &Map<String, Value>| match key {
                "element" => make(&Value::Object(table.clone())),
                _ => make(&json!({"element": "rate", "rate": 1, "queue": table})),
            };
            for parameter in description.parameters.iter().filter(|parameter| parameter.required) {
                assert!(make_it(&table).is_err(), "{}: {}", description.name, parameter.name);
                table.insert(parameter.name.into(), example(parameter.kind));
            }
            assert_eq!(make_it(&table), Ok(()));
            for parameter in &description.parameters {
                assert!(!parameter.doc.is_empty(), "{}: {}", description.name, parameter.name);
                if !parameter.required {
                    table.insert(parameter.name.into(), parameter.default.clone());
                }
            }
            assert_eq!(make_it(&table), Ok(()), "with its defaults written out");
        }
    }
}

#[test]
fn names_are_there_once() {
    let names = |all: Vec<link::Description>| all.iter().map(|one| one.name).collect::<Vec<_>>();
    for mut names in [names(elements()), names(queues())] {
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let text = prop::sample::select(vec!["rate", "trace", "drop-tail", "codel", "loss", "normal", "", "é"]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (0..3_000_000_u64).prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 30, 6, |inner| {
        let key = prop::sample::select(vec!["queue", "bytes", "packets", "delay", "target", "interval", "x"]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..4).prop_map(|pairs| pairs
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect::<Map<_, _>>()
                .into()),
        ]
    })
}

/// An element's table whose parameters hold anything.
fn any_element() -> impl Strategy<Value = Value> {
    prop::sample::select(elements()).prop_flat_map(|description| {
        let names: Vec<&str> = description.parameters.iter().map(|parameter| parameter.name).chain(["x"]).collect();
        let parameters = prop::collection::vec((prop::sample::select(names), any_value()), 0..8);
        parameters.prop_map(move |pairs| {
            let mut table: Map<_, _> = pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
            table.insert("element".into(), description.name.into());
            Value::Object(table)
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn no_value_makes_building_panic(value in prop_oneof![any_value(), any_element()]) {
        let _ = make(&value);
    }
}
