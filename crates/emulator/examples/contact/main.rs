//! A transfer between a host of ours and this machine's kernel.
//!
//! `contact PLAN.json` reads a [`plan::Plan`], makes its devices, says `ready`, begins when a line comes on standard
//! input, and prints what became of it as JSON.
#![cfg_attr(not(target_os = "linux"), allow(dead_code, unused_imports))]

mod exchange;
mod plan;
mod recorder;
mod run;

use std::process::ExitCode;

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
