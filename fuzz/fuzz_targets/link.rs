#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzzing::link::check(data));
