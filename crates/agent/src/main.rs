//! The guard for hosts and routers: the policy of the crate `guard` beside Linux's path manager, or a path manager of the crate `transport`.

#[cfg(target_os = "linux")]
mod addresses;
#[cfg(target_os = "linux")]
mod endpoints;
#[cfg(target_os = "linux")]
mod flows;
#[cfg(target_os = "linux")]
mod handshakes;
#[cfg(target_os = "linux")]
mod kept;
#[cfg(target_os = "linux")]
mod kernel;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod netlink;
mod options;
#[cfg(target_os = "linux")]
mod pings;
#[cfg(all(test, target_os = "linux"))]
mod played;
#[cfg(target_os = "linux")]
mod policy;
#[cfg(target_os = "linux")]
mod probes;
#[cfg(target_os = "linux")]
mod repair;
#[cfg(target_os = "linux")]
mod routes;
#[cfg(target_os = "linux")]
mod signals;
#[cfg(target_os = "linux")]
mod subflows;
#[cfg(target_os = "linux")]
mod targets;
#[cfg(target_os = "linux")]
mod watch;

use options::Asked;
use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    match options::read(std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned())) {
        Ok(Asked::Say(text)) => {
            let _ = write!(std::io::stdout(), "{text}");
            ExitCode::SUCCESS
        }
        Ok(Asked::Watch(options)) => run(&options),
        Err(error) => fails(&error),
    }
}

/// Writes a line for people, if there is anybody to read it.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "mptcplab-guard: {line}");
}

fn fails(error: &str) -> ExitCode {
    say(error);
    ExitCode::from(2)
}

#[cfg(not(target_os = "linux"))]
fn run(_: &options::Options) -> ExitCode {
    fails("only Linux has the path manager that it stands beside")
}

#[cfg(target_os = "linux")]
fn run(options: &options::Options) -> ExitCode {
    use signal_hook::consts as signals;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    let ends = Arc::new(AtomicBool::new(false));
    // All that end a program unless it says otherwise, and that it may.
    for signal in [
        signals::SIGINT,
        signals::SIGTERM,
        signals::SIGHUP,
        signals::SIGQUIT,
        signals::SIGUSR1,
        signals::SIGUSR2,
        signals::SIGALRM,
        signals::SIGVTALRM,
        signals::SIGPROF,
        signals::SIGXCPU,
        signals::SIGXFSZ,
    ] {
        if let Err(error) = signal_hook::flag::register(signal, Arc::clone(&ends)) {
            return fails(&format!("cannot hear signals: {error}"));
        }
    }
    let mut work = match begun(options) {
        Ok(work) => work,
        Err(error) => return fails(&error),
    };
    let mut repair = match repairing(options) {
        Ok(repair) => repair,
        Err(error) => return fails(&format!("routes cannot be looked at: {error}")),
    };
    say(&begins(&work, options));
    if let Work::Policy(policy) = &work
        && let strangers @ [_, ..] = policy.strangers().as_slice()
    {
        say(&format!("no path goes over {}: its budget or cost counts once one does", strangers.join(" or ")));
    }
    let mut tally = Tally::default();
    let outcome = watching(&mut work, &mut repair, options, &mut tally, || ends.load(Ordering::Relaxed));
    let failed = work.restore();
    let routes = repair.as_mut().map_or(Ok(()), repair::Repair::end);
    say(&tally.said(options, &failed));
    match outcome.and(routes) {
        _ if !failed.is_empty() => fails(&format!("not put back: {}; see ip mptcp endpoint", failed.join(", "))),
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fails(&error.to_string()),
    }
}

#[cfg(target_os = "linux")]
type Watch = watch::Watch<linux::Linux>;
#[cfg(target_os = "linux")]
type Policy = policy::Policy<linux::Linux>;

/// What is done of it.
#[cfg(target_os = "linux")]
enum Work {
    Guard(Box<Watch>),
    Policy(Box<Policy>),
}

#[cfg(target_os = "linux")]
impl Work {
    /// Looks and acts; gives what was decided.
    fn step(&mut self, now: wire::Time) -> std::io::Result<Vec<policy::Ordered>> {
        let named = |watch::Decided { address, interface, decision }| policy::Ordered {
            address,
            interface,
            signal: decision.verdict.name(),
            evidence: decision.to_string(),
        };
        match self {
            Work::Guard(watch) => Ok(watch.step(now)?.into_iter().map(named).collect()),
            Work::Policy(policy) => policy.step(now),
        }
    }

    fn notes(&mut self) -> Vec<String> {
        match self {
            Work::Guard(watch) => watch.notes(),
            Work::Policy(policy) => policy.notes(),
        }
    }

    fn addresses(&self) -> Vec<kernel::Address> {
        match self {
            Work::Guard(watch) => watch.addresses(),
            Work::Policy(policy) => policy.addresses(),
        }
    }

    fn pause_ns(&self, now: wire::Time) -> i64 {
        match self {
            Work::Guard(watch) => watch.pause_ns(now),
            Work::Policy(_) => policy::TICK_NS,
        }
    }

    fn is_probing(&self) -> bool {
        matches!(self, Work::Guard(watch) if watch.is_probing())
    }

    fn restore(&mut self) -> Vec<String> {
        match self {
            Work::Guard(watch) => watch.restore(),
            Work::Policy(policy) => policy.restore(),
        }
    }

    /// What it watches.
    fn paths(&self) -> Vec<String> {
        let known =
            |interface: &str| if interface.is_empty() { "no interface".to_owned() } else { interface.to_owned() };
        match self {
            Work::Guard(watch) => watch
                .paths()
                .map(|(address, interface, is_left)| {
                    let left = if is_left { ", left by an earlier guard" } else { "" };
                    format!("{address} ({}{left})", known(interface))
                })
                .collect(),
            Work::Policy(policy) => {
                policy.paths().map(|(address, interface)| format!("{address} ({})", known(interface))).collect()
            }
        }
    }
}

#[cfg(target_os = "linux")]
fn begun(options: &options::Options) -> Result<Work, String> {
    let kernel = linux::Linux::new(options.signals.clone()).map_err(|error| match error.kind() {
        std::io::ErrorKind::PermissionDenied => "this needs CAP_NET_ADMIN: run it as root".to_owned(),
        _ => error.to_string(),
    })?;
    let (kept, left) = if options.observes {
        (None, Vec::new())
    } else {
        let state = options.state.clone().map_or_else(kept::usual, Ok).map_err(|error| error.to_string())?;
        let (kept, left) = kept::Kept::open(&state).map_err(|error| error.to_string())?;
        (Some(kept), left)
    };
    if let Some((settings, plans)) = options.policy.clone() {
        return Policy::new(kernel, settings, plans, kept, left, options.observes)
            .map(|made| Work::Policy(Box::new(made)));
    }
    let watch = Watch::new(kernel, options.settings.clone(), kept, left, options.observes);
    watch.map(|made| Work::Guard(Box::new(made))).map_err(|error| error.to_string())
}

/// What keeps routes, if that is asked for; else those that a killed one left are removed.
#[cfg(target_os = "linux")]
fn repairing(options: &options::Options) -> std::io::Result<Option<repair::Repair>> {
    let repair = repair::Repair::new(options.observes);
    if options.routes {
        return repair.map(Some);
    }
    // A kernel without rules, for example, is no reason not to begin.
    if let Err(error) = repair.and_then(|mut repair| repair.end()) {
        say(&format!("routes that an earlier guard left, if any, stay: {error}"));
    }
    Ok(None)
}

/// What it does and watches, in a line.
#[cfg(target_os = "linux")]
fn begins(work: &Work, options: &options::Options) -> String {
    let paths = work.paths();
    let does = match &options.policy {
        _ if options.observes => "only reports what it would do".to_owned(),
        Some((settings, _)) => format!("opens and closes paths by the policy {}", settings.name),
        None => "takes paths that have gone bad out of use, until they answer again".to_owned(),
    };
    let watches = if paths.is_empty() {
        "no endpoint yet: ip mptcp endpoint add ADDRESS dev INTERFACE subflow".to_owned()
    } else {
        paths.join(", ")
    };
    let is = |name: &str, value: &str| {
        std::fs::read_to_string(format!("/proc/sys/net/mptcp/{name}")).is_ok_and(|text| text.trim() == value)
    };
    let but = if is("enabled", "0") {
        "; MPTCP is switched off here, see net.mptcp.enabled"
    } else if is("pm_type", "1") {
        "; connections that begin now do not use endpoints, see net.mptcp.pm_type"
    } else {
        ""
    };
    format!("{does}; watches {watches}{but}")
}

/// Where a look takes long it looks less often: one part of a core in so many.
#[cfg(target_os = "linux")]
const COSTS_PARTS: u32 = 250;
/// But as often as this.
#[cfg(target_os = "linux")]
const LONGEST: std::time::Duration = std::time::Duration::from_millis(100);

/// What was decided in all.
#[cfg(target_os = "linux")]
#[derive(Default)]
struct Tally {
    counts: std::collections::HashMap<&'static str, usize>,
}

#[cfg(target_os = "linux")]
impl Tally {
    fn count(&mut self, signal: &'static str) {
        *self.counts.entry(signal).or_default() += 1;
    }

    fn said(&self, options: &options::Options, failed: &[String]) -> String {
        let of = |signal| self.counts.get(signal).copied().unwrap_or_default();
        let done = if options.policy.is_some() {
            format!("{} opened, {} closed", of("path-opened"), of("path-closed"))
        } else {
            let [suspected, suspended, resumed] = ["guard-suspect", "guard-suspended", "guard-resumed"].map(of);
            format!("{suspected} suspected, {suspended} suspended, {resumed} resumed")
        };
        let end = match (options.observes, failed.is_empty()) {
            (true, _) => "nothing was touched",
            (false, true) => "endpoints are as they were found",
            (false, false) => "some endpoints are missing",
        };
        format!("{done}; {end}")
    }
}

#[cfg(target_os = "linux")]
fn watching(
    work: &mut Work,
    repair: &mut Option<repair::Repair>,
    options: &options::Options,
    tally: &mut Tally,
    ends: impl Fn() -> bool,
) -> std::io::Result<()> {
    use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
    let (begun, mut out) = (Instant::now(), std::io::stdout());
    // What a look takes as a rule; a long list of subflows in between counts for its part.
    let mut cost = Duration::ZERO;
    while !ends() {
        let looks = taken();
        let now = wire::Time::from_nanos(begun.elapsed().as_nanos() as i64);
        for policy::Ordered { address, interface, signal, evidence } in work.step(now)? {
            tally.count(signal);
            let at_ns = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i64);
            if options.json {
                let row = serde_json::json!({
                    "at_ns": at_ns, "signal": signal, "local_address": address.to_string(), "evidence": evidence,
                });
                writeln!(out, "{row}")?;
            } else {
                let seconds = now.as_nanos() as f64 / 1e9;
                let would = if options.observes { " (only observed)" } else { "" };
                let verdict = signal.split_once('-').map_or(signal, |(_, verdict)| verdict);
                writeln!(out, "{seconds:9.3} s  {address} ({interface}) {verdict}{would}: {evidence}")?;
            }
            out.flush()?;
        }
        let mut notes = work.notes();
        if let Some(repair) = repair {
            notes.extend(repair.step(now, &work.addresses())?);
        }
        for note in notes {
            say(&note);
        }
        cost = (cost * 31 + taken().saturating_sub(looks)) / 32;
        // Probes are rare, and have their time.
        let spacing = if work.is_probing() { Duration::ZERO } else { (cost * COSTS_PARTS).min(LONGEST) };
        std::thread::sleep(spacing.max(Duration::from_nanos(work.pause_ns(now) as u64)));
    }
    Ok(())
}

/// What this program has taken of a processor; what others take is none of its cost.
#[cfg(target_os = "linux")]
fn taken() -> std::time::Duration {
    let taken = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    taken.try_into().unwrap_or_default()
}
