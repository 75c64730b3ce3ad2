//! Addresses, subflows and the path manager.

use super::{Connection, Mode, Signals};
use crate::context::{Address, Context};
use crate::endpoint::{Event, Nic, Outcome, PathDecision};
use crate::path_manager::{Closed, PathCommand, PathEvent};
use crate::subflow::Received;
use std::net::{IpAddr, SocketAddr};
use wire::Time;

impl Connection {
    /// What the options of an acceptable segment on subflow `i` say, but for data and its acknowledgement.
    pub(super) fn take_signals(
        &mut self,
        now: Time,
        i: usize,
        signals: &Signals,
        received: &Received,
        len: u32,
        ctx: &mut Context,
    ) {
        let entry = &self.entries[i];
        if !entry.confirmed && entry.opened_here {
            if received.established {
                // The SYN/ACK proves nothing yet: options may vanish from what follows.
            } else if signals.any() || entry.join.is_some() {
                self.confirm(now, i, ctx);
            } else if len > 0 || received.acked > 1 {
                return self.fall_back(i);
            }
        }
        if signals.others() {
            self.take_others(now, i, signals, ctx);
        }
    }

    /// What options other than DSS say of a subflow that is established.
    #[cold]
    fn take_others(&mut self, now: Time, i: usize, signals: &Signals, ctx: &mut Context) {
        if let Some(prio) = signals.prio() {
            self.entries[i].peer_backup = prio.backup;
            self.tell_paths(now, PathEvent::SubflowPriority { subflow: i, backup: prio.backup }, ctx);
        }
        if signals.fast_close().is_some_and(|close| close.receiver_key == self.agreed.local_key()) {
            return self.end(Outcome::Failed(Closed::Reset));
        }
        if let Some(add_addr) = signals.add_addr() {
            if add_addr.echo {
                self.addresses.echoed(add_addr.address_id);
            } else if self.agreed.is_signed(&add_addr) {
                let remote = self.announced(&add_addr);
                if self.addresses.learn(&add_addr, remote) {
                    self.tell_paths(now, PathEvent::Announced { id: add_addr.address_id, remote }, ctx);
                }
                self.entries[i].tcp.acknowledge();
            }
        }
        if let Some(remove) = signals.remove_addr() {
            for &id in remove.ids() {
                self.addresses.unlearn(id);
                self.tell_paths(now, PathEvent::Withdrawn { id }, ctx);
                for other in 0..self.entries.len() {
                    if self.entries[other].remote_id == id && !self.entries[other].is_over() {
                        self.leave(now, other, Closed::Removed, ctx);
                    }
                }
            }
        }
    }

    /// The peer speaks MPTCP on subflow `i`, which this end opened.
    #[cold]
    #[inline(never)]
    fn confirm(&mut self, now: Time, i: usize, ctx: &mut Context) {
        let entry = &mut self.entries[i];
        entry.confirmed = true;
        match &mut entry.join {
            Some(join) => {
                join.again = Time::MAX;
                self.carries_now();
            }
            None => {
                let bytes = self.agreed.dss_bytes();
                self.with(i, |entry, control| entry.tcp.reserve_options(bytes, control));
                if !self.early {
                    self.paths_open(now, ctx);
                }
            }
        }
    }

    /// A further subflow may carry data: what others could not deliver while there was no other goes to it.
    pub(super) fn carries_now(&mut self) {
        self.fallback.diverge();
        self.do_without_failed();
        if self.retransmission.is_by_timer() {
            return;
        }
        for i in 0..self.entries.len() {
            if self.entries[i].timeouts > 0 && !self.entries[i].is_over() {
                self.reinject(i, false);
            }
        }
    }

    /// The connection may have further subflows from now on.
    pub(super) fn paths_open(&mut self, now: Time, ctx: &mut Context) {
        let (client, local, remote) = (self.client, self.local, self.remote);
        self.tell_paths(now, PathEvent::Established { client, local, remote }, ctx);
        for at in 0..ctx.addresses.len() {
            let Address { ip: address, heard_dbm, nic, .. } = ctx.addresses[at];
            if ctx.plain.contains(&nic) {
                continue;
            }
            self.tell_paths(now, PathEvent::AddressUp { address }, ctx);
            if let Some(dbm) = heard_dbm {
                self.tell_paths(now, PathEvent::Heard { address, dbm }, ctx);
            }
        }
    }

    /// The path manager's alarm: what subflows have carried, and the time.
    pub(super) fn tell_time(&mut self, now: Time, ctx: &mut Context) {
        for subflow in 0..self.entries.len() {
            let entry = &self.entries[subflow];
            if entry.closed.is_none() && entry.tcp.is_established() {
                // Offset 0 is the SYN.
                let sent_bytes = entry.tcp.acked_offset().saturating_sub(1);
                let received_bytes = entry.tcp.receive_next().saturating_sub(1);
                self.tell_paths(now, PathEvent::Carried { subflow, sent_bytes, received_bytes }, ctx);
                let tcp = &self.entries[subflow].tcp;
                let (outstanding, srtt_ns, rttvar_ns) = (!tcp.flight().is_empty(), tcp.srtt_ns(), tcp.rttvar_ns());
                let out_of_order_bytes = tcp.out_of_order_bytes();
                let waits = PathEvent::Waits { subflow, outstanding, srtt_ns, rttvar_ns, out_of_order_bytes };
                self.tell_paths(now, waits, ctx);
            }
        }
        self.tell_paths(now, PathEvent::Timer, ctx);
    }

    /// A probe of the path manager's was answered.
    pub fn answered(&mut self, now: Time, local: IpAddr, number: u16, ctx: &mut Context) {
        self.tell_paths(now, PathEvent::Answered { local, number }, ctx);
        self.settle(now, ctx);
    }

    /// Tells the path manager and does what it orders.
    pub(super) fn tell_paths(&mut self, now: Time, event: PathEvent, ctx: &mut Context) {
        let may = self.mode == Mode::Multipath || self.mode == Mode::Opening && self.early;
        if !may || self.over.is_some() {
            return;
        }
        let mut commands = Vec::new();
        self.path_manager.on(now, &event, &mut commands);
        for command in commands {
            match command {
                PathCommand::Join { local, remote, backup } => {
                    if let Err(reason) = self.join(now, local, remote, backup, ctx) {
                        let (subflow, local) = (self.entries.len(), SocketAddr::new(local, 0));
                        self.tell_paths(now, PathEvent::SubflowClosed { subflow, local, remote, reason }, ctx);
                    }
                }
                PathCommand::Announce { address, port } => self.addresses.announce(now, address, port),
                PathCommand::Withdraw { address } => self.addresses.withdraw(address),
                // It may have been closed by what an order before led to.
                PathCommand::Close { subflow } if self.entries[subflow].closed.is_some() => {}
                PathCommand::Close { subflow } if self.tells_keys(subflow) => {}
                PathCommand::Close { subflow } => self.leave(now, subflow, Closed::Removed, ctx),
                PathCommand::SetBackup { subflow, backup } => {
                    self.entries[subflow].backup = backup;
                    self.signal_by(subflow);
                    self.prios |= 1 << subflow;
                }
                PathCommand::Spent { address, budget } => ctx.tell(Event::Spent { address, budget }),
                PathCommand::Probe { local, remote, number } => ctx.tell(Event::Probe { local, remote, number }),
                PathCommand::Decided { address, decision } => {
                    let ends = (self.local, self.remote);
                    ctx.tell(Event::Decided(Box::new(PathDecision { ends, address, decision })));
                }
                PathCommand::Wake { after_ns } => self.timers.paths = now + after_ns,
            }
        }
    }

    /// The host has an address, perhaps again.
    pub fn address_up(&mut self, now: Time, address: IpAddr, nic: Nic, ctx: &mut Context) {
        for entry in &mut self.entries {
            if entry.tcp.local().ip() == address {
                entry.nic = Some(nic);
            }
        }
        self.addresses.returned(address);
        self.tell_paths(now, PathEvent::AddressUp { address }, ctx);
        self.settle(now, ctx);
    }

    /// The radio of an address hears this now, in dBm.
    pub fn heard(&mut self, now: Time, address: IpAddr, dbm: i32, ctx: &mut Context) {
        self.tell_paths(now, PathEvent::Heard { address, dbm }, ctx);
        self.settle(now, ctx);
    }

    /// The host has an address no more. A subflow of MPTCP ends with it; plain TCP waits for it to come back.
    pub fn address_down(&mut self, now: Time, address: IpAddr, ctx: &mut Context) {
        for i in 0..self.entries.len() {
            let entry = &mut self.entries[i];
            if entry.tcp.local().ip() != address {
                continue;
            }
            entry.nic = None;
            if self.mode == Mode::Multipath && !self.tells_keys(i) && !self.entries[i].is_over() {
                self.leave(now, i, Closed::AddressLost, ctx);
            }
        }
        self.tell_paths(now, PathEvent::AddressDown { address }, ctx);
        self.settle(now, ctx);
    }

    /// Before the keys are known to have arrived, there can be no subflow in place of the first.
    fn tells_keys(&self, i: usize) -> bool {
        self.entries[i].join.is_none() && !self.entries[i].confirmed
    }

    /// Subflow `i` is to carry nothing any more. Upstream Linux keeps the first one: its FIN waits behind its queue, which goes
    /// out once there is a way, and what still comes by it is no data (net/mptcp/protocol.c, __mptcp_close_ssk). Others become
    /// orphans there, which answer what comes with a reset (tcp_rcv_state_process); here they are reset at once.
    fn leave(&mut self, now: Time, i: usize, reason: Closed, ctx: &mut Context) {
        let entry = &mut self.entries[i];
        if entry.join.is_none() && self.retransmission.is_by_timer() {
            entry.tcp.close();
        } else {
            entry.tcp.abort();
        }
        self.close_subflow(now, i, reason, ctx);
    }

    /// Subflow `i` is over.
    pub(super) fn close_subflow(&mut self, now: Time, i: usize, reason: Closed, ctx: &mut Context) {
        if self.entries[i].closed.is_some() {
            return;
        }
        self.entries[i].closed = Some(reason);
        self.windows[i].usable = false;
        self.reinject(i, true);
        let (local, remote) = self.tuple(i);
        if self.mode == Mode::Multipath || self.mode == Mode::Opening && i != self.fallback.subflow() {
            self.tell_paths(now, PathEvent::SubflowClosed { subflow: i, local, remote, reason }, ctx);
        } else if i == self.fallback.subflow() && reason != Closed::Finished {
            self.end(Outcome::Failed(reason));
        }
    }
}
