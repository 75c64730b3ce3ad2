//! What a scenario says once everything is resolved: base units, addresses chosen, nothing left out. Read from JSON.

use crate::Error;
use crate::check::{check, reduce};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use transport::Config;
use wire::{Direction, Time};

/// A scenario in full.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Version of this form.
    pub schema: u32,
    /// All chance comes from it.
    pub seed: u64,
    /// MPTCP, or plain TCP over one path.
    pub run: Run,
    /// What is transferred.
    pub transfer: Transfer,
    /// Links by name.
    pub links: BTreeMap<String, Link>,
    /// Paths of the client; the first that is attached carries the first subflow.
    pub paths: Vec<Path>,
    /// The server.
    pub server: Server,
    /// Settings of the endpoints.
    pub transport: Transport,
    /// What happens meanwhile.
    pub timeline: Vec<Event>,
    /// Other traffic on the links.
    pub cross_traffic: Vec<CrossTraffic>,
    /// When to give up, in virtual time.
    pub stop_ns: i64,
    /// Virtual time 0 as Unix time.
    pub epoch_ns: i64,
    /// Period of the samples of senders and queues; 0: none.
    pub sample_ns: i64,
    /// Longest that hosts take to see a packet which came, drawn each time; 0: none, and all flows start on time.
    #[serde(default)]
    pub processing_ns: i64,
}

/// What is run.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Run {
    /// All paths.
    Mptcp,
    /// Plain TCP over one path, on its link.
    Tcp {
        /// Its name.
        path: String,
    },
}

/// What is transferred.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "application", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Transfer {
    /// As fast as it goes.
    Bulk {
        /// Which way.
        direction: Direction,
        /// So many bytes.
        size_bytes: Option<u64>,
        /// Or for so long.
        duration_ns: Option<i64>,
        /// Over how many connections at once, each as much.
        #[serde(default = "one")]
        connections: u32,
    },
    /// Requests, answers, and time to think.
    RequestResponse {
        /// Which way answers go.
        direction: Direction,
        /// Bytes of each request.
        request_bytes: u64,
        /// Bytes of each answer.
        response_bytes: u64,
        /// How many.
        requests: u64,
        /// From an answer to the next request.
        think_ns: i64,
    },
    /// Messages at even times.
    ConstantBitRate {
        /// Which way.
        direction: Direction,
        /// Rate of the messages' bits.
        rate_bits_per_second: u64,
        /// Bytes of each message.
        message_bytes: u64,
        /// For so long.
        duration_ns: i64,
    },
}

/// A link: elements in the order in which packets meet them. What they may be, [`link::elements`] says. An element with
/// a name in `shared` may stand in the other direction too, as a table of this name alone: then it is one thing.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// From the client to the server.
    pub uplink: Vec<Value>,
    /// From the server to the client.
    pub downlink: Vec<Value>,
}

/// An interface of the client and the link behind it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Path {
    /// Its name.
    pub name: String,
    /// Name of its link.
    pub link: String,
    /// IPv4 address.
    pub address: Option<IpAddr>,
    /// IPv6 address.
    pub address6: Option<IpAddr>,
    /// Most bytes of an IP packet.
    pub mtu_bytes: u32,
    /// Its subflows are backups.
    pub backup: bool,
    /// Bytes that each of its addresses may carry, for path managers that count them.
    #[serde(default)]
    pub budget_bytes: Option<u64>,
    /// What a megabyte over it costs, for path managers that pay.
    #[serde(default)]
    pub cost_per_mb: f64,
    /// Whether the interface is there from the start.
    pub attached: bool,
}

/// The server.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// Its addresses, all on one interface; the first of a path's family is connected to.
    pub addresses: Vec<IpAddr>,
    /// Where it listens.
    pub port: u16,
    /// Whether it announces the further addresses.
    pub signal: bool,
}

/// Settings of the endpoints.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transport {
    /// The client's; cross traffic uses its settings of TCP too.
    pub client: Config,
    /// The server's.
    pub server: Config,
}

/// Something that happens.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "verb", rename_all = "lowercase", deny_unknown_fields)]
pub enum Event {
    /// Packets vanish, nobody is told.
    Blackout {
        /// When.
        at_ns: i64,
        /// Where.
        path: String,
    },
    /// Packets wait.
    Hold {
        /// When.
        at_ns: i64,
        /// Where.
        path: String,
    },
    /// As before; what waited leaves.
    Restore {
        /// When.
        at_ns: i64,
        /// Where.
        path: String,
    },
    /// The interface goes, the host is told.
    Detach {
        /// When.
        at_ns: i64,
        /// Where.
        path: String,
    },
    /// The interface comes.
    Attach {
        /// When it begins to.
        at_ns: i64,
        /// Where.
        path: String,
        /// How long that takes.
        takes_ns: i64,
    },
    /// The public address changes.
    Rebind {
        /// When.
        at_ns: i64,
        /// Where.
        path: String,
        /// To this.
        address: IpAddr,
    },
    /// The path's link is another.
    Profile {
        /// When.
        at_ns: i64,
        /// Where.
        path: String,
        /// What it is from then on.
        link: Link,
    },
}

/// Flows between hosts of their own over a link.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum CrossTraffic {
    /// Plain TCP that sends as much as it can; given up at the stop.
    Tcp {
        /// Its name.
        name: String,
        /// The link.
        link: String,
        /// Which way.
        direction: Direction,
        /// How many flows.
        flows: u32,
        /// When it starts.
        start_ns: i64,
        /// When it stops.
        stop_ns: Option<i64>,
        /// Name of the controller.
        congestion_control: String,
    },
    /// Datagrams at even times.
    Udp {
        /// Its name.
        name: String,
        /// The link.
        link: String,
        /// Which way.
        direction: Direction,
        /// When it starts.
        start_ns: i64,
        /// When it stops.
        stop_ns: Option<i64>,
        /// Rate of the IP packets' bits.
        rate_bits_per_second: u64,
        /// Bytes of each IP packet.
        packet_bytes: u32,
    },
}

fn one() -> u32 {
    1
}

impl Scenario {
    /// Reads it, and checks what can be said of it as a whole. A baseline comes out as the scenario without what its
    /// path does not meet.
    ///
    /// # Errors
    /// [`Error`] says in one line what is wrong with it.
    pub fn from_json(json: &str) -> Result<Scenario, Error> {
        let mut scenario: Scenario = serde_json::from_str(json)?;
        reduce(&mut scenario)?;
        check(&scenario)?;
        Ok(scenario)
    }

    /// When it starts.
    pub fn start(&self) -> Time {
        Time::from_nanos(self.epoch_ns)
    }
}

impl Path {
    /// Its addresses.
    pub fn addresses(&self) -> Vec<IpAddr> {
        self.address.into_iter().chain(self.address6).collect()
    }
}

impl Event {
    /// When and where.
    pub fn place(&self) -> (i64, &str) {
        match self {
            Event::Blackout { at_ns, path }
            | Event::Hold { at_ns, path }
            | Event::Restore { at_ns, path }
            | Event::Detach { at_ns, path }
            | Event::Attach { at_ns, path, .. }
            | Event::Rebind { at_ns, path, .. }
            | Event::Profile { at_ns, path, .. } => (*at_ns, path),
        }
    }
}

impl CrossTraffic {
    /// Addresses of the neighbour and the peer of cross traffic number `number`: of the networks for benchmarks
    /// (RFC 2544), which no path has.
    pub fn addresses(number: usize) -> [IpAddr; 2] {
        let [_, _, high, low] = (number as u32 + 1).to_be_bytes();
        [18, 19].map(|network| Ipv4Addr::new(198, network, high, low).into())
    }

    /// Its name.
    pub fn name(&self) -> &str {
        let (CrossTraffic::Tcp { name, .. } | CrossTraffic::Udp { name, .. }) = self;
        name
    }

    /// The link that it is on.
    pub fn link(&self) -> &str {
        let (CrossTraffic::Tcp { link, .. } | CrossTraffic::Udp { link, .. }) = self;
        link
    }

    /// Which way.
    pub fn direction(&self) -> Direction {
        let (CrossTraffic::Tcp { direction, .. } | CrossTraffic::Udp { direction, .. }) = self;
        *direction
    }

    /// How many flows it has.
    pub fn flows(&self) -> u32 {
        match self {
            CrossTraffic::Tcp { flows, .. } => *flows,
            CrossTraffic::Udp { .. } => 1,
        }
    }

    /// When it is to start and stop.
    pub fn times(&self) -> (i64, Option<i64>) {
        let (CrossTraffic::Tcp { start_ns, stop_ns, .. } | CrossTraffic::Udp { start_ns, stop_ns, .. }) = self;
        (*start_ns, *stop_ns)
    }
}

impl Transfer {
    /// Which way.
    pub fn direction(&self) -> Direction {
        let (Transfer::Bulk { direction, .. }
        | Transfer::RequestResponse { direction, .. }
        | Transfer::ConstantBitRate { direction, .. }) = self;
        *direction
    }

    /// How many connections.
    pub fn connections(&self) -> u32 {
        match self {
            Transfer::Bulk { connections, .. } => *connections,
            Transfer::RequestResponse { .. } | Transfer::ConstantBitRate { .. } => 1,
        }
    }

    /// Whether both ends have something to say.
    pub fn is_mutual(&self) -> bool {
        matches!(self, Transfer::RequestResponse { .. })
    }
}
