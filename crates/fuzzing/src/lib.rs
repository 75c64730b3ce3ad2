//! What must hold whatever comes from outside: a module for each fuzz target in `fuzz`, whose `check` panics where it does not.
//!
//! The test `kept` runs the inputs that are kept in `fuzz/seeds` and `fuzz/kept` without a fuzzer.

pub mod analysis;
pub mod anonymise;
pub mod convert;
pub mod endpoint;
pub mod frame;
pub mod link;
pub mod mptcp_option;
pub mod pcap;
pub mod pcapng;
pub mod quic;
mod reading;
