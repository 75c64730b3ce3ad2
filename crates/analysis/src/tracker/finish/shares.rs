//! Which subflows carried the delivered bytes: at the end that can tell, and why none can.

use super::ends::JudgedEnd;
use crate::tracker::connection::Connection;
use crate::tracker::subflow::{Subflow, View};
use std::borrow::Cow;
use tables::{Diagnostic, Direction};

/// The delivered bytes of a direction by subflow.
pub(super) struct Carried {
    /// The end that tells.
    pub(super) end: usize,
    pub(super) bytes: Vec<u64>,
}

/// Shares are given to within a point.
const MOST_UNKNOWN: f64 = 0.01;

/// Why no end can tell.
enum Unknown {
    /// Bytes that were acknowledged and passed on no subflow that the captures hold.
    Elsewhere(u64),
    /// Bytes that were sent over several subflows.
    Several(u64),
    /// Bytes that the captures dropped, or that nothing maps.
    Missed,
}

impl Connection {
    /// What each subflow carried: by arrival at the receiver; where only the sender's capture can tell, by what was sent over
    /// one subflow only.
    pub(super) fn carried_by(&mut self, direction: Direction, ends: &[Option<JudgedEnd>; 2]) -> Option<Carried> {
        let order = self.ends_from_receiver(direction, ends);
        order.into_iter().find_map(|end| self.carried_at(end, direction, ends).ok())
    }

    /// Remarks on bytes that went over subflows which the captures do not hold, or that cannot be told to one.
    pub(super) fn unknown_shares(&mut self, ends: &[Option<JudgedEnd>; 2]) -> Vec<Diagnostic> {
        let mut remarks = Vec::new();
        for direction in Direction::BOTH {
            let order = self.ends_from_receiver(direction, ends);
            let mut known_by = None;
            for end in order {
                match self.carried_at(end, direction, ends) {
                    Ok(_) => {
                        known_by = Some(end);
                        break;
                    }
                    Err(Unknown::Elsewhere(bytes)) => {
                        remarks.push(remark("path_missing", bytes, self.path_missing(end, direction, ends)))
                    }
                    Err(Unknown::Several(bytes)) => remarks.push(remark("share_unknown", bytes, several(direction))),
                    Err(Unknown::Missed) => {}
                }
            }
            if known_by.is_some() {
                // What the other end cannot tell takes nothing away.
                remarks.retain(|remark| remark.diagnostic != "share_unknown");
            }
        }
        remarks
    }

    /// Whether data went over subflows that the captures do not hold, and no end can tell how much.
    pub(super) fn lacks_path(&mut self, direction: Direction, ends: &[Option<JudgedEnd>; 2]) -> bool {
        let at_ends: Vec<_> = self
            .ends_from_receiver(direction, ends)
            .into_iter()
            .map(|end| self.carried_at(end, direction, ends))
            .collect();
        at_ends.iter().all(Result::is_err) && at_ends.iter().any(|end| matches!(end, Err(Unknown::Elsewhere(_))))
    }

    /// Whether so much of a direction's data did not pass an end that delays there mean nothing.
    pub(super) fn lacks_data(&self, end: usize, direction: Direction) -> bool {
        self.ends[end].as_ref().is_some_and(|end| {
            let stream = &end.streams[direction as usize];
            stream.missed_bytes() as f64 > MOST_UNKNOWN * stream.delivered_bytes() as f64
        })
    }

    fn ends_from_receiver(&self, direction: Direction, ends: &[Option<JudgedEnd>; 2]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..2)
            .filter(|&end| ends[end].is_some() && self.ends[end].is_some() && !self.coverage.is_part(end))
            .collect();
        order.sort_by_key(|&end| !receives(ends, end, direction));
        order
    }

    fn carried_at(
        &mut self,
        index: usize,
        direction: Direction,
        ends: &[Option<JudgedEnd>; 2],
    ) -> Result<Carried, Unknown> {
        let d = direction as usize;
        let unplaced = self.unplaced_bytes(index, d);
        let known: u64 = unplaced.iter().sum();
        let stream = &mut self.ends[index].as_mut().expect("judged").streams[d];
        let (all, missed) = (stream.delivered_bytes(), stream.missed_bytes());
        let counted = stream.carried();
        let (mut bytes, uncertain) = if receives(ends, index, direction) {
            (counted.by_passing.clone(), 0)
        } else {
            (counted.by_sending.clone(), counted.uncertain_bytes)
        };
        bytes.resize(unplaced.len(), 0);
        let is_much = |bytes: u64| bytes as f64 > MOST_UNKNOWN * all as f64;
        let elsewhere = missed.saturating_sub(known);
        let mut missed = missed;
        if missed == known {
            bytes.iter_mut().zip(&unplaced).for_each(|(bytes, unplaced)| *bytes += unplaced);
            missed = 0;
        }
        match () {
            () if is_much(elsewhere) => Err(Unknown::Elsewhere(elsewhere)),
            () if is_much(missed) => Err(Unknown::Missed),
            () if is_much(missed + uncertain) => Err(Unknown::Several(uncertain)),
            () => Ok(Carried { end: index, bytes }),
        }
    }

    /// Bytes that went over each subflow, though the capture does not show which of the data they were: it dropped them, or
    /// nothing maps them.
    fn unplaced_bytes(&self, end: usize, d: usize) -> Vec<u64> {
        let of_view = |view: &View| view.sequences[d].missed_bytes() + view.unmapped_bytes[d];
        self.subflows.iter().map(|subflow| subflow.views[end].as_deref().map_or(0, of_view)).collect()
    }

    fn path_missing(&self, end: usize, direction: Direction, ends: &[Option<JudgedEnd>; 2]) -> Cow<'static, str> {
        let host = match ends[end].and_then(|judged| judged.sends) {
            Some(Direction::Up) => "the client's capture",
            Some(Direction::Down) => "the server's capture",
            None => "the capture",
        };
        let only_there = |subflow: &&Subflow| subflow.views[end].is_none() && subflow.views[1 - end].is_some();
        let missing: Vec<String> = self
            .subflows
            .iter()
            .filter(only_there)
            .filter_map(|subflow| subflow.views[1 - end].as_ref().map(|view| view.addresses))
            .map(|addresses| format!("{} → {}", addresses.client, addresses.server))
            .collect();
        let which = if missing.is_empty() {
            "a subflow that no capture holds".to_owned()
        } else {
            format!("a subflow that it does not hold ({})", missing.join(", "))
        };
        let arrow = if direction == Direction::Up { "up" } else { "down" };
        format!(
            "bytes {arrow} were acknowledged that {host} shows on no subflow: they went over {which}; \
             give the captures of all interfaces (tcpdump -i any)"
        )
        .into()
    }
}

fn receives(ends: &[Option<JudgedEnd>; 2], end: usize, direction: Direction) -> bool {
    ends[end].is_some_and(|judged| judged.sends == Some(direction.reverse()))
}

fn several(direction: Direction) -> Cow<'static, str> {
    match direction {
        Direction::Up => {
            "bytes up were sent over several subflows: only the server's capture shows which subflow delivered them first"
        }
        Direction::Down => {
            "bytes down were sent over several subflows: only the client's capture shows which subflow delivered them first"
        }
    }
    .into()
}

fn remark(diagnostic: &'static str, count: u64, message: Cow<'static, str>) -> Diagnostic {
    Diagnostic { diagnostic, count: Some(count), message, ..Diagnostic::default() }
}
