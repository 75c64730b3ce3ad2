//! A path manager on its own, and the words of what it hears and orders.

use std::net::{IpAddr, SocketAddr};
use transport::path_manager::{Budgeted, Closed, LocalEndpoint, PathCommand, PathEvent, PathManager, Settings, build};
use wire::Time;

pub const S: i64 = 1_000_000_000;

pub const WIFI: &str = "10.0.0.1";
pub const LTE: &str = "10.1.0.1";
pub const SIX: &str = "2001:db8::1";
pub const NEAR: &str = "192.0.2.1:443";
pub const FAR: &str = "192.0.2.2:443";
pub const FAR_SIX: &str = "[2001:db8:1::2]:443";

pub fn ip(address: &str) -> IpAddr {
    address.parse().unwrap()
}

pub fn socket(address: &str) -> SocketAddr {
    address.parse().unwrap()
}

pub fn join(local: &str, remote: &str) -> PathCommand {
    PathCommand::Join { local: ip(local), remote: socket(remote), backup: false }
}

pub fn up(address: &str) -> PathEvent {
    PathEvent::AddressUp { address: ip(address) }
}

pub fn down(address: &str) -> PathEvent {
    PathEvent::AddressDown { address: ip(address) }
}

pub fn announced(id: u8, remote: &str) -> PathEvent {
    PathEvent::Announced { id, remote: socket(remote) }
}

pub fn begun(client: bool) -> PathEvent {
    let (local, remote) = if client { (WIFI, NEAR) } else { ("192.0.2.1", "10.0.0.1:5000") };
    PathEvent::Established { client, local: SocketAddr::new(ip(local), 443), remote: socket(remote) }
}

pub fn opened(subflow: usize, local: &str, remote: &str) -> PathEvent {
    PathEvent::SubflowEstablished { subflow, local: SocketAddr::new(ip(local), 6000), remote: socket(remote) }
}

pub fn closed(subflow: usize, local: &str, remote: &str, reason: Closed) -> PathEvent {
    PathEvent::SubflowClosed { subflow, local: SocketAddr::new(ip(local), 6000), remote: socket(remote), reason }
}

pub fn announce(address: &str) -> PathCommand {
    PathCommand::Announce { address: ip(address), port: None }
}

pub fn withdraw(address: &str) -> PathCommand {
    PathCommand::Withdraw { address: ip(address) }
}

pub fn spent(address: &str, budget: Budgeted) -> PathCommand {
    PathCommand::Spent { address: ip(address), budget }
}

pub fn wake(seconds: i64) -> PathCommand {
    PathCommand::Wake { after_ns: seconds * S }
}

/// A path manager and the time.
pub struct Bench {
    pub manager: Box<dyn PathManager>,
    pub now: Time,
}

impl Bench {
    pub fn new(settings: Settings) -> Bench {
        Bench { manager: build(&settings).unwrap(), now: Time::default() }
    }

    pub fn named(name: &str) -> Bench {
        Bench::new(settings(name))
    }

    pub fn on(&mut self, event: PathEvent) -> Vec<PathCommand> {
        let mut commands = Vec::new();
        self.manager.on(self.now, &event, &mut commands);
        commands
    }

    /// Several events, of which only the last's orders matter.
    pub fn after(mut self, events: &[PathEvent]) -> Bench {
        for &event in events {
            self.on(event);
        }
        self
    }

    pub fn at(&mut self, seconds: i64) -> Vec<PathCommand> {
        self.now = Time::from_nanos(seconds * S);
        self.on(PathEvent::Timer)
    }
}

/// With limits that hold nothing back.
pub fn settings(name: &str) -> Settings {
    Settings { name: name.into(), max_subflows: 8, max_add_addr_accepted: 8, ..Settings::default() }
}

pub fn endpoint(address: &str, flags: &str) -> LocalEndpoint {
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

pub fn linux(endpoints: &[LocalEndpoint], max_subflows: u32, max_add_addr_accepted: u32) -> Bench {
    let endpoints = endpoints.to_vec();
    Bench::new(Settings { endpoints, max_subflows, max_add_addr_accepted, ..settings("linux") })
}

pub fn carried(subflow: usize, received_bytes: u64) -> PathEvent {
    PathEvent::Carried { subflow, sent_bytes: 0, received_bytes }
}

pub fn close(subflow: usize) -> PathCommand {
    PathCommand::Close { subflow }
}

pub const TICK: PathCommand = PathCommand::Wake { after_ns: 100_000_000 };
pub const HANDOVER_TICK: PathCommand = PathCommand::Wake { after_ns: 200_000_000 };

pub fn set(name: &str, endpoints: Vec<LocalEndpoint>, parameters: serde_json::Value) -> Settings {
    let parameters = parameters.as_object().unwrap().clone();
    Settings { endpoints, parameters, ..settings(name) }
}
