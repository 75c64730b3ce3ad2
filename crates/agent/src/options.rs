//! The command line.

use guard::Settings;
use parameters::{Fault, Parameters, Table};
use serde_json::Value;
use std::collections::HashMap;
use std::path::PathBuf;
use transport::path_manager;

pub const USAGE: &str = "\
usage: mptcplab-guard [--policy NAME [--plans JSON]] [--observe] [--routes] [--json] [--parameters JSON] [--signals FILE] [--state FILE]

Watches the paths of this host's MPTCP connections, which are its endpoints (ip mptcp endpoint). Where one has gone bad it is
taken out of use, and put back once it answers again; when this program ends, all are as they were. If it is killed, the next one
does that. Needs CAP_NET_ADMIN, and CAP_NET_RAW where net.ipv4.ping_group_range does not allow pings.

  --policy NAME       opens and closes paths by a policy instead: budget, maps, offload or on-demand (mptcplab path-managers)
  --plans JSON        what an interface may carry and costs, of use with budget: INTERFACE: {budget_bytes, cost_per_mb}
  --observe           only say what would be done
  --routes            keep a table of routes and a rule for each path's address, too: what comes from it goes over its interface
  --json              a line of JSON for each decision: rows of mptcplab's table signals
  --parameters JSON   what is set of the guard or the policy, as in a scenario's path_manager_parameters, times in nanoseconds
  --signals FILE      what radios hear, a line INTERFACE DBM each, read twice a second; else /proc/net/wireless, which knows Wi-Fi.
                      Of use with leave_below
  --state FILE        where it is kept what is out of use; else in /run/mptcplab-guard, for each network namespace
  --version           say which version this is
";

/// Policies of which the kernel has none like it, and that need no more of it than endpoints.
const POLICIES: [&str; 4] = ["budget", "maps", "offload", "on-demand"];

/// What an interface may carry and costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Plan {
    /// Bytes, both ways together.
    pub budget_bytes: Option<u64>,
    /// Of a megabyte, both ways together.
    pub cost_per_mb: f64,
}

/// What was asked for.
pub struct Options {
    pub observes: bool,
    pub routes: bool,
    pub json: bool,
    pub settings: Settings,
    /// Instead of the guard, and what interfaces may carry.
    pub policy: Option<(path_manager::Settings, HashMap<String, Plan>)>,
    pub signals: Option<PathBuf>,
    pub state: Option<PathBuf>,
}

/// What is to be done.
pub enum Asked {
    Watch(Box<Options>),
    Say(String),
}

/// Reads them.
pub fn read(mut arguments: impl Iterator<Item = String>) -> Result<Asked, String> {
    let (mut observes, mut routes, mut json, mut table) = (false, false, false, Table::new());
    let (mut signals, mut state, mut policy, mut plans) = (None, None, None, HashMap::new());
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--observe" => observes = true,
            "--routes" => routes = true,
            "--json" => json = true,
            "--parameters" => {
                let text = arguments.next().ok_or("--parameters needs a table in JSON")?;
                table = match serde_json::from_str(&text) {
                    Ok(Value::Object(table)) => table,
                    Ok(_) => return Err("--parameters: not a table".into()),
                    Err(error) => return Err(format!("--parameters: {error}")),
                };
            }
            "--policy" => {
                let name = arguments.next().unwrap_or_default();
                if !POLICIES.contains(&name.as_str()) {
                    return Err(format!("--policy needs one of {}", POLICIES.join(", ")));
                }
                policy = Some(name);
            }
            "--plans" => {
                let text = arguments.next().ok_or("--plans needs a table in JSON")?;
                plans = serde_json::from_str(&text).map_err(|error| format!("--plans: {error}"))?;
            }
            "--signals" => signals = Some(PathBuf::from(arguments.next().ok_or("--signals needs a file")?)),
            "--state" => state = Some(PathBuf::from(arguments.next().ok_or("--state needs a file")?)),
            "--version" => return Ok(Asked::Say(format!("mptcplab-guard {}\n", env!("CARGO_PKG_VERSION")))),
            "--help" | "-h" => return Ok(Asked::Say(USAGE.into())),
            _ => return Err(format!("unknown argument {argument}; try --help")),
        }
    }
    let wrong = |fault: Fault| format!("--parameters: {} {}", fault.parameter, fault.message);
    let (settings, policy) = match policy {
        None => (Settings::read(&table, None).and_then(Settings::check).map_err(wrong)?, None),
        Some(name) => {
            // The kernel has limits of its own.
            let own = path_manager::Settings { name, parameters: table, max_subflows: u32::MAX, ..Default::default() };
            path_manager::build(&own).map_err(|error| format!("--parameters: {error}"))?;
            (Settings::read(&Table::new(), None).map_err(wrong)?, Some((own, plans)))
        }
    };
    Ok(Asked::Watch(Box::new(Options { observes, routes, json, settings, policy, signals, state })))
}
