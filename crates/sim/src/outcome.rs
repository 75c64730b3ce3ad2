use host::{Host, Interface, Progress};
use transport::path_manager::{Budgeted, Closed};
use wire::{Direction, Time};

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Whether everything was transferred, and each end knows.
    pub finished: bool,
    /// How it ended, in words.
    pub reason: String,
    /// Virtual time that passed.
    pub virtual_ns: i64,
    /// Packets that hosts received, cross traffic's too.
    pub packets: u64,
    /// Bytes that the server's applications read.
    pub bytes_up: u64,
    /// Bytes that the client's applications read.
    pub bytes_down: u64,
    /// What cross traffic got beside it, in the order of the scenario.
    pub cross_traffic: Vec<Crossed>,
    /// Budgets that the client's paths have used up, in this order.
    pub spent: Vec<Spent>,
}

/// A budget that was used up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spent {
    /// The path that was not to carry more from then on.
    pub path: String,
    /// Virtual time that had passed.
    pub at_ns: i64,
    /// What it lacked.
    pub budget: Budgeted,
}

/// What cross traffic got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crossed {
    /// Its name.
    pub name: String,
    /// Bytes that its receiver got: of streams what was read, of datagrams their payload.
    pub bytes: u64,
    /// How long it ran.
    pub active_ns: i64,
}

/// What the client has used up, by the path of each address.
pub(crate) fn spent(client: &Host, start: Time) -> Vec<Spent> {
    let path = |address| client.interfaces().iter().find(|interface| interface.addresses.contains(address));
    let spent = client.spent().iter().filter_map(|one| Some((one, path(&one.address)?)));
    let named = |(one, path): (&host::Spent, &Interface)| Spent {
        path: path.name.clone(),
        at_ns: one.at - start,
        budget: one.budget,
    };
    let mut spent: Vec<Spent> = spent.map(named).collect();
    // Addresses of one path lack money together.
    spent.dedup();
    spent
}

/// Bytes that a host's applications have read.
pub(crate) fn read(host: &Host) -> u64 {
    host.progress().map(|(_, progress)| progress.read).sum()
}

/// What each end waits for, for a run that did not finish.
pub(crate) fn waiting(client: &Host, server: &Host, direction: Direction) -> String {
    let ends = [("client", client), ("server", server)];
    let connections: Vec<String> = ends
        .iter()
        .flat_map(|(name, host)| {
            host.progress().filter_map(move |(_, progress)| {
                let sends = (*name == "client") == (direction == Direction::Up);
                lacks(progress, sends).map(|lacks| format!("the {name} {lacks}"))
            })
        })
        .collect();
    match connections.as_slice() {
        [] if client.progress().len() == 0 => "no path was ever attached".into(),
        [] => "nobody waits".into(),
        [first, others @ ..] if others.len() > 3 => format!("{first}, and {} more wait", others.len()),
        all => all.join("; "),
    }
}

fn lacks(progress: &Progress, sends: bool) -> Option<String> {
    let Progress { connected, written, read, finished, delivered, peer_finished, closed } = *progress;
    match closed {
        Some(transport::Outcome::Complete) => None,
        Some(outcome) => Some(format!("gave up after {written} bytes written and {read} read: {}", described(outcome))),
        None if !connected => Some("waits for the connection to open".into()),
        None if sends && !finished => Some(format!("had {written} bytes taken and more to write")),
        None if finished && !delivered => Some(format!("waits for its {written} bytes to be acknowledged")),
        None if !peer_finished => Some(format!("has read {read} bytes and waits for the end of data")),
        None => Some("waits for the connection to close".into()),
    }
}

fn described(outcome: transport::Outcome) -> &'static str {
    match outcome {
        transport::Outcome::Complete => "all was acknowledged",
        transport::Outcome::Aborted => "it aborted the connection itself",
        transport::Outcome::Failed(closed) => match closed {
            Closed::Finished => "its last subflow was closed",
            Closed::Reset => "the peer reset its last subflow",
            Closed::TimedOut => "nobody answered any more",
            Closed::AddressLost => "the address of its last subflow went",
            Closed::Removed => "its last subflow was removed",
            Closed::Refused => "the peer's answer was not acceptable",
            Closed::Protocol => "the protocol was broken",
        },
    }
}
