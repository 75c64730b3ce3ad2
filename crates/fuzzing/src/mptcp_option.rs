//! Whatever option is read can be written, and is read back as itself.

use wire::Options;
use wire::mptcp::Mptcp;

/// The options of a header, and one option without its kind and length.
pub fn check(data: &[u8]) {
    if let Ok(options) = Options::from_bytes(data) {
        for option in options.iter().flatten() {
            let mut written = Options::NONE;
            written.push(&option).expect("an option of a header fits into a header");
            assert_eq!(written.iter().collect::<Vec<_>>(), [Ok(option)]);
        }
    }
    // The same without the frame of a header, and longer than one.
    if let Ok(option) = Mptcp::parse(data) {
        let mut written = vec![0; data.len()];
        let len = option.emit(&mut written).expect("what was read has bytes");
        assert_eq!(Mptcp::parse(&written[..len]), Ok(option));
    }
}
