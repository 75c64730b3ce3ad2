//! Every input that was kept passes the check of its fuzz target.
#![expect(clippy::disallowed_methods, reason = "a test may read files")]

use std::path::{Path, PathBuf};

fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten();
    let mut files: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}

fn run(target: &str, check: fn(&[u8])) {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let inputs: Vec<_> = ["seeds", "kept"].iter().flat_map(|kept| files(&fuzz.join(kept).join(target))).collect();
    assert!(!inputs.is_empty(), "no inputs for {target}");
    for input in inputs {
        println!("{}", input.display());
        check(&std::fs::read(&input).expect("an input"));
    }
}

macro_rules! targets {
    ($($target:ident)*) => {
        $(#[test]
        fn $target() {
            run(stringify!($target), fuzzing::$target::check);
        })*

        #[test]
        fn every_target_is_here() {
            let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/fuzz_targets");
            let targets: Vec<_> = files(&fuzz).iter().map(|file| file.file_stem().unwrap().to_owned()).collect();
            assert_eq!(targets, [$(stringify!($target)),*]);
        }
    };
}

targets! { analysis anonymise convert endpoint frame link mptcp_option pcap pcapng quic }
