//! A converter between TCP and MPTCP, for hosts that have paths and stand before hosts that have none.

#[cfg(target_os = "linux")]
mod answer;
#[cfg(target_os = "linux")]
mod ask;
#[cfg(target_os = "linux")]
mod cookies;
#[cfg(target_os = "linux")]
mod networks;
mod options;
#[cfg(target_os = "linux")]
mod relay;
#[cfg(target_os = "linux")]
mod serve;
#[cfg(target_os = "linux")]
mod sockets;

use options::Asked;
use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    match options::read(std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned())) {
        Ok(Asked::Say(text)) => {
            let _ = write!(std::io::stdout(), "{text}");
            ExitCode::SUCCESS
        }
        Ok(Asked::Convert(options)) => run(options),
        Err(error) => fails(&error),
    }
}

/// Writes a line for people, if there is anybody to read it.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "mptcplab-convert: {line}");
}

fn fails(error: &str) -> ExitCode {
    say(error);
    ExitCode::from(2)
}

#[cfg(not(target_os = "linux"))]
fn run(_: options::Options) -> ExitCode {
    fails("only Linux has the sockets that it needs")
}

#[cfg(target_os = "linux")]
fn run(options: options::Options) -> ExitCode {
    use signal_hook::consts as signals;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    let ends = Arc::new(AtomicBool::new(false));
    for signal in [signals::SIGINT, signals::SIGTERM, signals::SIGHUP] {
        if let Err(error) = signal_hook::flag::register(signal, Arc::clone(&ends)) {
            return fails(&format!("cannot hear signals: {error}"));
        }
    }
    match serve::serve(options, ends) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fails(&error),
    }
}
