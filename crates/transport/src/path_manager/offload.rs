//! Wi-Fi as far as the transfer can wait for it, cellular paths only if the rest would not make it in time (Wiffler:
//! Balasubramanian, Mahajan, Venkataramani, MobiSys 2010, §5.2: "if W < S c, send on 3G and Wi-Fi, else wait for Wi-Fi").

use super::chosen::Chosen;
use super::{PathCommand, PathEvent, PathManager, Settings};
use parameters::{Bytes, Duration, Fault, Number, fault, parameters};
use std::net::IpAddr;
use wire::Time;

pub(super) const SUMMARY: &str =
    "uses backup paths only if the others would not finish in time; Linux uses them only when the others fail";

parameters! {
    struct Parameters {
        /// Bytes to be transferred in all. If left out, backups are used only after the tolerance has passed.
        size: Option<Bytes> = None,
        /// Time allowed for the transfer. Without any path, the connection survives for `close_timeout`.
        tolerance: Duration = Duration(60_000_000_000),
        /// More than 1 uses the backups earlier, less than 1 later; from 0.01 to 100.
        conservatism: Number = Number(1.0),
    }
}

/// A connection that uses the backups goes on until the prediction is better than need be by this factor.
const MARGIN: f64 = 1.25;

/// Before the rate of the preferred paths is known, they are waited for.
const LEAST_NS: i64 = 1_000_000_000;

/// The client uses backup paths only in need.
pub struct Offload {
    size_bytes: Option<u64>,
    tolerance_ns: i64,
    conservatism: f64,
    costly: Vec<IpAddr>,
    paths: Chosen,
    begun: Option<Time>,
    /// Carried by the preferred paths, and by all.
    preferred_bytes: u64,
    bytes: u64,
    in_need: bool,
}

impl Offload {
    /// The backups among the endpoints are the costly paths; once they are used they are paths like any other.
    pub(crate) fn new(settings: &Settings, parameters: Parameters) -> Result<Offload, Fault> {
        let Parameters { size, tolerance, conservatism: Number(conservatism) } = parameters;
        if !(0.01..=100.0).contains(&conservatism) {
            return Err(fault("conservatism", "must be from 0.01 to 100"));
        }
        let mut equal = settings.clone();
        equal.endpoints.iter_mut().for_each(|endpoint| endpoint.backup = false);
        let backups = settings.endpoints.iter().filter(|endpoint| endpoint.backup);
        Ok(Offload {
            size_bytes: size.map(|size| size.0),
            tolerance_ns: tolerance.0 as i64,
            conservatism,
            costly: backups.map(|endpoint| endpoint.address).collect(),
            paths: Chosen::new(&equal),
            begun: None,
            preferred_bytes: 0,
            bytes: 0,
            in_need: false,
        })
    }

    /// Whether what the preferred paths will carry until the deadline, at their mean rate so far, falls short of the rest.
    fn falls_short(&self, now: Time) -> bool {
        let Some(elapsed_ns) = self.begun.map(|begun| now - begun).filter(|&elapsed| elapsed >= LEAST_NS) else {
            return false;
        };
        let left_ns = self.tolerance_ns - elapsed_ns;
        let Some(size) = self.size_bytes.filter(|_| left_ns > 0) else { return left_ns <= 0 };
        let predicted = self.preferred_bytes as f64 / elapsed_ns as f64 * left_ns as f64;
        let margin = if self.in_need { MARGIN } else { 1.0 };
        predicted < size.saturating_sub(self.bytes) as f64 * self.conservatism * margin
    }
}

impl PathManager for Offload {
    fn on(&mut self, now: Time, event: &PathEvent, commands: &mut Vec<PathCommand>) {
        if matches!(event, PathEvent::Established { .. }) {
            self.begun = Some(now);
        }
        if *event == PathEvent::Timer {
            self.in_need = self.falls_short(now);
        }
        let (costly, in_need) = (&self.costly, self.in_need);
        let wanted = |address: IpAddr| in_need || !costly.contains(&address);
        if let Some((local, bytes)) = self.paths.on(now, event, wanted, commands) {
            self.bytes += bytes;
            self.preferred_bytes += if self.costly.contains(&local) { 0 } else { bytes };
        }
    }
}
