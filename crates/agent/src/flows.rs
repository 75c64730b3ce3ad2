//! Which subflows there are, and what they carry: no more of them are asked for than it takes to know that a path moves.
//!
//! A list of all makes the kernel look through its whole table of sockets, 262144 buckets on a host with 24 GB; one that is known is found at once.

use crate::kernel::Kernel;
use crate::subflows::Subflow;
use guard::Seen;
use std::collections::HashMap;
use std::io::Result;
use std::net::SocketAddr;
use wire::Time;

/// So many of a path are asked for at each look. Of more each has its turn as often as this at least: one that is not asked for may have begun to wait.
const AT_ONCE: usize = 8;
const SWEEP_NS: i64 = 100_000_000;
/// A path that has received nothing for so long is not expected to.
const CALM_NS: i64 = 1_000_000_000;
/// The kernel counts milliseconds by ticks of its own, 4 ms of most hosts.
const KERNEL_TICK_MS: i64 = 4;

/// Those of all paths, by their indices.
#[derive(Default)]
pub struct Flows {
    paths: Vec<Path>,
    answers: Vec<Option<Subflow>>,
    /// When anything moved, waited or came last.
    pub moved: Time,
    /// Whether any has come or gone since this was looked at.
    pub is_changed: bool,
}

/// What goes over a path.
#[derive(Default)]
struct Path {
    subflows: Vec<Subflow>,
    /// Whether a connection may have no subflow on another path.
    is_only: bool,
    /// What was seen to move: sums that only grow.
    acked_bytes: u64,
    received_bytes: u64,
    /// When it was known last whether it moves.
    asked: Time,
    received: Option<Time>,
    /// When all had had their turn, and how many have had it since.
    swept: Time,
    turns: usize,
    /// Where the next is asked from, and which one moved last.
    next: usize,
    mover: u64,
}

/// What a look at a path has shown to move.
#[derive(Clone, Copy, Default)]
struct Moves {
    acked: bool,
    received: bool,
}

impl Flows {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.paths.iter().all(|path| path.subflows.is_empty())
    }

    /// All that there are now, each with the index of its path, of so many.
    pub fn list(&mut self, now: Time, count: usize, found: impl Iterator<Item = (usize, Subflow)>) {
        self.paths.resize_with(count.max(self.paths.len()), Path::default);
        let before: Vec<_> = self.paths.iter_mut().map(|path| std::mem::take(&mut path.subflows)).collect();
        for (index, subflow) in found {
            let known = before[index].iter().find(|known| known.cookie == subflow.cookie);
            self.is_changed |= known.is_none();
            let moves = self.paths[index].take(now, known.unwrap_or(&subflow), &subflow);
            if known.is_none() || subflow.unacked > 0 || moves.acked || moves.received {
                self.moved = now;
            }
            self.paths[index].subflows.push(subflow);
        }
        for (path, before) in self.paths.iter_mut().zip(&before) {
            self.is_changed |= path.subflows.len() < before.len();
            (path.asked, path.swept, path.turns) = (now, now, 0);
        }
        self.count_paths();
    }

    /// Says of each path whether connections have subflows on others.
    fn count_paths(&mut self) {
        let mut only: HashMap<u32, Option<usize>> = HashMap::new();
        for (index, path) in self.paths.iter().enumerate() {
            for subflow in &path.subflows {
                let on = only.entry(subflow.token).or_insert(Some(index));
                *on = on.filter(|&on| on == index);
            }
        }
        for (index, path) in self.paths.iter_mut().enumerate() {
            path.is_only = path.subflows.iter().any(|subflow| only[&subflow.token] == Some(index));
        }
    }

    /// Asks until it is known of each path whether it moves.
    ///
    /// # Errors
    /// The kernel does not say.
    pub fn ask(&mut self, now: Time, kernel: &mut impl Kernel) -> Result<()> {
        let mut is_fewer = false;
        for path in &mut self.paths {
            if !path.is_due(now) {
                continue;
            }
            let before = path.subflows.len();
            let moves = path.ask(now, kernel, &mut self.answers)?;
            is_fewer |= path.subflows.len() < before;
            if moves.acked || moves.received || path.waits() {
                self.moved = now;
            }
        }
        if is_fewer {
            self.is_changed = true;
            self.count_paths();
        }
        Ok(())
    }

    /// What is known of a path.
    pub fn seen(&self, index: usize) -> Seen {
        let Some(path) = self.paths.get(index) else { return Seen::default() };
        let sums = Seen {
            is_only: path.is_only,
            acked_bytes: path.acked_bytes,
            received_bytes: path.received_bytes,
            ..Seen::default()
        };
        path.subflows.iter().fold(sums, |sum, subflow| {
            sum.with(&Seen {
                carries: true,
                outstanding: subflow.unacked > 0,
                srtt_ns: (subflow.rtt_us > 0).then(|| i64::from(subflow.rtt_us) * 1000),
                rttvar_ns: i64::from(subflow.rttvar_us) * 1000,
                ..Seen::default()
            })
        })
    }

    /// To whom they go, each with the index of its path.
    pub fn remotes(&self) -> Vec<(usize, SocketAddr)> {
        let of = |(index, path): (usize, &'_ Path)| {
            path.subflows.iter().map(move |one| (index, one.remote)).collect::<Vec<_>>()
        };
        self.paths.iter().enumerate().flat_map(of).collect()
    }
}

impl Path {
    fn waits(&self) -> bool {
        self.subflows.iter().any(|subflow| subflow.unacked > 0)
    }

    fn is_receiving(&self, now: Time) -> bool {
        self.received.is_some_and(|received| now - received < CALM_NS)
    }

    /// Whether all are to be asked for.
    fn is_sweep(&self, now: Time) -> bool {
        self.subflows.len() <= AT_ONCE || now - self.swept >= SWEEP_NS
    }

    fn is_due(&self, now: Time) -> bool {
        !self.subflows.is_empty() && (self.is_sweep(now) || self.is_receiving(now) || self.waits())
    }

    /// What moved last may well have moved again; then one after the other, where it was left off.
    fn ask(&mut self, now: Time, kernel: &mut impl Kernel, answers: &mut Vec<Option<Subflow>>) -> Result<Moves> {
        let (count, is_sweep) = (self.subflows.len(), self.is_sweep(now));
        let (needs_received, needs_acked) = (self.is_receiving(now), self.waits());
        let mut moves = Moves::default();
        let mut gone = Vec::new();
        let first = self.subflows.iter().position(|subflow| subflow.cookie == self.mover);
        let round = (0..count).map(|step| (self.next + step) % count).filter(|&at| Some(at) != first);
        let mut left = first.into_iter().chain(round).collect::<Vec<_>>().into_iter();
        let mut asked = 0;
        while asked < count
            && (is_sweep || needs_received && !moves.received || needs_acked && !moves.acked || asked == 0)
        {
            let indices: Vec<_> = left.by_ref().take(if asked == 0 && !is_sweep { 1 } else { AT_ONCE }).collect();
            kernel.again(&indices.iter().map(|&at| self.subflows[at]).collect::<Vec<_>>(), answers)?;
            for (&at, answer) in indices.iter().zip(answers.iter()) {
                let Some(subflow) = answer else {
                    gone.push(at);
                    continue;
                };
                let known = std::mem::replace(&mut self.subflows[at], *subflow);
                let one = self.take(now, &known, subflow);
                if one.acked || one.received {
                    self.mover = subflow.cookie;
                }
                (moves.acked, moves.received) = (moves.acked | one.acked, moves.received | one.received);
            }
            asked += indices.len();
        }
        let turns = asked - usize::from(first.is_some());
        (self.next, self.asked, self.turns) = ((self.next + turns) % count, now, self.turns + turns);
        if asked == count || self.turns >= count {
            (self.swept, self.turns) = (now, 0);
        }
        gone.sort_unstable();
        gone.into_iter().rev().for_each(|at| _ = self.subflows.remove(at));
        Ok(moves)
    }

    /// What has moved of a subflow since the path was known to move; what moved before that is no news.
    fn take(&mut self, now: Time, known: &Subflow, subflow: &Subflow) -> Moves {
        let recent_ms = (now - self.asked) / 1_000_000 + KERNEL_TICK_MS;
        let is_recent = |age_ms: u32| i64::from(age_ms) <= recent_ms;
        let acked = subflow.acked_bytes.saturating_sub(known.acked_bytes);
        let received = subflow.received_bytes.saturating_sub(known.received_bytes);
        // The kernel does not say when those came.
        let out_of_order = subflow.out_of_order.wrapping_sub(known.out_of_order);
        let moves = Moves {
            acked: acked > 0 && is_recent(subflow.acked_ms),
            received: received > 0 && is_recent(subflow.received_ms) || out_of_order > 0,
        };
        if moves.acked {
            self.acked_bytes += acked;
        }
        if moves.received {
            self.received_bytes += received.max(u64::from(out_of_order));
            self.received = Some(now);
        }
        moves
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subflow() -> Subflow {
        Subflow {
            socket: (2, [0; 48]),
            cookie: 1,
            token: 1,
            local: "10.0.1.2".parse().unwrap(),
            remote: "192.0.2.1:8080".parse().unwrap(),
            unacked: 0,
            acked_bytes: 0,
            received_bytes: 1000,
            out_of_order: u32::MAX,
            acked_ms: 0,
            // Nothing came in order since.
            received_ms: 5000,
            rtt_us: 30_000,
            rttvar_us: 5000,
            timeouts: 0,
        }
    }

    #[test]
    fn what_comes_before_what_was_lost_moves_a_path() {
        let before = subflow();
        let mut flows = Flows::default();
        let mut received = |at_ms: i64, out_of_order: u32| {
            let mut now = before;
            now.out_of_order = out_of_order;
            flows.list(Time::from_nanos(at_ms * 1_000_000), 1, std::iter::once((0, now)));
            flows.seen(0).received_bytes
        };
        let first = received(0, u32::MAX);
        assert_eq!(received(10, u32::MAX), first);
        assert!(received(20, 2) > first);
    }

    #[test]
    fn a_path_may_be_all_that_a_connection_has() {
        let of = |token: u32| {
            let mut one = subflow();
            (one.token, one.cookie) = (token, u64::from(token));
            one
        };
        let mut flows = Flows::default();
        let mut only = |found: &[(usize, u32)]| {
            flows.list(Time::default(), 2, found.iter().map(|&(path, token)| (path, of(token))));
            [0, 1].map(|path| flows.seen(path).is_only)
        };
        assert_eq!(only(&[(0, 1), (1, 1), (1, 1)]), [false, false]);
        assert_eq!(only(&[(0, 1), (1, 1), (1, 2)]), [false, true]);
        assert_eq!(only(&[(1, 2), (1, 2)]), [false, true]);
        assert_eq!(only(&[]), [false, false]);
    }
}
