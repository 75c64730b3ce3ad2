//! Which subflows a connection has: the vocabulary of Linux's MPTCP netlink. One path manager is one file and one line
//! in `policies!`.

use crate::policy::policies;
use parameters::{Table, settings};
use std::net::{IpAddr, SocketAddr};
use wire::Time;

mod chosen;

policies! {
    dyn PathManager of Settings, "path manager":
    "full-mesh" = full_mesh::FullMesh,
    "linux" = linux::Linux,
    "single" = single::Single,
    "ndiffports" = ndiffports::Ndiffports with Parameters,
    "handover" = handover::Handover with Parameters,
    "offload" = offload::Offload with Parameters,
    "budget" = budget::Budget with Parameters,
    "guard" = guard::Guard with Parameters,
    "on-demand" = on_demand::OnDemand with Parameters,
    "maps" = maps::Maps with Parameters,
}

settings! {
    /// Settings of the path manager. Its limits are those of `ip mptcp limits`: pm_nl_init_net in net/mptcp has two further subflows, and
    /// no announced address.
    pub struct Settings {
        /// Path manager: which subflows are opened.
        name as "path_manager": String = "linux".into(),
        /// Parameters of that path manager.
        parameters as "path_manager_parameters": Table = Table::new(),
        /// What to do with each local address (`ip mptcp endpoint`). Full mesh uses all addresses of the host, and
        /// only whether they are backups matters to it.
        endpoints: Vec<LocalEndpoint> = Vec::new(),
        /// Most subflows in addition to the first. Linux's default of 2 is too small for more than three paths, or for
        /// several paths to a server with two addresses.
        max_subflows: u32 = 2; most 255,
        /// Most announced addresses that are joined.
        max_add_addr_accepted: u32 = 0; most 255,
    }
}

/// A local address and how it is used, as in `ip mptcp endpoint`.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocalEndpoint {
    /// The address.
    pub address: IpAddr,
    /// Open a subflow from it when the connection is established.
    pub subflow: bool,
    /// Announce it with ADD_ADDR.
    pub signal: bool,
    /// Subflows on it are backups.
    pub backup: bool,
    /// Join every announced address from it.
    pub fullmesh: bool,
    /// Bytes that it may carry, both ways together; none: as many as there are. Only the path manager `budget` counts.
    #[serde(default)]
    pub budget_bytes: Option<u64>,
    /// What a megabyte over it costs, both ways together. Only the path manager `budget` pays.
    #[serde(default)]
    pub cost_per_mb: f64,
}

/// What happened to a connection. Subflows are known by their index in the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathEvent {
    /// The connection may have more subflows from now on.
    Established {
        /// Whether this end opened the connection.
        client: bool,
        /// Local end of the initial subflow.
        local: SocketAddr,
        /// Its remote end.
        remote: SocketAddr,
    },
    /// The peer announced an address (ADD_ADDR).
    Announced {
        /// Its identifier.
        id: u8,
        /// Address and port to join.
        remote: SocketAddr,
    },
    /// The peer withdrew an address (REMOVE_ADDR). The connection closes the subflows to it (RFC 8684 §3.4.2).
    Withdrawn {
        /// Its identifier.
        id: u8,
    },
    /// A subflow was established.
    SubflowEstablished {
        /// Its index.
        subflow: usize,
        /// Local end.
        local: SocketAddr,
        /// Remote end.
        remote: SocketAddr,
    },
    /// A subflow ended or could not be opened. Each [`PathCommand::Join`] comes to this in the end.
    SubflowClosed {
        /// Its index.
        subflow: usize,
        /// Local end.
        local: SocketAddr,
        /// Remote end.
        remote: SocketAddr,
        /// Why.
        reason: Closed,
    },
    /// The host has an address: reported once for each at the start, then when an interface comes.
    AddressUp {
        /// The address.
        address: IpAddr,
    },
    /// The host lost an address with its interface.
    AddressDown {
        /// The address.
        address: IpAddr,
    },
    /// The radio of an address hears this now.
    Heard {
        /// The address.
        address: IpAddr,
        /// Signal strength in dBm: RSSI for Wi-Fi, RSRP for LTE.
        dbm: i32,
    },
    /// A subflow's retransmission timer ran out.
    SubflowTimeout {
        /// Its index.
        subflow: usize,
        /// Time-outs in a row without an answer.
        timeouts: u32,
    },
    /// The peer wants a subflow as a backup or not any more (MP_PRIO).
    SubflowPriority {
        /// Its index.
        subflow: usize,
        /// Whether it is one.
        backup: bool,
    },
    /// What an established subflow has carried so far: reported of each before [`PathEvent::Timer`].
    Carried {
        /// Its index.
        subflow: usize,
        /// Bytes that the peer acknowledged.
        sent_bytes: u64,
        /// Bytes that came, in order.
        received_bytes: u64,
    },
    /// What an established subflow waits for: reported of each after [`PathEvent::Carried`].
    Waits {
        /// Its index.
        subflow: usize,
        /// Whether something was sent and not acknowledged.
        outstanding: bool,
        /// Smoothed round-trip time; none before the first sample.
        srtt_ns: Option<i64>,
        /// Its deviation.
        rttvar_ns: i64,
        /// Bytes that wait for others before them.
        out_of_order_bytes: u64,
    },
    /// A probe was answered.
    Answered {
        /// From where it was sent.
        local: IpAddr,
        /// Which one.
        number: u16,
    },
    /// A time that the path manager asked for has come.
    Timer,
}

/// Why a subflow ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Closed {
    /// Both sides finished.
    Finished,
    /// The peer reset it.
    Reset,
    /// Nobody answered.
    TimedOut,
    /// Its local address went.
    AddressLost,
    /// The path manager or the peer's REMOVE_ADDR closed it.
    Removed,
    /// The answer to MP_JOIN was not acceptable.
    Refused,
    /// It broke the protocol: unmapped data, a bad checksum.
    Protocol,
}

/// What there is only so much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budgeted {
    /// Bytes over one address.
    Data,
    /// Money for the connection.
    Cost,
}

/// What a path manager orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathCommand {
    /// Open a subflow.
    Join {
        /// From this address.
        local: IpAddr,
        /// To this address and port.
        remote: SocketAddr,
        /// As a backup.
        backup: bool,
    },
    /// Announce a local address.
    Announce {
        /// The address.
        address: IpAddr,
        /// With this port; none: the connection's.
        port: Option<u16>,
    },
    /// Withdraw it.
    Withdraw {
        /// The address.
        address: IpAddr,
    },
    /// Close a subflow.
    Close {
        /// Its index.
        subflow: usize,
    },
    /// Ask the peer to use a subflow as backup or not any more (MP_PRIO).
    SetBackup {
        /// Its index.
        subflow: usize,
        /// Whether it is one.
        backup: bool,
    },
    /// Tell the host that an address has used up what it may: nothing more comes of it.
    Spent {
        /// The address.
        address: IpAddr,
        /// What it lacks.
        budget: Budgeted,
    },
    /// Ask the peer's host for an answer, [`PathEvent::Answered`].
    Probe {
        /// From this address.
        local: IpAddr,
        /// To this one.
        remote: IpAddr,
        /// What the answer is known by.
        number: u16,
    },
    /// Tell the host what was found of the path of an address.
    Decided {
        /// The address.
        address: IpAddr,
        /// What was found, on what evidence.
        decision: ::guard::Decision,
    },
    /// Wake with [`PathEvent::Timer`] after this many nanoseconds, and no more at the time asked for before.
    Wake {
        /// From now.
        after_ns: i64,
    },
}

/// A path manager of one connection.
pub trait PathManager: Send {
    /// Something happened at `now`; orders go to `commands`.
    fn on(&mut self, now: Time, event: &PathEvent, commands: &mut Vec<PathCommand>);

    /// Whether subflows are opened and taken even where one end has said that it writes nothing more.
    fn joins_to_the_end(&self) -> bool {
        true
    }
}
