//! What is refused, and how a run ends.

mod common;

use common::{Lab, MS, both_directions, is_possible, scenario, udp};
use emulator::{Emulator, Error, Recording};
use serde_json::json;
use std::time::{Duration, Instant};

/// Until there are so many threads of an emulator: they name themselves, and take a moment to go.
fn await_threads(count: usize) {
    let begun = Instant::now();
    while threads() != count {
        assert!(begun.elapsed() < Duration::from_secs(10), "{} threads", threads());
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn threads() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let names = tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
    names.filter(|name| name.starts_with("link ends") || name.trim() == "recorder").count()
}

#[test]
fn a_path_without_a_device_is_refused() {
    let links = json!({"home": both_directions(json!([]))});
    let scenario = scenario(links, &[("wifi", "home")], json!([]), json!([]));
    let error = Emulator::new(scenario, Vec::new(), &[], Recording::default()).err().unwrap();
    assert_eq!(error.to_string(), "port client:wifi: has no device");
}

#[test]
fn threads_end_with_it_and_files_are_whole() {
    if !is_possible() {
        return;
    }
    let links = json!({"ends": both_directions(json!([{"element": "delay", "delay": MS}]))});
    let scenario = scenario(links, &[("wifi", "ends")], json!([]), json!([]));
    let mut lab = Lab::new("ends", scenario.clone());
    assert!(!lab.emulator.is_running());
    assert!(lab.emulator.stop().unwrap().is_none());
    assert!(matches!(lab.emulator.start(), Err(Error::Ended)));

    let mut lab = Lab::new("ends", scenario);
    let start = lab.emulator.start().unwrap();
    assert_eq!(lab.emulator.start().unwrap(), start);
    await_threads(2);
    let (client, server) = (udp(&lab.client, "10.0.1.2:5001"), udp(&lab.server, "10.9.1.1:5001"));
    common::seen::send(&client, "10.9.1.1:5001", 0..10, Duration::ZERO);
    assert_eq!(common::seen::receive(&server).len(), 10);
    let Lab { emulator, scratch, .. } = lab;
    drop(emulator);
    await_threads(0);
    let (interfaces, datagrams, _) = common::seen::capture(&scratch.file("client.pcapng"));
    assert_eq!((interfaces, datagrams.len()), (vec![("client:wifi".into(), Some(0))], 10));
}
