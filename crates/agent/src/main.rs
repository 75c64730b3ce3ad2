//! The guard for hosts and routers: the policy of the crate `guard` beside Linux's path manager.

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
        Ok(Asked::Say(words)) => {
            let _ = write!(std::io::stdout(), "{words}");
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
    let mut watch = match begun(options) {
        Ok(watch) => watch,
        Err(error) => return fails(&error),
    };
    let repair = options.routes.then(|| repair::Repair::new(options.observes)).transpose();
    let mut repair = match repair {
        Ok(repair) => repair,
        Err(error) => return fails(&format!("routes cannot be looked at: {error}")),
    };
    say(&begins(&watch, options.observes));
    let mut tally = Tally::default();
    let outcome = watching(&mut watch, &mut repair, options, &mut tally, || ends.load(Ordering::Relaxed));
    let failed = watch.restore();
    let routes = repair.as_mut().map_or(Ok(()), repair::Repair::end);
    say(&tally.said(options.observes, &failed));
    match outcome.and(routes) {
        _ if !failed.is_empty() => fails(&format!("not put back: {}; see ip mptcp endpoint", failed.join(", "))),
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fails(&error.to_string()),
    }
}

#[cfg(target_os = "linux")]
type Watch = watch::Watch<linux::Linux>;

#[cfg(target_os = "linux")]
fn begun(options: &options::Options) -> Result<Watch, String> {
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
    Watch::new(kernel, options.settings.clone(), kept, left, options.observes).map_err(|error| error.to_string())
}

/// What it does and watches, in a line.
#[cfg(target_os = "linux")]
fn begins(watch: &Watch, observes: bool) -> String {
    let paths: Vec<_> = watch
        .paths()
        .map(|(address, interface, is_left)| {
            let interface = if interface.is_empty() { "no interface" } else { interface };
            let left = if is_left { ", left by an earlier guard" } else { "" };
            format!("{address} ({interface}{left})")
        })
        .collect();
    let does = if observes {
        "only reports what it would do"
    } else {
        "takes paths that have gone bad out of use, until they answer again"
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
const COSTS_PARTS: u32 = 200;
/// But as often as this.
#[cfg(target_os = "linux")]
const LONGEST: std::time::Duration = std::time::Duration::from_millis(100);

/// What was decided in all.
#[cfg(target_os = "linux")]
#[derive(Default)]
struct Tally {
    suspicions: usize,
    suspended: usize,
    resumed: usize,
}

#[cfg(target_os = "linux")]
impl Tally {
    fn count(&mut self, verdict: guard::Verdict) {
        match verdict {
            guard::Verdict::Suspect => self.suspicions += 1,
            guard::Verdict::Suspended => self.suspended += 1,
            guard::Verdict::Resumed => self.resumed += 1,
            guard::Verdict::Cleared => {}
        }
    }

    fn said(&self, observes: bool, failed: &[String]) -> String {
        let Tally { suspicions, suspended, resumed } = self;
        let end = match (observes, failed.is_empty()) {
            (true, _) => "nothing was touched",
            (false, true) => "endpoints are as they were found",
            (false, false) => "some endpoints are missing",
        };
        format!("{suspicions} suspected, {suspended} suspended, {resumed} resumed; {end}")
    }
}

#[cfg(target_os = "linux")]
fn watching(
    watch: &mut Watch,
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
        for decided in watch.step(now)? {
            tally.count(decided.decision.verdict);
            let at_ns = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i64);
            let (signal, evidence) = (decided.decision.verdict.name(), decided.decision.to_string());
            if options.json {
                let row = serde_json::json!({
                    "at_ns": at_ns, "signal": signal, "local_address": decided.address.to_string(), "evidence": evidence,
                });
                writeln!(out, "{row}")?;
            } else {
                let seconds = now.as_nanos() as f64 / 1e9;
                let would = if options.observes { " (only observed)" } else { "" };
                let verdict = &signal["guard-".len()..];
                writeln!(
                    out,
                    "{seconds:9.3} s  {} ({}) {verdict}{would}: {evidence}",
                    decided.address, decided.interface
                )?;
            }
            out.flush()?;
        }
        let mut notes = watch.notes();
        if let Some(repair) = repair {
            notes.extend(repair.step(now, &watch.addresses())?);
        }
        for note in notes {
            say(&note);
        }
        cost = (cost * 31 + taken().saturating_sub(looks)) / 32;
        // Probes are rare, and have their time.
        let spacing = if watch.is_probing() { Duration::ZERO } else { (cost * COSTS_PARTS).min(LONGEST) };
        std::thread::sleep(spacing.max(Duration::from_nanos(watch.pause_ns(now) as u64)));
    }
    Ok(())
}

/// What this program has taken of a processor; what others take is none of its cost.
#[cfg(target_os = "linux")]
fn taken() -> std::time::Duration {
    let taken = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    taken.try_into().unwrap_or_default()
}
