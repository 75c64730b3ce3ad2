//! What only a simulation knows: the state of senders, queues, drops. Bounded, however long the run.

use host::{Decided, Host};
use link::Reason;
use network::Link;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;
use tables::{Diagnostic, Dropped, Queue, Signal, State, Tables};
use transport::{Snapshot, SubflowSnapshot};
use wire::{Direction, L4, Packet, Time};

/// Most samples of a table. Beyond, every other one is let go and the period is twice as long.
const MOST_SAMPLES: usize = 1 << 16;
/// Most rows of drops. Beyond, they are only counted.
const MOST_DROPS: usize = 1 << 17;

/// Ends of a subflow: the client's, the server's.
type Ends = (SocketAddr, SocketAddr);

/// Where a packet ended: its kind, its name, the element.
type DroppedAt<'a> = (&'static str, &'a Arc<str>, Option<Arc<str>>);

/// What was recorded. Rows get their numbers from the analysis of the same packets.
#[derive(Debug)]
pub struct Records {
    start: Time,
    period_ns: i64,
    next: Time,
    /// Hosts that are sampled, by index.
    hosts: Vec<usize>,
    state: Vec<(Ends, State)>,
    queues: Vec<Queue>,
    drops: Vec<Dropped>,
    /// What the client's path managers decided, with the ends of the connection's first subflow.
    signals: Vec<(Ends, Signal)>,
    /// Drops beyond [`MOST_DROPS`].
    further_drops: u64,
    /// Nobody asks for anything but converters, of each other: that is no request of an application's.
    pub(crate) is_unasked: bool,
}

impl Records {
    pub(crate) fn new(start: Time, period_ns: i64, hosts: Vec<usize>) -> Records {
        Records {
            start,
            period_ns,
            next: if period_ns > 0 { start } else { Time::MAX },
            hosts,
            state: Vec::new(),
            queues: Vec::new(),
            drops: Vec::new(),
            signals: Vec::new(),
            further_drops: 0,
            is_unasked: false,
        }
    }

    /// When the next sample is due.
    pub(crate) fn deadline(&self) -> Time {
        self.next
    }

    /// Whether this host is sampled.
    pub(crate) fn samples(&self, host: usize) -> bool {
        self.hosts.contains(&host)
    }

    /// Samples all connections of a host. `private` gives the client's own address for the one that the server sees.
    pub(crate) fn sample_host(
        &mut self,
        at: Time,
        name: &'static str,
        host: &Host,
        private: impl Fn(SocketAddr) -> SocketAddr,
    ) {
        for connection in host.connections() {
            let Some(snapshot) = host.endpoint().snapshot(connection) else { continue };
            for subflow in &snapshot.subflows {
                let ends = match name {
                    "client" => (subflow.local, subflow.remote),
                    _ => (private(subflow.remote), subflow.local),
                };
                self.state.push((ends, state(at, name, &snapshot, subflow)));
            }
        }
    }

    pub(crate) fn sample_queues(&mut self, at: Time, links: &[Link]) {
        for link in links {
            for (direction, element, state) in link.queues() {
                self.queues.push(Queue {
                    link: link.name.clone(),
                    direction,
                    element: element.clone(),
                    at_ns: at.as_nanos(),
                    at_s: 0.0,
                    queued_bytes: state.bytes,
                    queued_packets: state.packets,
                    queue_delay_ms: millis(state.delay_ns),
                    marked_packets: state.marked,
                });
            }
        }
    }

    /// A sample was taken: the next comes a period later.
    pub(crate) fn sampled(&mut self) {
        if self.state.len().max(self.queues.len()) > MOST_SAMPLES {
            self.period_ns *= 2;
            let (start, period) = (self.start.as_nanos(), self.period_ns);
            let kept = |at_ns: i64| (at_ns - start) % period == 0;
            self.state.retain(|(_, row)| kept(row.at_ns));
            self.queues.retain(|row| kept(row.at_ns));
        }
        let past = (self.next - self.start) / self.period_ns;
        self.next = self.start + (past + 1) * self.period_ns;
    }

    pub(crate) fn drop(
        &mut self,
        at: Time,
        (kind, place, element): DroppedAt,
        direction: Direction,
        packet: &Packet,
        reason: Reason,
    ) {
        if self.drops.len() >= MOST_DROPS {
            self.further_drops += 1;
            return;
        }
        let (protocol, ports) = match packet.frame.l4 {
            L4::Tcp(tcp) => (6, Some((tcp.source_port, tcp.destination_port))),
            L4::Udp { source_port, destination_port, .. } => (17, Some((source_port, destination_port))),
            L4::Icmp { .. } => (if packet.frame.ip.source.is_ipv4() { 1 } else { 58 }, None),
            L4::Other(protocol) => (protocol, None),
        };
        self.drops.push(Dropped {
            at_ns: at.as_nanos(),
            at_s: 0.0,
            kind,
            place: place.clone(),
            element,
            direction,
            reason: reason.name(),
            protocol,
            source_address: Some(packet.frame.ip.source),
            source_port: ports.map(|(source, _)| source),
            destination_address: Some(packet.frame.ip.destination),
            destination_port: ports.map(|(_, destination)| destination),
            bytes: packet.frame.wire_len(),
        });
    }

    /// Takes what path managers of a host decided, once it is over.
    pub(crate) fn decisions(&mut self, name: &'static str, decided: Vec<Decided>) {
        let signals = decided.into_iter().map(|one| {
            let row = Signal {
                host: name.into(),
                at_ns: one.at.as_nanos(),
                signal: one.decision.verdict.name().into(),
                local_address: Some(one.address),
                evidence: Some(one.decision.to_string().into()),
                ..Signal::default()
            };
            (one.ends, row)
        });
        self.signals.extend(signals);
    }

    /// How many subflows were sampled.
    pub fn subflows(&self) -> usize {
        self.state.iter().map(|(ends, _)| ends).collect::<BTreeSet<_>>().len()
    }

    /// Adds the tables `state`, `signals`, `queues` and `drops` to those of the analysis of the same packets, whose numbers and
    /// time they take.
    pub fn into_tables(self, tables: &mut Tables) {
        if self.is_unasked {
            tables.responses.clear();
            for row in &mut tables.transfers {
                row.responses = None;
                row.response_time_ms_mean = None;
                row.response_time_ms_median = None;
                row.response_time_ms_p95 = None;
                row.response_time_ms_max = None;
            }
        }
        let origin_ns = origin(tables).unwrap_or(self.start.as_nanos());
        let seconds = |at_ns: i64| (at_ns - origin_ns) as f64 / 1e9;
        let numbers: BTreeMap<Ends, (u32, u32)> = tables
            .subflows
            .iter()
            .filter_map(|row| {
                let client = SocketAddr::new(row.client_address?, row.client_port);
                let server = SocketAddr::new(row.server_address?, row.server_port);
                Some(((client, server), (row.connection, row.subflow)))
            })
            .collect();
        tables.state = self
            .state
            .into_iter()
            .filter_map(|(ends, row)| {
                let &(connection, subflow) = numbers.get(&ends)?;
                Some(State { connection, subflow, at_s: seconds(row.at_ns), ..row })
            })
            .collect();
        tables.state.sort_by_key(|row| (row.connection, row.at_ns, row.host, row.subflow));
        let connection = |ends: Ends| numbers.get(&ends).map(|&(connection, _)| connection);
        tables.signals = self
            .signals
            .into_iter()
            .map(|(ends, row)| Signal { connection: connection(ends), at_s: seconds(row.at_ns), ..row })
            .collect();
        tables.queues = self.queues.into_iter().map(|row| Queue { at_s: seconds(row.at_ns), ..row }).collect();
        tables.drops = self.drops.into_iter().map(|row| Dropped { at_s: seconds(row.at_ns), ..row }).collect();
        // Links tell of what they dropped when they are next called.
        tables.drops.sort_by_key(|row| row.at_ns);
        if self.further_drops > 0 {
            tables.diagnostics.push(Diagnostic {
                diagnostic: "drops_cut",
                count: Some(self.further_drops),
                message: "more packets were dropped than the table `drops` holds; it has the first of them".into(),
                ..Diagnostic::default()
            });
        }
    }
}

/// Where the analysis counts seconds from.
fn origin(tables: &Tables) -> Option<i64> {
    let first = tables.connections.first()?;
    Some(first.start_ns - (first.start_s * 1e9).round() as i64)
}

fn state(at: Time, host: &'static str, connection: &Snapshot, subflow: &SubflowSnapshot) -> State {
    let path = subflow.path.as_ref();
    let sampled = path.filter(|path| path.srtt_ns.is_some());
    State {
        connection: 0,
        subflow: 0,
        host,
        at_ns: at.as_nanos(),
        at_s: 0.0,
        cwnd_packets: path.map(|path| path.cwnd_packets),
        ssthresh_packets: path.map(|path| path.ssthresh_packets).filter(|ssthresh| ssthresh.is_finite()),
        srtt_ms: sampled.and_then(|path| path.srtt_ns).map(millis),
        rttvar_ms: sampled.map(|path| millis(path.rttvar_ns)),
        timeout_ms: millis(subflow.timeout_ns),
        backoffs: subflow.backoffs,
        pacing_mbps: sampled.map(|path| path.pacing_bytes_per_second as f64 * 8e-6),
        in_flight_packets: path.map(|path| path.in_flight_packets),
        queued_bytes: path.map(|path| path.queued_bytes),
        scheduled_bytes: Some(subflow.scheduled_bytes),
        retransmitted_packets: subflow.retransmitted_packets,
        backup: path.map(|path| path.backup),
        stale: path.map(|path| path.stale),
        unacknowledged_bytes: Some(connection.unacknowledged_bytes),
        peer_window_bytes: Some(connection.peer_window_bytes),
        ..State::default()
    }
}

fn millis(nanos: i64) -> f64 {
    nanos as f64 / 1e6
}
