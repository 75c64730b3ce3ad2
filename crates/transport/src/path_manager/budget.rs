//! A full mesh in which a path may carry only so many bytes: a data plan.

use super::chosen::Chosen;
use super::{PathCommand, PathEvent, PathManager, Settings};
use parameters::{Fault, Text, fault, parameters};
use std::net::IpAddr;
use wire::Time;

pub(super) const SUMMARY: &str = "full mesh; a path that has used up its budget is closed or becomes a backup";

parameters! {
    struct Parameters {
        /// What becomes of a path without budget left: `close` or `backup`. It is looked at every 100 ms, and what is on its
        /// way still comes, so that somewhat more is carried.
        then: Text = Text("close".into()),
    }
}

/// The client leaves paths alone that cost too much.
pub struct Budget {
    then_backup: bool,
    paths: Chosen,
    /// Bytes left of each address that has a budget.
    left: Vec<(IpAddr, u64)>,
    /// Established subflows, and whether each was made a backup for its path's sake.
    subflows: Vec<(usize, IpAddr, bool)>,
}

impl Budget {
    /// With the endpoints' budgets.
    pub(crate) fn new(settings: &Settings, Parameters { then }: Parameters) -> Result<Budget, Fault> {
        let then_backup = match then.0.as_str() {
            "backup" => true,
            "close" => false,
            _ => return Err(fault("then", "is neither close nor backup")),
        };
        let budgets = settings.endpoints.iter().filter_map(|endpoint| Some((endpoint.address, endpoint.budget_bytes?)));
        Ok(Budget { then_backup, paths: Chosen::new(settings), left: budgets.collect(), subflows: Vec::new() })
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
        let (left, then_backup) = (&self.left, self.then_backup);
        let wanted = |address: IpAddr| then_backup || !left.contains(&(address, 0));
        if let Some((local, bytes)) = self.paths.on(now, event, wanted, commands)
            && let Some((_, left)) = self.left.iter_mut().find(|(address, _)| *address == local)
        {
            *left = left.saturating_sub(bytes);
        }
        if self.then_backup && self.paths.is_begun() {
            self.step_back(commands);
        }
    }
}
