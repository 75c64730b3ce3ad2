//! A transfer between a host of ours and this machine's kernel.
//!
//! `contact PLAN.json` reads a [`plan::Plan`], makes its devices, says `ready`, begins when a line comes on standard
//! input, and prints what became of it as JSON.

#[cfg(target_os = "linux")]
mod exchange;
#[cfg(target_os = "linux")]
mod plan;
#[cfg(target_os = "linux")]
mod recorder;
#[cfg(target_os = "linux")]
mod run;

use std::process::ExitCode;

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    eprintln!("needs Linux");
    ExitCode::FAILURE
}

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("contact PLAN.json");
        return ExitCode::from(2);
    };
    match run::run(&path) {
        Ok(report) => println!("{report}"),
        Err(error) => {
            eprintln!("{path}: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
