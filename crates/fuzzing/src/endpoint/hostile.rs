//! What stands between two endpoints.

use arbitrary::{Result, Unstructured};
use std::collections::VecDeque;
use wire::{Frame, L4, Options, Packet, Payload, Tcp};

/// Packets under way, and packets seen, at most.
const MOST: usize = 128;

#[derive(Default)]
pub struct Middle {
    /// The end that each is for, and its bytes.
    flying: VecDeque<(usize, Packet, Vec<u8>)>,
    seen: VecDeque<(usize, Packet)>,
    /// Whether anything was altered or made up.
    pub tampered: bool,
}

impl Middle {
    /// A packet for `to` was sent.
    pub fn take(&mut self, to: usize, packet: &Packet, bytes: Vec<u8>) {
        if self.seen.len() == MOST {
            self.seen.pop_front();
        }
        self.seen.push_back((to, packet.clone()));
        if self.flying.len() < MOST {
            self.flying.push_back((to, packet.clone(), bytes));
        }
    }

    /// The next packet as it was sent.
    pub fn oldest(&mut self) -> Option<(usize, Packet)> {
        self.flying.pop_front().map(|(to, packet, _)| (to, packet))
    }

    /// Does something to a packet under way, and lets it arrive or not.
    pub fn next(&mut self, input: &mut Unstructured) -> Result<Option<(usize, Packet)>> {
        if self.flying.is_empty() {
            return Ok(None);
        }
        match input.int_in_range(0..=7)? {
            0..=2 => Ok(self.oldest()),
            3 => {
                let index = input.choose_index(self.flying.len())?;
                Ok(self.flying.remove(index).map(|(to, packet, _)| (to, packet)))
            }
            4 => {
                let index = input.choose_index(self.flying.len())?;
                self.flying.remove(index);
                Ok(None)
            }
            5 => {
                let index = input.choose_index(self.flying.len())?;
                Ok(self.flying.get(index).map(|(to, packet, _)| (*to, packet.clone())))
            }
            6 => self.garble(input),
            _ => {
                let Some((to, mut packet)) = self.oldest() else { return Ok(None) };
                self.alter(&mut packet, input)?;
                Ok(Some((to, packet)))
            }
        }
    }

    /// Flips a byte of the headers, whatever it means.
    fn garble(&mut self, input: &mut Unstructured) -> Result<Option<(usize, Packet)>> {
        self.tampered = true;
        let Some((to, _, mut bytes)) = self.flying.pop_front() else { return Ok(None) };
        let index = input.choose_index(bytes.len().min(100))?;
        bytes[index] ^= input.int_in_range(1..=255)?;
        let Ok(frame) = Frame::parse(&bytes, bytes.len() as u32) else { return Ok(None) };
        let body = bytes[bytes.len() - (frame.payload.len as usize).min(bytes.len())..].into();
        Ok(Some((to, Packet { frame, body: Some(body) })))
    }

    /// A segment of a subflow that was seen, or of none.
    pub fn forge(&mut self, to: usize, input: &mut Unstructured) -> Result<Option<Packet>> {
        let known = self.seen.iter().filter(|(other, _)| *other == to).count();
        if known == 0 {
            return Ok(None);
        }
        let index = known - 1 - input.choose_index(known)?;
        let Some((_, packet)) = self.seen.iter().filter(|(other, _)| *other == to).nth(index) else { return Ok(None) };
        let mut packet = packet.clone();
        self.alter(&mut packet, input)?;
        Ok(Some(packet))
    }

    fn alter(&mut self, packet: &mut Packet, input: &mut Unstructured) -> Result<()> {
        self.tampered = true;
        let L4::Tcp(tcp) = &mut packet.frame.l4 else { return Ok(()) };
        let what: u8 = input.arbitrary()?;
        if what & 1 != 0 {
            tcp.flags.0 = input.arbitrary()?;
        }
        if what & 2 != 0 {
            tcp.seq = number(tcp.seq, input)?;
        }
        if what & 4 != 0 {
            tcp.ack = number(tcp.ack, input)?;
        }
        if what & 8 != 0 {
            tcp.window = input.arbitrary()?;
        }
        if what & 16 != 0 {
            self.options(tcp, input)?;
        }
        if what & 32 != 0 {
            packet.frame.payload = Payload::unsaid(input.int_in_range(0..=3000)?);
            packet.body = None;
        }
        if what & 64 != 0 {
            tcp.source_port = tcp.source_port.wrapping_add(u16::from(input.arbitrary::<u8>()?));
        }
        Ok(())
    }

    /// Other options: those of a packet that was seen, bytes of them changed, or any at all.
    fn options(&self, tcp: &mut Tcp, input: &mut Unstructured) -> Result<()> {
        let mut bytes = match input.int_in_range(0..=2)? {
            0 => Vec::new(),
            1 => tcp.options.as_bytes().to_vec(),
            _ => match &self.seen[self.seen.len() - 1 - input.choose_index(self.seen.len())?].1.frame.l4 {
                L4::Tcp(other) => other.options.as_bytes().to_vec(),
                _ => Vec::new(),
            },
        };
        if bytes.is_empty() {
            let len = 4 * input.int_in_range(0..=10)?;
            bytes = input.bytes(len.min(input.len() / 4 * 4))?.to_vec();
        } else if input.arbitrary()? {
            let index = input.choose_index(bytes.len())?;
            bytes[index] = input.arbitrary()?;
        }
        if let Ok(options) = Options::from_bytes(&bytes) {
            tcp.options = options;
        }
        Ok(())
    }
}

/// Near what it was, or anywhere.
fn number(value: u32, input: &mut Unstructured) -> Result<u32> {
    Ok(match input.int_in_range(0..=2)? {
        0 => value.wrapping_add_signed(i32::from(input.arbitrary::<i8>()?)),
        1 => value.wrapping_add_signed(i32::from(input.arbitrary::<i16>()?)),
        _ => input.arbitrary()?,
    })
}
