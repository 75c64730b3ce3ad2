//! A pcapng, read whole and byte by byte, gives the same observations, each packet accounted for.
#![no_main]

use libfuzzer_sys::fuzz_target;

mod reading;

// What begins otherwise would be a matter of the target `pcap`.
fuzz_target!(|data: &[u8]| {
    if data.starts_with(b"\x0a\x0d\x0d\x0a") {
        reading::check(data);
    }
});
