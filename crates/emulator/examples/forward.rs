//! Moves packets between two devices, with nothing between them: what the devices allow at most.
//!
//! `forward MODE NAMESPACE DEVICE NAMESPACE DEVICE`, a namespace as a file such as `/proc/PID/ns/net`, a device as the
//! name of a TUN device or as `NAME=MAC`, an end of a veth pair and the other's address; until standard input ends.
//! Modes: `bare` and `bare-offload` read and write without looking at what they move, `none`, `split` and `merge` do so
//! through [`emulator::device::Device`], in batches as link threads do.

use emulator::device::{Device, Offload};
use emulator::{Error, within};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, read, write};
use std::fs::File;
use std::os::fd::AsFd;

/// Frames, or packets where they are looked at, that are taken from one device before it is the other's turn.
const BATCH: usize = 32;
/// More than any frame.
const ROOM: usize = 1 << 17;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [mode, rest @ ..] = &arguments[..] else { return Err("see the source".into()) };
    let [one, one_name, two, two_name] = rest else { return Err("two namespaces with a device each".into()) };
    let offload = match mode.as_str() {
        "bare" | "none" => Offload::None,
        "split" => Offload::Split,
        "bare-offload" | "merge" => Offload::SplitAndMerge,
        _ => return Err("no such mode".into()),
    };
    let open = |namespace: &String, name: &str| -> Result<Device, Box<dyn std::error::Error>> {
        let namespace = File::open(namespace)?;
        Ok(match name.split_once('=') {
            None => within(namespace.as_fd(), || Device::tun(name, offload))?,
            Some((name, mac)) => {
                let bytes: Result<Vec<u8>, _> = mac.split(':').map(|two| u8::from_str_radix(two, 16)).collect();
                let peer = bytes?.try_into().map_err(|_| "no MAC address")?;
                within(namespace.as_fd(), || Device::packet(name, peer, offload))?
            }
        })
    };
    let mut devices = [open(one, one_name)?, open(two, two_name)?];
    println!("ready");
    let is_bare = mode.starts_with("bare");
    // GSO packets one by one: more than one would not stay in the cache.
    let room = if offload == Offload::None { ROOM / BATCH } else { ROOM };
    let mut packets = Vec::new();
    let mut buffer = vec![0; ROOM];
    loop {
        let mut moved = false;
        for from in 0..2 {
            moved |= match is_bare {
                true => bare(&devices[from], &devices[1 - from], &mut buffer, room)?,
                false => forward(&mut devices, from, &mut packets)?,
            };
        }
        if !moved && wait(&devices)? {
            return Ok(());
        }
    }
}

fn bare(from: &Device, to: &Device, buffer: &mut [u8], room: usize) -> Result<bool, Errno> {
    let mut frames = Vec::with_capacity(BATCH);
    for slot in buffer.chunks_mut(room) {
        match read(from, &mut *slot) {
            Ok(len) => frames.push(&slot[..len]),
            Err(Errno::AGAIN) => break,
            Err(error) => return Err(error),
        }
    }
    for frame in &frames {
        match write(to, frame) {
            // The other interface is down.
            Ok(_) | Err(Errno::IO) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(!frames.is_empty())
}

#[expect(clippy::vec_box, reason = "devices take boxes")]
fn forward(devices: &mut [Device; 2], from: usize, packets: &mut Vec<Box<wire::Packet>>) -> Result<bool, Error> {
    let mut more = true;
    while more && packets.len() < BATCH {
        more = devices[from].receive(&mut |packet| packets.push(packet))?;
    }
    let moved = !packets.is_empty();
    devices[1 - from].send(packets)?;
    Ok(moved)
}

/// Says whether standard input has ended.
fn wait(devices: &[Device; 2]) -> Result<bool, Errno> {
    let stdin = std::io::stdin();
    let mut ready = [
        PollFd::new(&devices[0], PollFlags::IN),
        PollFd::new(&devices[1], PollFlags::IN),
        PollFd::new(&stdin, PollFlags::IN),
    ];
    match poll(&mut ready, None) {
        Ok(_) | Err(Errno::INTR) => Ok(!ready[2].revents().is_empty()),
        Err(error) => Err(error),
    }
}
