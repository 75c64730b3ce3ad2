//! What a scenario says once everything is resolved: base units, addresses chosen, nothing left out. Read from JSON.

use parameters::{Settable, Setting, choices, tables};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::num::NonZeroU32;
use transport::Config;
use wire::Direction;

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
    /// Virtual time 0 as Unix time.
    pub epoch_ns: i64,
    /// How it is run.
    pub settings: Settings,
}

tables! {
    /// How it is run.
    pub struct Settings {
        /// When to give up: after 1 h if left out, or a minute after a transfer with a duration.
        stop_ns: Option<i64> = None; above 0,
        /// Period of the samples of `state` and `queues`; 0: none.
        sample_ns: i64 = 100_000_000,
        /// Longest that a simulated host takes to look at what came: each time is drawn, as network
        /// cards hold interrupts back. Without it (0) flows of cross traffic also start on the dot, not
        /// up to 1 ms late, and flows that share a full queue may stay in step for ever.
        processing_ns: i64 = 100_000; most 1_000_000_000,
    }
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

choices! {
    /// How speech is coded.
    pub enum Codec {
        /// 64 kbit/s, with concealment of losses.
        G711 = "g711",
        /// G.729A, 8 kbit/s.
        G729a = "g729a",
        /// G.723.1, 6.3 kbit/s.
        G7231 = "g7231",
        /// GSM enhanced full rate, 12.2 kbit/s.
        GsmEfr = "gsm-efr",
    }
}

tables! {
    /// What is transferred.
    pub enum Transfer by "application" {
        /// As much as the network takes.
        Bulk = "bulk" {
            /// `"download"` (server to client) or `"upload"`.
            direction: Direction = Direction::Down,
            /// How much is transferred; either this or `duration`.
            size_bytes: Option<u64> = None; above 0,
            /// How long data is written, what `send_buffer` takes at once; either this or `size`.
            duration_ns: Option<i64> = None; above 0,
            /// Over how many connections at once, each as much; 1 if there is no number.
            connections: Option<NonZeroU32> = None,
        }
        /// The client asks, the server answers, the client thinks.
        RequestResponse = "request-response" {
            /// `"download"` (server to client) or `"upload"`.
            direction: Direction = Direction::Down,
            /// Bytes of each request.
            request_bytes: u64; above 0,
            /// Bytes of each response.
            response_bytes: u64; above 0,
            /// How many requests, one after the other.
            requests: u64; least 1,
            /// From the end of a response to the next request.
            think_ns: i64 = 0,
            /// An answer that takes longer is late.
            deadline_ns: Option<i64> = None; above 0,
        }
        /// Messages of one size at equal distances.
        ConstantBitRate = "constant-bit-rate" {
            /// `"download"` (server to client) or `"upload"`.
            direction: Direction = Direction::Down,
            /// Bits of messages per second.
            rate_bits_per_second: u64; above 0,
            /// Bytes of each message.
            message_bytes: u64 = 1000; above 0,
            /// How long messages are sent.
            duration_ns: i64; above 0,
            /// A message that comes later after its time is of no use: a call plays what it has by then.
            deadline_ns: Option<i64> = None; above 0,
            /// Speech whose frames the messages are, for the opinion of the call; needs `deadline`.
            codec: Option<Codec> = None,
        }
        /// Adaptive video: a player asks for segments one after the other, each of the bitrate that its buffer allows (BBA-0).
        Video = "video" {
            /// `"download"` (server to client); a video is played at the client.
            direction: Direction = Direction::Down,
            /// Media time of the video, a multiple of `segment`.
            duration_ns: i64; above 0,
            /// Media time of each segment.
            segment_ns: i64 = 4_000_000_000; above 0,
            /// The lowest bitrate; each further one is twice the one below.
            lowest_bitrate_bits_per_second: u64 = 500_000; above 0,
            /// How many bitrates there are.
            bitrates: u32 = 5; least 1; most 10,
            /// The most media time that the player holds ahead.
            buffer_ns: i64 = 30_000_000_000; above 0,
            /// Media time in the buffer with which it begins to play, and goes on after a stall.
            startup_ns: i64 = 4_000_000_000; above 0,
            /// Bytes of a request for a segment of the lowest bitrate; one of twice the bitrate takes twice as many.
            request_bytes: u64 = 100; above 0,
        }
        /// Nothing is sent for a while, then one message: is the connection still there?
        Idle = "idle" {
            /// Who sends the message: `"download"` (the server) or `"upload"`.
            direction: Direction = Direction::Down,
            /// How long nothing is sent, from when the connection was established.
            duration_ns: i64; above 0,
            /// Bytes of the message.
            message_bytes: u64 = 1000; above 0,
        }
    }
}

/// A link: elements in the order in which packets meet them. What they may be, [`link::elements`] says. An element with
/// a name in `shared` may stand in the other direction too, as a table of this name alone: then it is one thing.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// From the client to the server.
    pub uplink: Vec<Value>,
    /// From the server to the client.
    pub downlink: Vec<Value>,
}

/// No scenario sets it as it stands here: it names elements, or has them in full.
impl Settable for Link {
    fn settings(_: Setting) -> Vec<Setting> {
        Vec::new()
    }
}

tables! {
    /// An interface of the client with one uplink and one downlink.
    pub struct Path {
        /// Its name.
        name: String,
        /// Name of its link.
        link: String,
        /// IPv4 address.
        address: Option<IpAddr>,
        /// IPv6 address.
        address6: Option<IpAddr>,
        /// Bytes of the largest packet.
        mtu_bytes as "mtu": u32 = 1500; least 576; most 9000,
        /// Whether its subflows are used only when no other path is left.
        backup: bool = false,
        /// Bytes that each of its addresses may carry, both ways together, where `path_manager` is
        /// `"budget"`.
        budget_bytes: Option<u64> = None; above 0,
        /// What a megabyte over it costs, both ways together, in any money; the path manager
        /// `"budget"` pays, up to its `cost_budget`.
        cost_per_mb: Option<f64> = None; above 0; most 1_000_000_000,
        /// Whether the interface is there from the start, or `attach` in the timeline brings it.
        attached: bool = true,
    }
}

tables! {
    /// The server.
    pub struct Server {
        /// Its addresses, all on one interface; the first of a path's family is connected to.
        addresses: Vec<IpAddr>,
        /// Where it listens.
        port: u16 = 8080; least 1; most 65_535,
        /// Whether it announces its further addresses (ADD_ADDR).
        signal as "announce": bool = true,
    }
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

tables! {
    /// Something that happens to a path.
    pub enum Event by "verb" {
        /// From now on packets vanish and nobody is told: the radio is gone.
        Blackout = "blackout" {
            /// When, from the start of the run.
            at_ns: i64,
            /// To which path.
            path: String,
        }
        /// From now on packets wait until `restore`: a change of the radio network.
        Hold = "hold" {
            /// When, from the start of the run.
            at_ns: i64,
            /// To which path.
            path: String,
        }
        /// The blackout or hold is over; what waited goes on.
        Restore = "restore" {
            /// When, from the start of the run.
            at_ns: i64,
            /// To which path.
            path: String,
        }
        /// The interface and its routes go, and the host is told.
        Detach = "detach" {
            /// When, from the start of the run.
            at_ns: i64,
            /// To which path.
            path: String,
        }
        /// The interface comes, after the time that this takes.
        Attach = "attach" {
            /// When, from the start of the run.
            at_ns: i64,
            /// To which path.
            path: String,
            /// How long attaching takes.
            takes_ns: i64 = 0,
        }
        /// The public address changes, the private one stays: a NAT forgot, or another took over.
        Rebind = "rebind" {
            /// When, from the start of the run.
            at_ns: i64,
            /// To which path.
            path: String,
            /// To this.
            address: IpAddr,
        }
        /// From now on the interface's radio hears this; what the link carries stays. The guard may leave a path for it.
        Signal = "signal" {
            /// When, from the start of the run.
            at_ns: i64,
            /// To which path.
            path: String,
            /// In dBm: RSSI of Wi-Fi, RSRP of LTE.
            dbm: f64,
        }
        /// From now on the path's link is another, for all who share it.
        Profile = "profile" {
            /// When, from the start of the run.
            at_ns: i64,
            /// To which path.
            path: String,
            /// What it is from then on.
            link: Link,
        }
    }
}

tables! {
    /// Flows between hosts of their own over one of the links.
    pub enum CrossTraffic by "kind" {
        /// Plain TCP flows that send as much as they can.
        Tcp = "tcp" {
            /// What it is called in results; if left out `cross-1`, `cross-2`, ...
            name: String,
            /// Over which link: the name of a link, or of a path that describes its own.
            link: String,
            /// `"download"` (towards the client's side) or `"upload"`.
            direction: Direction = Direction::Down,
            /// When it starts.
            start_ns: i64 = 0,
            /// When it stops; if left out it goes on.
            stop_ns: Option<i64> = None,
            /// How many.
            flows: u32 = 1; least 1; most 1000,
            /// How fast each may send; if left out as today's Linux has it, a coupled one is `reno`.
            congestion_control: String = Config::default().congestion_control,
        }
        /// Packets of one size at equal distances.
        Udp = "udp" {
            /// What it is called in results; if left out `cross-1`, `cross-2`, ...
            name: String,
            /// Over which link: the name of a link, or of a path that describes its own.
            link: String,
            /// `"download"` (towards the client's side) or `"upload"`.
            direction: Direction = Direction::Down,
            /// When it starts.
            start_ns: i64 = 0,
            /// When it stops; if left out it goes on.
            stop_ns: Option<i64> = None,
            /// Bits per second, headers included.
            rate_bits_per_second: u64; above 0,
            /// Bytes of each packet, headers included.
            packet_bytes: u32 = 1000; least 64; most 9000,
        }
    }
}

impl Path {
    /// Its addresses.
    pub fn addresses(&self) -> Vec<IpAddr> {
        self.address.into_iter().chain(self.address6).collect()
    }
}

impl Event {
    /// When it happens, and to which path.
    pub fn time_and_path(&self) -> (i64, &str) {
        match self {
            Event::Blackout { at_ns, path }
            | Event::Hold { at_ns, path }
            | Event::Restore { at_ns, path }
            | Event::Detach { at_ns, path }
            | Event::Attach { at_ns, path, .. }
            | Event::Rebind { at_ns, path, .. }
            | Event::Signal { at_ns, path, .. }
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

    /// In which direction its data goes.
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
    /// In which direction its data goes.
    pub fn direction(&self) -> Direction {
        let (Transfer::Bulk { direction, .. }
        | Transfer::RequestResponse { direction, .. }
        | Transfer::ConstantBitRate { direction, .. }
        | Transfer::Video { direction, .. }
        | Transfer::Idle { direction, .. }) = self;
        *direction
    }

    /// How many connections.
    pub fn connections(&self) -> u32 {
        match self {
            Transfer::Bulk { connections, .. } => connections.map_or(1, NonZeroU32::get),
            Transfer::RequestResponse { .. } | Transfer::ConstantBitRate { .. } | Transfer::Idle { .. } => 1,
            Transfer::Video { .. } => 1,
        }
    }

    /// Whether both ends have something to say.
    pub fn is_mutual(&self) -> bool {
        matches!(self, Transfer::RequestResponse { .. } | Transfer::Video { .. })
    }
}
