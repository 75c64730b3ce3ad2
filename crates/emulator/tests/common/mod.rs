//! A client and a server in network namespaces of their own, with the emulator between them.
#![allow(dead_code, reason = "each test uses a part")]

pub mod seen;

use emulator::device::{Device, Offload};
use emulator::{Emulator, Error, Host, Namespace, PortName, Recording, within};
use scenario::Scenario;
use serde_json::{Value, json};
use std::fs::OpenOptions;
use std::net::UdpSocket;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use transport::Config;

pub const MS: i64 = 1_000_000;

/// Whether the machine lets a test of the kernel run; where all must (as in continuous integration), it fails instead.
pub fn is_possible() -> bool {
    let tun = OpenOptions::new().read(true).write(true).open("/dev/net/tun");
    let reason = match (Namespace::new(), tun) {
        (Err(error), _) => error.to_string(),
        (_, Err(error)) => format!("cannot open /dev/net/tun: {error}"),
        _ if Command::new("ip").arg("-V").output().is_err() => "there is no ip: apt install iproute2".into(),
        _ => return true,
    };
    assert!(std::env::var("MPTCPLAB_REQUIRE").as_deref() != Ok("all"), "{reason}");
    eprintln!("skipped: {reason}");
    false
}

/// A scenario with the links and paths; path number n from 1 has the address 10.0.n.2, the server 10.9.1.1.
pub fn scenario(links: Value, paths: &[(&str, &str)], timeline: Value, cross_traffic: Value) -> Scenario {
    let config = serde_json::to_value(Config::default()).unwrap();
    let path = |(number, (name, link)): (usize, &(&str, &str))| {
        json!({
            "name": name, "link": link, "address": format!("10.0.{}.2", number + 1), "address6": null,
            "mtu_bytes": 1500, "backup": false, "attached": true,
        })
    };
    let plan = json!({
        "schema": 1,
        "seed": 1,
        "run": {"kind": "mptcp"},
        "transfer": {"application": "bulk", "direction": "down", "size_bytes": 1, "duration_ns": null},
        "links": links,
        "paths": paths.iter().enumerate().map(path).collect::<Vec<_>>(),
        "server": {"addresses": ["10.9.1.1"], "port": 8080, "signal": true},
        "transport": {"client": config, "server": config},
        "timeline": timeline,
        "cross_traffic": cross_traffic,
        "epoch_ns": 0,
        "settings": {"stop_ns": 60_000 * MS, "sample_ns": 0, "processing_ns": 0},
    });
    Scenario::from_json(&plan.to_string()).unwrap()
}

/// A link with the same elements both ways.
pub fn both_directions(elements: Value) -> Value {
    json!({"uplink": elements, "downlink": elements})
}

/// A directory that goes with it.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("mptcplab-emulator-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Namespaces, an emulator that is ready, and where it records.
pub struct Lab {
    pub client: Namespace,
    pub server: Namespace,
    pub neighbours: Namespace,
    pub peers: Namespace,
    pub emulator: Emulator,
    pub scratch: Scratch,
}

impl Lab {
    pub fn new(name: &str, scenario: Scenario) -> Lab {
        Lab::with(name, scenario, &[])
    }

    /// The same where some hosts are ours.
    pub fn with(name: &str, scenario: Scenario, ours: &[Host]) -> Lab {
        let spaces: [Namespace; 4] = std::array::from_fn(|_| Namespace::new().unwrap());
        let scratch = Scratch::new(name);
        let recording = Recording {
            client_capture: Some(scratch.file("client.pcapng")),
            server_capture: Some(scratch.file("server.pcapng")),
            // Datagrams bear numbers.
            full_payload: true,
            link_log: Some(scratch.file("links.csv")),
        };
        let paths: Vec<String> = scenario.paths.iter().map(|path| path.name.clone()).collect();
        let crosses: Vec<String> = scenario.cross_traffic.iter().map(|traffic| traffic.name().to_owned()).collect();
        let mut devices = Vec::new();
        for (names, hosts) in [(&paths, [0, 1]), (&crosses, [2, 3])] {
            for name in names {
                for host in hosts.into_iter().filter(|host| !ours.contains(&Host::ALL[*host])) {
                    let port_name = PortName { host: Host::ALL[host], name: name.as_str().into() };
                    let open = || Device::tun(name, Offload::SplitAndMerge);
                    devices.push((port_name, within(spaces[host].as_fd(), open).unwrap()));
                }
            }
        }
        let emulator = Emulator::new(scenario, devices, ours, recording).unwrap();
        let [client, server, neighbours, peers] = spaces;
        ip(&server, "address add 10.9.1.1/32 dev lo");
        ip(&server, "link set lo up");
        for (number, name) in paths.iter().enumerate() {
            let number = number + 1;
            if !ours.contains(&Host::Client) {
                up(&client, name, &format!("10.0.{number}.2/24"));
                ip(&client, &format!("route add default dev {name} src 10.0.{number}.2 metric {number}"));
            }
            if !ours.contains(&Host::Server) {
                ip(&server, &format!("link set {name} up"));
                ip(&server, &format!("route add 10.0.{number}.0/24 dev {name} src 10.9.1.1"));
            }
        }
        for (number, name) in crosses.iter().enumerate() {
            let [neighbour, peer] = scenario::form::CrossTraffic::addresses(number);
            for (space, address) in [(&neighbours, neighbour), (&peers, peer)] {
                up(space, name, &format!("{address}/32"));
                ip(space, &format!("route add default dev {name} src {address}"));
            }
        }
        Lab { client, server, neighbours, peers, emulator, scratch }
    }

    pub fn client_capture(&self) -> PathBuf {
        self.scratch.file("client.pcapng")
    }

    pub fn server_capture(&self) -> PathBuf {
        self.scratch.file("server.pcapng")
    }
}

fn up(space: &Namespace, name: &str, address: &str) {
    ip(space, &format!("address add {address} dev {name}"));
    ip(space, &format!("link set {name} up"));
}

/// `ip` in a namespace.
pub fn ip(space: &Namespace, arguments: &str) {
    let run = || Ok(Command::new("ip").args(arguments.split(' ')).output().unwrap());
    let done = within(space.as_fd(), run).unwrap();
    assert!(done.status.success(), "ip {arguments}: {}", String::from_utf8_lossy(&done.stderr));
}

/// Does something in a namespace.
pub fn inside<T: Send>(space: &Namespace, act: impl FnOnce() -> T + Send) -> T {
    within(space.as_fd(), || Ok::<T, Error>(act())).unwrap()
}

/// A socket for datagrams that gives up waiting.
pub fn udp(space: &Namespace, address: &str) -> UdpSocket {
    let socket = inside(space, || UdpSocket::bind(address).unwrap());
    socket.set_read_timeout(Some(std::time::Duration::from_secs(5))).unwrap();
    socket
}

/// Lines of a text file.
pub fn lines(path: &Path) -> Vec<String> {
    std::fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
}
