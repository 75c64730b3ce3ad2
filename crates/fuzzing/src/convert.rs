//! A message of the Convert Protocol.

use wire::convert::{HEADER_BYTES, MOST_BYTES, message, message_len, tlvs};

/// What is read is written as it was, but for reserved fields and padding, and is then read as the same.
pub fn check(data: &[u8]) {
    if let Some(&header) = data.first_chunk()
        && let Ok(length) = message_len(header)
    {
        assert!((HEADER_BYTES..=MOST_BYTES).contains(&length));
    }
    let after = &data[HEADER_BYTES.min(data.len())..];
    let Ok(read) = tlvs(after).collect::<Result<Vec<_>, _>>() else { return };
    let Ok(written) = message(&read) else {
        assert!(after.len() > MOST_BYTES - HEADER_BYTES, "what fits is written");
        return;
    };
    let header = written.first_chunk().expect("a header");
    assert_eq!(message_len(*header), Ok(written.len()));
    let again: Result<Vec<_>, _> = tlvs(&written[HEADER_BYTES..]).collect();
    assert_eq!(again, Ok(read));
}
