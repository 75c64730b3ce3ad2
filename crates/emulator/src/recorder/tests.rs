use super::*;
use crate::port_name::Host;
use std::path::PathBuf;

/// Packets of more entries than the recorder has room for.
const MANY: u64 = (IN_FLIGHT as u64 + 8) * 256;

fn port_name(host: Host) -> PortName {
    PortName { host, name: "wifi".into() }
}

fn file(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("mptcplab-recorder-{name}-{}", std::process::id()))
}

/// The times in a capture, and how many packets its interfaces dropped.
fn read(path: &PathBuf) -> (Vec<Time>, Vec<Option<u64>>) {
    let mut reader = ::capture::Reader::open(path).unwrap();
    let mut times = Vec::new();
    while let Some(packet) = reader.next().unwrap() {
        times.push(packet.at);
    }
    let drops = reader.interfaces().iter().map(|interface| interface.drops).collect();
    std::fs::remove_file(path).unwrap();
    (times, drops)
}

#[test]
fn what_there_is_no_room_for_is_counted_and_said_in_the_capture() {
    let path = file("full");
    let recording = Recording { server_capture: Some(path.clone()), ..Recording::default() };
    let links = ["home".into()];
    let (recorder, shared, sender) =
        Recorder::new(Clock::start(), &recording, vec![port_name(Host::Server)], &links, 1).unwrap();
    let mut feed = Feed::new(0, shared, sender);
    // Nobody takes anything yet.
    for number in 0..MANY {
        feed.passed(Time::from_nanos(number as i64), 0, CaptureDirection::Inbound, &host::blank());
    }
    let recorder = thread::spawn(|| recorder.run().unwrap());
    drop(feed);
    let Records { captures, link_log } = recorder.join().unwrap();
    let [written, lost] = captures[0].1;
    assert_eq!((written, lost, link_log), (IN_FLIGHT as u64 * 256, 8 * 256, None));
    let (times, drops) = read(&path);
    assert_eq!((times.len() as u64, drops), (written, vec![Some(lost)]));
}

#[test]
fn lanes_are_put_in_order_whoever_is_idle() {
    let path = file("order");
    let recording = Recording { client_capture: Some(path.clone()), ..Recording::default() };
    let links = ["home".into(), "tower".into(), "idle".into()];
    let clock = Clock::start();
    let (recorder, shared, sender) =
        Recorder::new(clock, &recording, vec![port_name(Host::Client)], &links, 3).unwrap();
    let mut idle = Feed::new(2, shared.clone(), sender.clone());
    idle.tick(clock.now());
    let link_threads = [0, 1].map(|link_thread| {
        let mut feed = Feed::new(link_thread, shared.clone(), sender.clone());
        thread::spawn(move || {
            for number in 0..3_000 {
                let now = clock.now();
                feed.passed(now, 0, CaptureDirection::Outbound, &host::blank());
                let before = clock.now();
                feed.tick(before);
                if number % 100 == 0 {
                    thread::sleep(Duration::from_millis(1 + link_thread as u64 * 3));
                }
                feed.wake(before);
            }
        })
    });
    drop((sender, shared));
    let recorder = thread::spawn(|| recorder.run().unwrap());
    link_threads.into_iter().for_each(|link_thread| link_thread.join().unwrap());
    drop(idle);
    let records = recorder.join().unwrap();
    assert_eq!(records.captures[0].1, [6_000, 0]);
    let (times, drops) = read(&path);
    assert!(times.is_sorted());
    assert_eq!(drops, [Some(0)]);
}

#[test]
fn what_cannot_be_written_is_an_error() {
    let recording = Recording { client_capture: Some("/dev/full".into()), ..Recording::default() };
    let (recorder, shared, sender) =
        Recorder::new(Clock::start(), &recording, vec![port_name(Host::Client)], &["home".into()], 1).unwrap();
    let mut feed = Feed::new(0, shared, sender);
    feed.passed(Time::from_nanos(1), 0, CaptureDirection::Inbound, &host::blank());
    drop(feed);
    let error = recorder.run().unwrap_err().to_string();
    assert!(error.starts_with("/dev/full: cannot write it: "), "{error}");
}
