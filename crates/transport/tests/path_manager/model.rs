//! Whatever happens, no path manager orders what cannot be.

use crate::bench::{Bench, NEAR, S, WIFI, announced, begun, endpoint, ip, settings, socket, up};
use proptest::prelude::*;
use std::net::{IpAddr, SocketAddr};
use transport::path_manager::{Closed, NAMES, PathCommand, PathEvent, Settings};
use wire::Time;

/// A connection as simple as can be, that does what it is told.
struct Model {
    bench: Bench,
    settings: Settings,
    up: Vec<IpAddr>,
    /// Place, local and remote address, whether it is established.
    alive: Vec<(usize, IpAddr, SocketAddr, bool)>,
    opened: usize,
    wake: Option<Time>,
}

impl Model {
    fn tell(&mut self, event: PathEvent) {
        for command in self.bench.on(event) {
            match command {
                PathCommand::Join { local, remote, .. } => {
                    assert!(self.up.contains(&local), "joins from {local}, which is down");
                    assert_eq!(local.is_ipv4(), remote.is_ipv4());
                    let twice = self.alive.iter().any(|&(_, l, r, _)| (l, r) == (local, remote));
                    assert!(!twice || self.settings.name == "ndiffports", "joins {local} to {remote} twice");
                    self.alive.push((self.opened, local, remote, false));
                    self.opened += 1;
                    let further = self.alive.iter().filter(|subflow| subflow.0 != 0).count();
                    assert!(further <= self.settings.max_subflows as usize, "{further} subflows");
                }
                PathCommand::Announce { address, .. } => assert!(self.up.contains(&address)),
                PathCommand::Withdraw { address } => assert!(!self.up.contains(&address)),
                PathCommand::Close { subflow } => {
                    let closed = self.alive.iter().find(|other| other.0 == subflow).copied();
                    let (_, local, remote, _) = closed.expect("closes what is open");
                    self.alive.retain(|other| other.0 != subflow);
                    self.tell(closed_at(subflow, local, remote, Closed::Removed));
                }
                PathCommand::SetBackup { .. } | PathCommand::Spent { .. } => {}
                PathCommand::Probe { local, .. } => assert!(self.up.contains(&local)),
                PathCommand::Decided { .. } => {}
                PathCommand::Wake { after_ns } => {
                    assert!(after_ns > 0);
                    self.wake = Some(self.bench.now + after_ns);
                }
            }
        }
    }

    fn advance(&mut self, ns: i64) {
        let end = self.bench.now + ns;
        while let Some(at) = self.wake.filter(|&at| at <= end) {
            self.wake = None;
            self.bench.now = at;
            self.tell(PathEvent::Timer);
        }
        self.bench.now = end;
    }
}

fn closed_at(subflow: usize, local: IpAddr, remote: SocketAddr, reason: Closed) -> PathEvent {
    PathEvent::SubflowClosed { subflow, local: SocketAddr::new(local, 6000), remote, reason }
}

proptest! {
    #[test]
    fn orders_are_sound(
        name in prop::sample::select(NAMES),
        client in any::<bool>(),
        limits in (0..5_u32, 0..4_u32),
        flags in prop::collection::vec(prop::sample::subsequence(vec!["subflow", "signal", "backup", "fullmesh"], 0..4), 4),
        steps in prop::collection::vec((0..6_u8, 0..8_usize, 0..40 * S), 0..80),
    ) {
        let locals: Vec<_> = (0..4).map(|i| format!("10.{i}.0.1")).collect();
        let reasons = [Closed::TimedOut, Closed::Reset, Closed::Refused, Closed::Finished, Closed::Protocol];
        let endpoints = locals.iter().zip(&flags).map(|(address, flags)| endpoint(address, &flags.join(" "))).collect();
        let (max_subflows, max_add_addr_accepted) = limits;
        let settings =
            Settings { endpoints, max_subflows, max_add_addr_accepted, ..settings(name) };
        let bench = Bench::new(settings.clone());
        let mut model = Model { bench, settings, up: vec![ip(WIFI)], alive: Vec::new(), opened: 1, wake: None };
        model.alive.push((0, ip(WIFI), socket(NEAR), true));
        model.tell(up(WIFI));
        let (local, remote) = (SocketAddr::new(ip(WIFI), 443), socket(NEAR));
        model.tell(PathEvent::Established { client, local, remote });
        for (what, which, ns) in steps {
            let address = ip(&locals[which % locals.len()]);
            let subflow = model.alive.get(which % model.alive.len().max(1)).copied();
            match (what, subflow) {
                (0, _) => {
                    if !model.up.contains(&address) {
                        model.up.push(address);
                    }
                    model.tell(PathEvent::AddressUp { address });
                }
                (1, _) => {
                    model.up.retain(|&up| up != address);
                    // What is still being opened the connection closes by itself.
                    let opening: Vec<_> =
                        model.alive.extract_if(.., |subflow| subflow.1 == address && !subflow.3).collect();
                    for (index, local, remote, _) in opening {
                        model.tell(closed_at(index, local, remote, Closed::AddressLost));
                    }
                    model.tell(PathEvent::AddressDown { address });
                }
                (2, _) => {
                    let remote = SocketAddr::new(ip(&format!("192.0.2.{}", which + 1)), 443);
                    model.tell(PathEvent::Announced { id: which as u8, remote });
                }
                (3, Some((index, local, remote, false))) => {
                    model.alive.iter_mut().filter(|other| other.0 == index).for_each(|other| other.3 = true);
                    let local = SocketAddr::new(local, 6000);
                    model.tell(PathEvent::SubflowEstablished { subflow: index, local, remote });
                }
                (4, Some((index, local, remote, _))) => {
                    model.alive.retain(|other| other.0 != index);
                    model.tell(closed_at(index, local, remote, reasons[which % reasons.len()]));
                }
                (5, _) => model.tell(PathEvent::Withdrawn { id: which as u8 }),
                _ => {}
            }
            model.advance(ns);
        }
        // Who manages paths leaves none on an address that is down.
        let stand = model.alive.iter().all(|subflow| model.up.contains(&subflow.1));
        prop_assert!(stand || name == "single" || !client);
    }

    #[test]
    fn a_full_mesh_is_full(locals in 1..4_usize, remotes in 1..4_u8) {
        let mut client = Bench::named("full-mesh");
        let mut joins: Vec<_> = client.on(begun(true));
        for i in 0..locals {
            joins.extend(client.on(up(&format!("10.{i}.0.1"))));
        }
        for i in 1..remotes {
            joins.extend(client.on(announced(i, &format!("192.0.2.{}:443", i + 1))));
        }
        prop_assert_eq!(joins.len(), locals * usize::from(remotes) - 1);
        let only_joins = joins.iter().all(|command| matches!(command, PathCommand::Join { .. }));
        prop_assert!(only_joins);
    }
}
