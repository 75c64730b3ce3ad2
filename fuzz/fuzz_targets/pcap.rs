//! A pcap, read whole and byte by byte, gives the same observations, each packet accounted for.
#![no_main]

use libfuzzer_sys::fuzz_target;

mod reading;

fuzz_target!(|data: &[u8]| reading::check(data));
