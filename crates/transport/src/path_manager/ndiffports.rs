//! Several subflows between one pair of addresses, which differ in their ports: the out-of-tree kernel's `ndiffports`
//! (`net/mptcp/mptcp_ndiffports.c`), here with subflows opened anew when they are lost.

use super::{Closed, PathCommand, PathEvent, PathManager, Settings};
use parameters::{Fault, Number, fault, parameters};
use std::net::{IpAddr, SocketAddr};
use wire::Time;

pub(super) const SUMMARY: &str =
    "several subflows between the first pair of addresses; Linux opens one per pair of addresses";

parameters! {
    struct Parameters {
        /// Number of subflows, including the first; from 1 to 32.
        subflows: Number = Number(2.0),
    }
}

/// Waits before a lost subflow is opened again: the first, and the longest that doubling makes of it.
const WAIT_NS: (i64, i64) = (1_000_000_000, 30_000_000_000);

/// So often a subflow may be refused or reset: what stands on the way breaks the next one, too.
const REFUSALS: u32 = 8;

/// The client opens further subflows beside the first.
pub struct Ndiffports {
    wanted: usize,
    max_subflows: usize,
    /// Of a client: between which addresses.
    pair: Option<(IpAddr, SocketAddr)>,
    /// Whether the host has the local address.
    up: bool,
    /// Subflows that are open or being opened.
    subflows: usize,
    /// Those that are open.
    open: Vec<usize>,
    /// Losses since one was opened.
    failures: u32,
    /// Since the address came.
    refusals: u32,
    /// Not before.
    again: Option<Time>,
}

impl Ndiffports {
    /// num_subflows, as far as the limits let it.
    pub(crate) fn new(settings: &Settings, Parameters { subflows }: Parameters) -> Result<Ndiffports, Fault> {
        if !(1.0..=32.0).contains(&subflows.0) || subflows.0.fract() != 0.0 {
            return Err(fault("subflows", "is not a whole number from 1 to 32"));
        }
        let (wanted, max_subflows) = (subflows.0 as usize, settings.max_subflows as usize);
        Ok(Ndiffports {
            wanted,
            max_subflows,
            pair: None,
            up: false,
            subflows: 0,
            open: Vec::new(),
            failures: 0,
            refusals: 0,
            again: None,
        })
    }

    fn closed(&mut self, now: Time, index: usize, reason: Closed, commands: &mut Vec<PathCommand>) {
        self.subflows = self.subflows.saturating_sub(1);
        self.open.retain(|&open| open != index);
        match reason {
            // Told before the address is: nothing is to be opened from it in between.
            Closed::AddressLost => self.up = false,
            _ => {
                self.refusals += u32::from(matches!(reason, Closed::Refused | Closed::Reset | Closed::Protocol));
                if self.gives_up() {
                    return;
                }
                let wait_ns = (WAIT_NS.0 << self.failures.min(5)).min(WAIT_NS.1);
                self.failures += 1;
                self.again = Some(now + wait_ns);
                commands.push(PathCommand::Wake { after_ns: wait_ns });
            }
        }
    }

    /// Whether further subflows are given up; who has none goes on.
    fn gives_up(&self) -> bool {
        self.refusals >= REFUSALS && self.subflows > 0
    }

    fn join(&mut self, now: Time, commands: &mut Vec<PathCommand>) {
        let Some((local, remote)) = self.pair.filter(|_| self.up) else { return };
        if self.gives_up() || self.again.is_some_and(|again| again > now) {
            return;
        }
        self.again = None;
        let initial = usize::from(self.open.contains(&0));
        while self.subflows < self.wanted.min(self.max_subflows + initial) {
            self.subflows += 1;
            commands.push(PathCommand::Join { local, remote, backup: false });
        }
    }

    fn is_local(&self, address: IpAddr) -> bool {
        self.pair.is_some_and(|(local, _)| local == address)
    }
}

impl PathManager for Ndiffports {
    fn on(&mut self, now: Time, event: &PathEvent, commands: &mut Vec<PathCommand>) {
        match *event {
            PathEvent::Established { client: true, local, remote } => {
                (self.pair, self.up, self.subflows) = (Some((local.ip(), remote)), true, 1);
                self.open.push(0);
            }
            PathEvent::SubflowEstablished { subflow, .. } => {
                self.failures = 0;
                self.open.push(subflow);
            }
            PathEvent::SubflowClosed { subflow, reason, .. } if self.pair.is_some() => {
                self.closed(now, subflow, reason, commands);
            }
            PathEvent::AddressUp { address } if self.is_local(address) => {
                (self.up, self.again, self.refusals) = (true, None, 0);
            }
            PathEvent::AddressDown { address } if self.is_local(address) => {
                self.up = false;
                commands.push(PathCommand::Withdraw { address });
                commands.extend(self.open.iter().map(|&subflow| PathCommand::Close { subflow }));
            }
            _ => {}
        }
        self.join(now, commands);
    }
}
