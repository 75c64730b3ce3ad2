//! The guard for hosts and routers: the policy of the crate `guard` beside Linux's path manager.

#[cfg(target_os = "linux")]
mod endpoints;
#[cfg(target_os = "linux")]
mod netlink;
mod options;
#[cfg(target_os = "linux")]
mod pings;
#[cfg(target_os = "linux")]
mod subflows;
#[cfg(target_os = "linux")]
mod watch;

use options::Asked;
use std::process::ExitCode;

fn main() -> ExitCode {
    match options::read(std::env::args().skip(1)) {
        Ok(Asked::Say(words)) => {
            print!("{words}");
            ExitCode::SUCCESS
        }
        Ok(Asked::Watch(options)) => run(&options),
        Err(error) => fails(&error),
    }
}

fn fails(error: &str) -> ExitCode {
    eprintln!("mptcplab-guard: {error}");
    ExitCode::from(2)
}

#[cfg(not(target_os = "linux"))]
fn run(_: &options::Options) -> ExitCode {
    fails("only Linux has the path manager that it stands beside")
}

#[cfg(target_os = "linux")]
fn run(options: &options::Options) -> ExitCode {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    let ends = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
        if let Err(error) = signal_hook::flag::register(signal, Arc::clone(&ends)) {
            return fails(&format!("cannot hear signals: {error}"));
        }
    }
    let mut watch = match watch::Watch::new(options.settings.clone(), options.observes) {
        Ok(watch) => watch,
        Err(error) => return fails(&format!("cannot watch MPTCP here: {error}")),
    };
    let outcome = watching(&mut watch, options, || ends.load(Ordering::Relaxed));
    if let Err(error) = watch.restore() {
        return fails(&format!("an endpoint could not be put back, see ip mptcp endpoint: {error}"));
    }
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fails(&error.to_string()),
    }
}

/// How often it looks while nobody has a connection.
#[cfg(target_os = "linux")]
const IDLE_NS: i64 = 250_000_000;

#[cfg(target_os = "linux")]
fn watching(watch: &mut watch::Watch, options: &options::Options, ends: impl Fn() -> bool) -> std::io::Result<()> {
    use std::io::Write;
    use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
    let (begun, mut out) = (Instant::now(), std::io::stdout());
    while !ends() {
        let now = wire::Time::from_nanos(begun.elapsed().as_nanos() as i64);
        for told in watch.step(now)? {
            let at_ns = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as i64);
            let (signal, evidence) = (told.decision.verdict.name(), told.decision.to_string());
            if options.json {
                let row = serde_json::json!({
                    "at_ns": at_ns, "signal": signal, "local_address": told.address.to_string(), "evidence": evidence,
                });
                writeln!(out, "{row}")?;
            } else {
                let seconds = now.as_nanos() as f64 / 1e9;
                let would = if options.observes { " (only observed)" } else { "" };
                writeln!(out, "{seconds:9.3} s  {} {}{would}: {evidence}", told.address, &signal["guard-".len()..])?;
            }
            out.flush()?;
        }
        let wait_ns = if watch.is_busy() { guard::TICK_NS } else { IDLE_NS };
        std::thread::sleep(Duration::from_nanos(wait_ns as u64));
    }
    Ok(())
}
