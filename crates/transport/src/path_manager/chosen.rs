//! A full mesh over some of the host's addresses, for policies that decide which.

use super::{FullMesh, PathCommand, PathEvent, PathManager, Settings};
use std::net::IpAddr;
use wire::Time;

/// How often the policy looks, and the mesh tries again what failed.
pub(super) const TICK_NS: i64 = 100_000_000;

/// Opens subflows from addresses that are chosen, and closes those from others.
pub(super) struct Chosen {
    mesh: FullMesh,
    /// Addresses of the host, and whether the mesh knows of each.
    locals: Vec<(IpAddr, bool)>,
    begun: bool,
    subflows: Vec<Carrier>,
}

/// A subflow that is established.
struct Carrier {
    index: usize,
    local: IpAddr,
    bytes: u64,
    closing: bool,
}

impl Carrier {
    fn new(index: usize, local: IpAddr) -> Carrier {
        Carrier { index, local, bytes: 0, closing: false }
    }
}

impl Chosen {
    pub fn new(settings: &Settings) -> Chosen {
        Chosen { mesh: FullMesh::new(settings), locals: Vec::new(), begun: false, subflows: Vec::new() }
    }

    /// Whether this end opens subflows, and may from now on.
    pub fn is_begun(&self) -> bool {
        self.begun
    }

    /// Takes an event, with what `wanted` says of each address. Gives the address and the bytes of [`PathEvent::Carried`]
    /// that were not reported before.
    pub fn on(
        &mut self,
        now: Time,
        event: &PathEvent,
        wanted: impl Fn(IpAddr) -> bool,
        commands: &mut Vec<PathCommand>,
    ) -> Option<(IpAddr, u64)> {
        let before = commands.len();
        let mut carried = None;
        match *event {
            PathEvent::Established { client, local, .. } => {
                self.begun = client;
                self.subflows.push(Carrier::new(0, local.ip()));
                self.mesh.on(now, event, commands);
            }
            PathEvent::AddressUp { address } => {
                self.locals.retain(|&(local, _)| local != address);
                // A server announces all of them.
                self.locals.push((address, false));
            }
            PathEvent::AddressDown { address } => {
                self.locals.retain(|&(local, _)| local != address);
                self.mesh.on(now, event, commands);
            }
            PathEvent::SubflowEstablished { subflow, local, .. } => {
                self.subflows.push(Carrier::new(subflow, local.ip()));
                self.mesh.on(now, event, commands);
            }
            PathEvent::SubflowClosed { subflow, local, .. } => {
                self.subflows.retain(|carrier| (carrier.index, carrier.local) != (subflow, local.ip()));
                self.mesh.on(now, event, commands);
            }
            PathEvent::Carried { subflow, sent_bytes, received_bytes } => {
                let carrier = self.subflows.iter_mut().find(|carrier| carrier.index == subflow);
                carried = carrier.map(|carrier| {
                    let bytes = sent_bytes + received_bytes;
                    let before = std::mem::replace(&mut carrier.bytes, bytes);
                    (carrier.local, bytes.saturating_sub(before))
                });
            }
            _ => self.mesh.on(now, event, commands),
        }
        self.choose(now, wanted, commands);
        // Failed pairs are tried again at ticks; there is one alarm for all.
        let mut index = 0;
        commands.retain(|command| {
            index += 1;
            index <= before || !matches!(command, PathCommand::Wake { .. })
        });
        if self.begun && matches!(event, PathEvent::Established { .. } | PathEvent::Timer) {
            commands.push(PathCommand::Wake { after_ns: TICK_NS });
        }
        carried
    }

    /// Tells the mesh of addresses that are wanted from now on, or no more.
    fn choose(&mut self, now: Time, wanted: impl Fn(IpAddr) -> bool, commands: &mut Vec<PathCommand>) {
        for at in 0..self.locals.len() {
            let (address, known) = self.locals[at];
            let wants = wanted(address);
            if known != wants {
                self.locals[at].1 = wants;
                let event = if wants { PathEvent::AddressUp { address } } else { PathEvent::AddressDown { address } };
                self.mesh.on(now, &event, commands);
            }
        }
        // Also what was being opened when its address was given up.
        if self.begun {
            for carrier in self.subflows.iter_mut().filter(|carrier| !carrier.closing && !wanted(carrier.local)) {
                carrier.closing = true;
                let close = PathCommand::Close { subflow: carrier.index };
                if !commands.contains(&close) {
                    commands.push(close);
                }
            }
        }
    }
}
