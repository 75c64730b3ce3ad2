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
    /// Converters at the ends of the paths.
    #[serde(default)]
    pub converters: Option<Converters>,
    /// Settings of the endpoints.
    pub transport: Transport,
    /// What happens meanwhile.
    pub timeline: Vec<Event>,
    /// Other traffic on the links.
    pub cross_traffic: Vec<CrossTraffic>,
    /// Virtual time 0 as Unix time.
    pub epoch_ns: i64,
    /// Settings of the run.
    pub settings: Settings,
}

tables! {
    /// Settings of the run.
    pub struct Settings {
        /// When to give up. If left out, after 1 h, or a minute after a transfer that has a duration.
        stop_ns: Option<i64> = None; above 0,
        /// Sampling period of `state` and `queues`; 0: no samples.
        sample_ns: i64 = 100_000_000,
        /// Maximum processing delay of a simulated host. The delay of each packet is drawn at random, as interrupt
        /// moderation of network cards causes. With 0, flows of cross traffic start exactly at their time rather than
        /// up to 1 ms later, and flows that share a full queue may stay synchronised for ever.
        processing_ns: i64 = 100_000; most 1_000_000_000,
        /// How many times the same transfer came before. The run begins with the slow-start thresholds that they left in the
        /// cache, one per destination, where there is one (`tcp.ssthresh_cache`). They go over the links that the run drew, and
        /// what varies within a run is drawn anew for each. Of them nothing is measured. Simulation only.
        earlier_transfers: Option<u32> = None; most 20,
    }
}

/// Hosts at the ends of the paths that make MPTCP of TCP, and TCP of MPTCP.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Converters {
    /// Where the client of the transfer is, behind a converter.
    pub client: Option<Lan>,
    /// Where its server is.
    pub server: Option<Lan>,
    /// Where the converter at the server's end is asked for connections (RFC 8803); none: both are transparent.
    pub port: Option<u16>,
    /// Whether requests go in the SYN.
    pub fast_open: bool,
}

/// A link that costs nothing between a converter and a host behind it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lan {
    /// Addresses of the converter.
    pub gateway: Vec<IpAddr>,
    /// Of the host.
    pub host: Vec<IpAddr>,
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
        /// Sends as fast as the network allows.
        Bulk = "bulk" {
            /// `"download"` (server to client) or `"upload"`.
            direction: Direction = Direction::Down,
            /// Bytes to transfer. Give either this or `duration`.
            size_bytes: Option<u64> = None; above 0,
            /// How long the application writes data, as fast as the send buffer takes it. Give either this or `size`.
            duration_ns: Option<i64> = None; above 0,
            /// Over how many connections at once, each as much; 1 if there is no number.
            connections: Option<NonZeroU32> = None,
        }
        /// The client sends a request, the server answers, the client pauses and sends the next one.
        RequestResponse = "request-response" {
            /// `"download"` (server to client) or `"upload"`.
            direction: Direction = Direction::Down,
            /// Bytes of each request.
            request_bytes: u64; above 0,
            /// Bytes of each response.
            response_bytes: u64; above 0,
            /// Number of requests, one after the other.
            requests: u64; least 1,
            /// Pause between the end of a response and the next request.
            think_ns: i64 = 0,
            /// A response that takes longer than this counts as late.
            deadline_ns: Option<i64> = None; above 0,
        }
        /// Messages of one size at equal intervals.
        ConstantBitRate = "constant-bit-rate" {
            /// `"download"` (server to client) or `"upload"`.
            direction: Direction = Direction::Down,
            /// Rate at which message bits are produced.
            rate_bits_per_second: u64; above 0,
            /// Bytes of each message.
            message_bytes: u64 = 1000; above 0,
            /// How long messages are sent.
            duration_ns: i64; above 0,
            /// Longest useful delay of a message; one that takes longer counts as late. For a call this is the play-out
            /// delay.
            deadline_ns: Option<i64> = None; above 0,
            /// Speech codec whose frames the messages carry, for the estimated opinion score (MOS) of the call. Needs
            /// `deadline`.
            codec: Option<Codec> = None,
        }
        /// Adaptive video: the player requests one segment after the other and chooses the bitrate of each from the
        /// level of its buffer (BBA-0).
        Video = "video" {
            /// `"download"` (server to client): the client is the player.
            direction: Direction = Direction::Down,
            /// Length of the video in media time, a multiple of `segment`.
            duration_ns: i64; above 0,
            /// Length of each segment in media time.
            segment_ns: i64 = 4_000_000_000; above 0,
            /// The lowest bitrate. Each bitrate is twice the one below it.
            lowest_bitrate_bits_per_second: u64 = 500_000; above 0,
            /// Number of bitrates.
            bitrates: u32 = 5; least 1; most 10,
            /// Most media time that the player buffers.
            buffer_ns: i64 = 30_000_000_000; above 0,
            /// Media time that must be buffered before playback starts, or resumes after a stall.
            startup_ns: i64 = 4_000_000_000; above 0,
            /// Size of a request for a segment of the lowest bitrate. Requests grow in proportion to the bitrate.
            request_bytes: u64 = 100; above 0,
        }
        /// Silence, then one message: a test of whether the connection survived.
        Idle = "idle" {
            /// Who sends the message: the server (`"download"`) or the client (`"upload"`).
            direction: Direction = Direction::Down,
            /// Length of the silence, from when the connection is established.
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
        /// Largest packet in bytes.
        mtu_bytes as "mtu": u32 = 1500; least 576; most 9000,
        /// Whether its subflows are backups, used only while no other path works.
        backup: bool = false,
        /// Bytes that each of its addresses may carry, both directions together. Only the path manager `"budget"` looks
        /// at it.
        budget_bytes: Option<u64> = None; above 0,
        /// Price of a megabyte over this path, both directions together, in any currency. The path manager `"budget"`
        /// spends up to its `cost_budget`.
        cost_per_mb: Option<f64> = None; above 0; most 1_000_000_000,
        /// Whether the interface is attached from the start. If not, an `attach` event in the timeline attaches it.
        attached: bool = true,
    }
}

tables! {
    /// The server.
    pub struct Server {
        /// Its addresses, all on one interface; the first of a path's family is connected to.
        addresses: Vec<IpAddr>,
        /// Port that the server listens on.
        port: u16 = 8080; least 1; most 65_535,
        /// Whether the server announces its additional addresses (ADD_ADDR).
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
        /// Packets are lost from now on, and the hosts are not notified: the radio signal is gone.
        Blackout = "blackout" {
            /// When it happens, from the start of the run.
            at_ns: i64,
            /// The path that it happens to.
            path: String,
        }
        /// Packets are held from now on until `restore`, as when the radio technology changes.
        Hold = "hold" {
            /// When it happens, from the start of the run.
            at_ns: i64,
            /// The path that it happens to.
            path: String,
        }
        /// Ends a blackout or a hold. Packets that were held continue.
        Restore = "restore" {
            /// When it happens, from the start of the run.
            at_ns: i64,
            /// The path that it happens to.
            path: String,
        }
        /// The interface and its routes are removed, and the host is notified.
        Detach = "detach" {
            /// When it happens, from the start of the run.
            at_ns: i64,
            /// The path that it happens to.
            path: String,
        }
        /// The interface is attached, after the time that this takes.
        Attach = "attach" {
            /// When it happens, from the start of the run.
            at_ns: i64,
            /// The path that it happens to.
            path: String,
            /// How long attaching takes.
            takes_ns: i64 = 0,
        }
        /// The public address changes and the private one stays: the NAT lost its state or was replaced.
        Rebind = "rebind" {
            /// When it happens, from the start of the run.
            at_ns: i64,
            /// The path that it happens to.
            path: String,
            /// To this.
            address: IpAddr,
        }
        /// The interface reports this signal strength from now on. The link does not change; the guard may leave a path
        /// because of it.
        Signal = "signal" {
            /// When it happens, from the start of the run.
            at_ns: i64,
            /// The path that it happens to.
            path: String,
            /// Signal strength in dBm: RSSI for Wi-Fi, RSRP for LTE.
            dbm: f64,
        }
        /// The path's link is replaced from now on, for all paths that share it.
        Profile = "profile" {
            /// When it happens, from the start of the run.
            at_ns: i64,
            /// The path that it happens to.
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
            /// Name in results. If left out, `cross-1`, `cross-2`, ...
            name: String,
            /// Link that it uses: the name of a link, or of a path that describes its own.
            link: String,
            /// `"download"` (towards the client's side) or `"upload"`.
            direction: Direction = Direction::Down,
            /// When it starts.
            start_ns: i64 = 0,
            /// When it stops. If left out, at the end of the run.
            stop_ns: Option<i64> = None,
            /// Number of flows.
            flows: u32 = 1; least 1; most 1000,
            /// Congestion control. If left out, that of today's Linux; for a coupled one `reno` is used.
            congestion_control: String = Config::default().congestion_control,
        }
        /// Packets of one size at equal intervals.
        Udp = "udp" {
            /// Name in results. If left out, `cross-1`, `cross-2`, ...
            name: String,
            /// Link that it uses: the name of a link, or of a path that describes its own.
            link: String,
            /// `"download"` (towards the client's side) or `"upload"`.
            direction: Direction = Direction::Down,
            /// When it starts.
            start_ns: i64 = 0,
            /// When it stops. If left out, at the end of the run.
            stop_ns: Option<i64> = None,
            /// Rate in bits per second, headers included.
            rate_bits_per_second: u64; above 0,
            /// Size of each packet in bytes, headers included.
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
