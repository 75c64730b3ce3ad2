//! A full mesh in which a path may carry only so many bytes: a data plan.

use super::chosen::Chosen;
use super::{PathCommand, PathEvent, PathManager, Settings};
use std::net::IpAddr;
use wire::Time;

pub(super) const SUMMARY: &str = "full mesh; a path that has used up its budget is closed or becomes a backup";

/// A path without budget left is a backup rather than closed.
const THEN_BACKUP: bool = false;

/// The client leaves paths alone that cost too much.
pub struct Budget {
    paths: Chosen,
    /// Bytes left of each address that has a budget.
    left: Vec<(IpAddr, u64)>,
    /// Established subflows, and whether each was made a backup for its path's sake.
    subflows: Vec<(usize, IpAddr, bool)>,
}

impl Budget {
    /// With the endpoints' budgets.
    pub fn new(settings: &Settings) -> Budget {
        let budgets = settings.endpoints.iter().filter_map(|endpoint| Some((endpoint.address, endpoint.budget_bytes?)));
        Budget { paths: Chosen::new(settings), left: budgets.collect(), subflows: Vec::new() }
    }

    /// Makes backups of the subflows of spent paths.
    fn step_back(&mut self, commands: &mut Vec<PathCommand>) {
        let left = &self.left;
        for (place, local, backup) in &mut self.subflows {
            if !*backup && left.contains(&(*local, 0)) {
                *backup = true;
                commands.push(PathCommand::SetBackup { subflow: *place, backup: true });
            }
        }
    }
}

impl PathManager for Budget {
    fn on(&mut self, now: Time, event: &PathEvent, commands: &mut Vec<PathCommand>) {
        match *event {
            PathEvent::Established { local, .. } => self.subflows.push((0, local.ip(), false)),
            PathEvent::SubflowEstablished { subflow, local, .. } => self.subflows.push((subflow, local.ip(), false)),
            PathEvent::SubflowClosed { subflow, local, .. } => {
                self.subflows.retain(|&(place, other, _)| (place, other) != (subflow, local.ip()));
            }
            _ => {}
        }
        let left = &self.left;
        let wanted = |address: IpAddr| THEN_BACKUP || !left.contains(&(address, 0));
        if let Some((local, bytes)) = self.paths.on(now, event, wanted, commands)
            && let Some((_, left)) = self.left.iter_mut().find(|(address, _)| *address == local)
        {
            *left = left.saturating_sub(bytes);
        }
        if THEN_BACKUP && self.paths.is_begun() {
            self.step_back(commands);
        }
    }
}
