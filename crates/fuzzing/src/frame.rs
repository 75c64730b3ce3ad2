//! A frame that is read and can be written is read back as itself.

use wire::{Frame, L4};

/// The first four bytes are the length on the wire, the rest what was captured.
pub fn check(data: &[u8]) {
    let Some((original_len, packet)) = data.split_first_chunk() else { return };
    let Ok(frame) = Frame::parse(packet, u32::from_be_bytes(*original_len)) else { return };
    if let L4::Tcp(tcp) = &frame.l4 {
        tcp.options.iter().for_each(drop);
    }
    let mut written = Vec::new();
    if frame.emit(&[], &mut written).is_ok() {
        let original_len = written.len() as u32 + frame.payload.len;
        assert_eq!(Frame::parse(&written, original_len), Ok(frame));
    }
}
