//! The paths of a connection: kept open at the client, and what is known of them.

use crate::job::{Job, Local};
use noq::{Connection, FourTuple, Path, PathEvent, PathId, PathStatus};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio_stream::StreamExt;

/// How often it is looked whether a path's address is there.
const LOOK: Duration = Duration::from_millis(100);

/// Longer than any run.
const NEVER: Duration = Duration::from_secs(1 << 28);

/// All paths of a connection, also those that are gone.
pub struct Paths {
    connection: Connection,
    /// Of the endpoint's socket.
    port: u16,
    host: &'static str,
    congestion_control: &'static str,
    known: Vec<Known>,
    samples: Option<BufWriter<File>>,
}

struct Known {
    path: Path,
    /// Its addresses, as last known.
    ends: FourTuple,
    closed: bool,
}

impl Paths {
    pub fn new(connection: Connection, port: u16, job: &Job) -> Result<Paths, String> {
        let samples = match &job.samples {
            Some(file) => {
                Some(BufWriter::new(File::create(file).map_err(|error| format!("{}: {error}", file.display()))?))
            }
            None => None,
        };
        let host = if job.is_client() { "client" } else { "server" };
        let congestion_control = job.congestion_control.name();
        let mut paths = Paths { connection, port, host, congestion_control, known: Vec::new(), samples };
        paths.add(PathId::ZERO);
        Ok(paths)
    }

    /// Keeps the client's paths open, notes those of the peer, and takes samples, as long as nobody drops it.
    pub async fn keep(&mut self, job: &Job) -> ! {
        let mut events = self.connection.path_events();
        let mut look = tokio::time::interval(LOOK);
        let mut sample = tokio::time::interval(job.period().unwrap_or(NEVER));
        loop {
            tokio::select! {
                Some(event) = events.next() => match event {
                    Ok(PathEvent::Established { id, .. }) => self.add(id),
                    Ok(PathEvent::Abandoned { id, .. }) => self.close(id),
                    // The client says it for both directions.
                    Ok(PathEvent::RemoteStatus { id, status, .. }) => {
                        if let Some(path) = self.connection.path(id) {
                            let _ = path.set_status(status);
                        }
                    }
                    _ => {}
                },
                _ = look.tick() => self.open(job),
                _ = sample.tick() => self.sample(),
            }
        }
    }

    /// Opens a path from each address that is there and has none, and closes those whose address is gone.
    fn open(&mut self, job: &Job) {
        self.refresh();
        let unknown = self.known.iter().any(|one| !one.closed && one.ends.local_ip().is_none());
        if job.paths.len() < 2 || unknown {
            return;
        }
        for local in &job.paths {
            let own = self.known.iter().find(|one| !one.closed && one.ends.local_ip() == Some(local.address));
            match (is_there(local.address), own) {
                (true, None) => {
                    let ends = FourTuple::new(job.server, Some(local.address));
                    let opening = self.connection.open_path_ensure(ends, status(local));
                    if let Some(id) = opening.path_id() {
                        self.add(id);
                    }
                }
                (true, Some(one)) if one.path.status() != Ok(status(local)) => {
                    let _ = one.path.set_status(status(local));
                }
                // The last one stays: without any the connection would end at once.
                (false, Some(one)) => {
                    let _ = one.path.close();
                }
                _ => {}
            }
        }
    }

    fn add(&mut self, id: PathId) {
        if self.known.iter().any(|one| one.path.id() == id) {
            return;
        }
        if let Some(path) = self.connection.path(id)
            && let Ok(ends) = path.network_path()
        {
            self.known.push(Known { path, ends, closed: false });
        }
    }

    fn close(&mut self, id: PathId) {
        for one in self.known.iter_mut().filter(|one| one.path.id() == id) {
            one.closed = true;
        }
    }

    /// The client learns its address of the first path by what comes; a NAT may change the server's view.
    fn refresh(&mut self) {
        for one in &mut self.known {
            if let Ok(ends) = one.path.network_path() {
                one.ends = ends;
            }
        }
    }

    fn sample(&mut self) {
        let at_ns = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as u64;
        let rows: Vec<Value> = self.known.iter().filter(|one| !one.closed).map(|one| self.row(one, at_ns)).collect();
        let Some(file) = &mut self.samples else { return };
        for row in rows {
            // Who reads them says what is missing.
            let _ = writeln!(file, "{row}");
        }
    }

    /// A row of `state`.
    fn row(&self, one: &Known, at_ns: u64) -> Value {
        let stats = one.path.stats();
        json!({
            "host": self.host,
            "token": null,
            "at_ns": at_ns,
            "local": self.local(one),
            "remote": address(one.ends.remote()),
            "cwnd_packets": stats.cwnd / u64::from(stats.current_mtu.max(1)),
            "srtt_ms": stats.rtt.as_secs_f64() * 1e3,
            "backup": one.path.status() == Ok(PathStatus::Backup),
            "congestion_control": self.congestion_control,
            "sent_bytes": stats.udp_tx.bytes,
            "received_bytes": stats.udp_rx.bytes,
        })
    }

    /// What was sent and received over each.
    pub fn described(&mut self) -> Vec<Value> {
        if let Some(file) = &mut self.samples {
            let _ = file.flush();
        }
        self.known
            .iter()
            .map(|one| {
                let stats = one.path.stats();
                json!({
                    "path": one.path.id().to_string().parse::<u32>().unwrap_or_default(),
                    "local": self.local(one),
                    "remote": address(one.ends.remote()),
                    "sent_datagrams": stats.udp_tx.datagrams,
                    "sent_bytes": stats.udp_tx.bytes,
                    "received_datagrams": stats.udp_rx.datagrams,
                    "received_bytes": stats.udp_rx.bytes,
                    "lost_packets": stats.lost_packets,
                    "rtt_ms": stats.rtt.as_secs_f64() * 1e3,
                })
            })
            .collect()
    }

    fn local(&self, one: &Known) -> Value {
        json!([one.ends.local_ip().map(|ip| ip.to_string()), self.port])
    }
}

fn address(address: SocketAddr) -> Value {
    json!([address.ip().to_string(), address.port()])
}

fn status(local: &Local) -> PathStatus {
    if local.backup { PathStatus::Backup } else { PathStatus::Available }
}

/// Whether this host has the address now.
fn is_there(address: IpAddr) -> bool {
    UdpSocket::bind((address, 0)).is_ok()
}
