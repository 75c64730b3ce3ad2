//! What passes the devices, as a pcapng.

use capture::Writer;
use emulator::Tap;
use std::fs::File;
use std::io;
use std::path::Path;
use wire::{CaptureDirection, Time};

pub struct Recorder {
    writer: Writer<File>,
}

impl Recorder {
    pub fn new(path: &Path, devices: &[String]) -> io::Result<Recorder> {
        let mut writer = Writer::new(File::create(path)?, "ours")?;
        for device in devices {
            writer.interface(device)?;
        }
        Ok(Recorder { writer })
    }

    pub fn finish(self) -> io::Result<()> {
        self.writer.finish(&[])?.sync_all()
    }
}

impl Tap for Recorder {
    fn passed(&mut self, at: Time, device: usize, direction: CaptureDirection, bytes: &[u8]) {
        let written = self.writer.packet(device as u32, at, Some(direction), bytes.len() as u32, bytes);
        written.expect("the capture can be written");
    }
}
