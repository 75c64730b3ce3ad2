//! A full mesh in which a path may carry only so many bytes, and all of them cost only so much: a data plan.

use super::chosen::Chosen;
use super::{Budgeted, LocalEndpoint, PathCommand, PathEvent, PathManager, Settings};
use parameters::{Fault, Number, Text, fault, parameters};
use std::net::IpAddr;
use wire::Time;

pub(super) const SUMMARY: &str =
    "full mesh; a path that has used up its budget is closed or becomes a backup; Linux has no budgets";

parameters! {
    struct Parameters {
        /// What happens to a path that has used up its budget: `close` or `backup`. Budgets are checked every 100 ms,
        /// and data in flight still arrives, so slightly more than the budget is carried.
        then: Text = Text("close".into()),
        /// Cost limit of a connection, in the currency of the paths' `cost_per_mb`. Once it is reached, every path with
        /// a cost counts as having used up its budget.
        cost_budget: Option<Number> = None,
    }
}

const BYTES_PER_MB: f64 = 1e6;

/// The client leaves paths alone that cost too much.
pub struct Budget {
    then_backup: bool,
    paths: Chosen,
    accounts: Vec<Account>,
    cost_budget: Option<f64>,
    /// Established subflows, and whether each was made a backup for its path's sake.
    subflows: Vec<(usize, IpAddr, bool)>,
}

/// An address that may not carry what it likes.
struct Account {
    address: IpAddr,
    budget_bytes: Option<u64>,
    cost_per_mb: f64,
    carried_bytes: u64,
    is_spent: bool,
}

impl Account {
    fn of(endpoint: &LocalEndpoint) -> Option<Account> {
        let LocalEndpoint { address, budget_bytes, cost_per_mb, .. } = *endpoint;
        let counts = budget_bytes.is_some() || cost_per_mb > 0.0;
        counts.then_some(Account { address, budget_bytes, cost_per_mb, carried_bytes: 0, is_spent: false })
    }

    fn cost(&self) -> f64 {
        self.cost_per_mb * self.carried_bytes as f64 / BYTES_PER_MB
    }
}

impl Budget {
    /// With the endpoints' budgets.
    pub(crate) fn new(settings: &Settings, Parameters { then, cost_budget }: Parameters) -> Result<Budget, Fault> {
        let then_backup = match then.0.as_str() {
            "backup" => true,
            "close" => false,
            _ => return Err(fault("then", "must be close or backup")),
        };
        let cost_budget = cost_budget.map(|Number(cost)| cost);
        if cost_budget.is_some_and(|cost| cost <= 0.0) {
            return Err(fault("cost_budget", "must be above 0"));
        }
        Ok(Budget {
            then_backup,
            paths: Chosen::new(settings),
            accounts: settings.endpoints.iter().filter_map(Account::of).collect(),
            cost_budget,
            subflows: Vec::new(),
        })
    }

    /// Tells of budgets that are used up now.
    fn close_accounts(&mut self, commands: &mut Vec<PathCommand>) {
        let cost: f64 = self.accounts.iter().map(Account::cost).sum();
        let is_broke = self.cost_budget.is_some_and(|budget| cost >= budget);
        for account in self.accounts.iter_mut().filter(|account| !account.is_spent) {
            let budget = match account.budget_bytes {
                Some(bytes) if account.carried_bytes >= bytes => Budgeted::Data,
                _ if is_broke && account.cost_per_mb > 0.0 => Budgeted::Cost,
                _ => continue,
            };
            account.is_spent = true;
            commands.push(PathCommand::Spent { address: account.address, budget });
        }
    }

    /// Makes backups of the subflows of spent paths.
    fn step_back(&mut self, commands: &mut Vec<PathCommand>) {
        for (index, local, backup) in &mut self.subflows {
            if !*backup && is_spent(&self.accounts, *local) {
                *backup = true;
                commands.push(PathCommand::SetBackup { subflow: *index, backup: true });
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
                self.subflows.retain(|&(index, other, _)| (index, other) != (subflow, local.ip()));
            }
            _ => {}
        }
        let (accounts, then_backup) = (&self.accounts, self.then_backup);
        let wanted = |address: IpAddr| then_backup || !is_spent(accounts, address);
        if let Some((local, bytes)) = self.paths.on(now, event, wanted, commands)
            && let Some(account) = self.accounts.iter_mut().find(|account| account.address == local)
        {
            account.carried_bytes += bytes;
        }
        if self.paths.is_begun() {
            self.close_accounts(commands);
            if self.then_backup {
                self.step_back(commands);
            }
        }
    }
}

fn is_spent(accounts: &[Account], address: IpAddr) -> bool {
    accounts.iter().any(|account| account.address == address && account.is_spent)
}
