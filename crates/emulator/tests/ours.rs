//! Hosts of ours at one end, the kernel at the other.

mod common;

use common::{Lab, MS, both_directions, inside, ip, is_possible};
use emulator::{Connection, Host};
use rustix::net::{AddressFamily, SocketType, ipproto, socket};
use scenario::Scenario;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::thread;
use std::time::{Duration, Instant};

const BYTES: u64 = 3_000_000;
const SERVER: &str = "10.9.1.1:8080";

fn two_paths(transfer: Value) -> Scenario {
    let link = |delay: i64| {
        both_directions(json!([
            {"element": "rate", "rate": 20_000_000, "queue": {"queue": "drop-tail", "bytes": 150_000}},
            {"element": "loss", "ratio": 0.002},
            {"element": "delay", "delay": delay * MS},
        ]))
    };
    let links = json!({"home": link(5), "tower": link(15)});
    let mut scenario = common::scenario(links, &[("wifi", "home"), ("lte", "tower")], json!([]), json!([]));
    scenario.transfer = serde_json::from_value(transfer).unwrap();
    scenario
}

fn bulk(direction: &str) -> Scenario {
    two_paths(json!({"application": "bulk", "direction": direction, "size_bytes": BYTES, "duration_ns": null}))
}

/// A socket of the kernel that speaks MPTCP.
fn mptcp() -> OwnedFd {
    socket(AddressFamily::INET, SocketType::STREAM, Some(ipproto::MPTCP)).unwrap()
}

/// Whether the kernel speaks MPTCP; where it must, it fails instead.
fn speaks_mptcp() -> bool {
    let speaks = socket(AddressFamily::INET, SocketType::STREAM, Some(ipproto::MPTCP)).is_ok();
    assert!(speaks || std::env::var("MPTCPLAB_REQUIRE").as_deref() != Ok("all"), "the kernel speaks no MPTCP");
    speaks
}

/// Until the host of ours is done, or a minute has passed.
fn done(lab: &Lab) -> Connection {
    let begun = Instant::now();
    loop {
        let connection = lab.emulator.connections()[0].1.first().copied().unwrap_or_default();
        assert!(lab.emulator.is_running());
        if connection.done || begun.elapsed() > Duration::from_secs(60) {
            return connection;
        }
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn our_client_uploads_to_the_kernel_over_both_paths() {
    if !is_possible() || !speaks_mptcp() {
        return;
    }
    let mut lab = Lab::with("our-client", bulk("up"), &[Host::Client]);
    let listener: TcpListener = inside(&lab.server, || {
        let socket = mptcp();
        rustix::net::bind(&socket, &SERVER.parse::<SocketAddr>().unwrap()).unwrap();
        rustix::net::listen(&socket, 8).unwrap();
        socket.into()
    });
    let server = thread::spawn(move || {
        let mut got = Vec::new();
        listener.accept().unwrap().0.read_to_end(&mut got).unwrap();
        got
    });
    lab.emulator.start().unwrap();
    let connection = done(&lab);
    let got = server.join().unwrap();
    assert_eq!(got.len() as u64, BYTES);
    assert!(wire::pattern::matches(0, &got));
    assert!(connection.done && connection.mptcp && connection.subflows == 2, "{connection:?}");
    assert_eq!((connection.bytes_written, connection.bytes_read, connection.corrupt_bytes), (BYTES, 0, 0));
    let summary = lab.emulator.stop().unwrap().unwrap();
    let [home, tower] = [0, 1].map(|link: usize| summary.links[link].1.packets[0]);
    assert!(home > 500 && tower > 500, "{home} {tower}");
    let (interfaces, _, packets) = common::seen::capture(&lab.client_capture());
    let names: Vec<&str> = interfaces.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["client:wifi", "client:lte"]);
    assert!(packets as u64 > BYTES / 1460);
}

#[test]
fn the_kernel_downloads_from_our_server_over_both_paths() {
    if !is_possible() || !speaks_mptcp() {
        return;
    }
    let mut lab = Lab::with("our-server", bulk("down"), &[Host::Server]);
    for (number, path) in [(1, "wifi"), (2, "lte")] {
        ip(&lab.client, &format!("rule add from 10.0.{number}.2 table {number}"));
        ip(&lab.client, &format!("route add default dev {path} table {number}"));
    }
    ip(&lab.client, "mptcp limits set subflow 2");
    ip(&lab.client, "mptcp endpoint add 10.0.2.2 dev lte subflow");
    lab.emulator.start().unwrap();
    let mut client: TcpStream = inside(&lab.client, || {
        let socket = mptcp();
        rustix::net::connect(&socket, &SERVER.parse::<SocketAddr>().unwrap()).unwrap();
        socket.into()
    });
    let mut got = Vec::new();
    client.read_to_end(&mut got).unwrap();
    client.flush().unwrap();
    assert_eq!(got.len() as u64, BYTES);
    assert!(wire::pattern::matches(0, &got));
    drop(client);
    let connection = done(&lab);
    assert!(connection.done && connection.mptcp && connection.subflows == 2, "{connection:?}");
    assert_eq!((connection.bytes_written, connection.bytes_read, connection.corrupt_bytes), (BYTES, 0, 0));
    let summary = lab.emulator.stop().unwrap().unwrap();
    let [home, tower] = [0, 1].map(|link: usize| summary.links[link].1.packets[1]);
    assert!(home > 300 && tower > 300, "{home} {tower}");
    let (interfaces, _, _) = common::seen::capture(&lab.server_capture());
    let names: Vec<&str> = interfaces.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["server:wifi", "server:lte"]);
}
