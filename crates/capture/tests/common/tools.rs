//! Wireshark's command line tools, where they are installed.

use std::path::{Path, PathBuf};
use std::process::Command;

/// What a tool prints; nothing, said on stderr, where it is not installed.
pub fn run(tool: &str, arguments: &[&str]) -> Option<String> {
    let output = match Command::new(tool).args(arguments).output() {
        Ok(output) => output,
        Err(error) => {
            eprintln!("SKIPPED: {tool} cannot be run ({error}); install wireshark-common and tshark");
            return None;
        }
    };
    assert!(output.status.success(), "{tool} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).expect("text"))
}

/// A directory of its own for a test, emptied.
pub fn directory(test: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).expect("a directory for the test");
    directory
}

/// A path as text.
pub fn text(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}
