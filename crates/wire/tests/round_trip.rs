//! parse(emit(x)) = x for whatever can be written, and no bytes at all make parsing panic.

mod arbitrary;

use arbitrary::{dss, frame, option};
use proptest::collection::vec;
use proptest::prelude::*;
use wire::mptcp::{Mptcp, dss_checksum, dss_checksum_of_pattern};
use wire::{Content, Frame, L4, Options, Packet, SackBlocks, TcpOption, pattern};

/// Whether the ones' complement sum over a TCP segment and its pseudo-header comes out right (RFC 9293 §3.1).
fn checksum_is_right(frame: &Frame, packet: &[u8]) -> bool {
    let (at, addresses) = if frame.ip.source.is_ipv4() { (20, 12..20) } else { (40, 8..40) };
    let at = if frame.ip.source.is_ipv6() && frame.ip.fragment.is_some() { at + 8 } else { at };
    let segment = &packet[at..];
    let padded = [segment, &[0][..segment.len() % 2]].concat();
    let words = [&packet[addresses], &padded, &(segment.len() as u32).to_be_bytes(), &[0, 6]].concat();
    let sum = words.chunks(2).fold(0_u32, |sum, word| sum + u32::from(word[0]) * 256 + u32::from(word[1]));
    sum.is_multiple_of(0xffff) // ones' complement has two zeros, and a sum of words that are not all zero is ffff
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn an_option(option in option()) {
        let mut options = Options::NONE;
        options.push(&option).unwrap();
        prop_assert_eq!(options.as_bytes().len() % 4, 0);
        prop_assert_eq!(options.iter().collect::<Vec<_>>(), [Ok(option)]);
    }

    #[test]
    fn an_option_nobody_knows(kind in 31_u8.., subtype in 9..16_u8, low in 0..16_u8, data in vec(any::<u8>(), 0..=37)) {
        let data = [vec![subtype << 4 | low], data].concat();
        for option in [TcpOption::Unknown { kind, data: &data }, TcpOption::Mptcp(Mptcp::Other { subtype, data: &data })] {
            let mut options = Options::NONE;
            options.push(&option).unwrap();
            prop_assert_eq!(options.iter().collect::<Vec<_>>(), [Ok(option)]);
        }
    }

    #[test]
    fn several_options(list in vec(option(), 0..6)) {
        let mut options = Options::NONE;
        let fitted: Vec<_> = list.into_iter().filter(|option| options.push(option).is_ok()).map(Ok).collect();
        prop_assert_eq!(options.iter().collect::<Vec<_>>(), fitted);
    }

    /// What is read in one go is what is read option by option.
    #[test]
    fn options_in_brief(stamps in any::<Option<(u32, u32)>>(), signal in dss(), list in vec(option(), 0..3), usual in any::<bool>()) {
        let stamps = stamps.map(|(value, echo)| TcpOption::Timestamps { value, echo });
        let (before, after) = if usual { (vec![], list) } else { (list, vec![]) };
        let signal = TcpOption::Mptcp(Mptcp::Dss(signal));
        let mut options = Options::NONE;
        for option in stamps.into_iter().chain(before).chain([signal]).chain(after) {
            let _ = options.push(&option); // what finds no room is left out
        }
        let brief = options.brief();
        let last = |pick: fn(TcpOption) -> bool| options.iter().flatten().filter(|option| pick(*option)).last();
        let stamps = last(|option| matches!(option, TcpOption::Timestamps { .. }));
        prop_assert_eq!(brief.timestamps.map(|(value, echo)| TcpOption::Timestamps { value, echo }), stamps);
        let signal = last(|option| matches!(option, TcpOption::Mptcp(Mptcp::Dss(_))));
        prop_assert_eq!(brief.dss.map(|dss| TcpOption::Mptcp(Mptcp::Dss(dss))), signal);
        let sack = last(|option| matches!(option, TcpOption::Sack(_)));
        let none = brief.sack == SackBlocks::default() && sack.is_none();
        prop_assert!(none || sack == Some(TcpOption::Sack(brief.sack)), "{:?}", sack);
    }

    #[test]
    fn a_frame((frame, payload) in frame()) {
        let mut packet = Vec::new();
        frame.emit(&payload, &mut packet).unwrap();
        prop_assert_eq!(Frame::parse(&packet, packet.len() as u32), Ok(frame));
        if matches!(frame.l4, L4::Tcp(_)) {
            prop_assert!(checksum_is_right(&frame, &packet));
        }
    }

    /// Cut in the payload, nothing changes; cut in the options, those that are there stay.
    #[test]
    fn a_cut_frame((frame, payload) in frame(), keep in any::<prop::sample::Index>()) {
        let mut packet = Vec::new();
        frame.emit(&payload, &mut packet).unwrap();
        let keep = keep.index(packet.len() + 1);
        if keep + payload.len() >= packet.len() {
            prop_assert_eq!(Frame::parse(&packet[..keep], packet.len() as u32), Ok(frame));
        } else if let (Ok(Frame { l4: L4::Tcp(cut), .. }), L4::Tcp(whole)) =
            (Frame::parse(&packet[..keep], packet.len() as u32), frame.l4)
        {
            prop_assert!(whole.options.as_bytes().starts_with(cut.options.as_bytes()));
        }
    }

    #[test]
    fn a_frame_without_its_payload((frame, payload) in frame()) {
        let (mut headers, mut zeros) = (Vec::new(), Vec::new());
        frame.emit(&[], &mut headers).unwrap();
        frame.emit(&vec![0; payload.len()], &mut zeros).unwrap();
        prop_assert!(zeros.starts_with(&headers));
        prop_assert_eq!(zeros.len(), headers.len() + payload.len());
    }

    /// A packet is the frame with its bytes; cut, it is the beginning of the whole, whatever its payload is.
    #[test]
    fn a_packet((frame, bytes) in frame(), position in any::<u32>(), is_pattern in any::<bool>(), snap in 0..2200_usize) {
        let mut packet = Packet { frame, body: Some(bytes.clone().into()) };
        let mut expected = bytes;
        if is_pattern {
            packet.frame.payload.content = Content::Pattern(position.into());
            packet.body = None;
            pattern::fill(position.into(), &mut expected);
        }
        let (mut whole, mut written, mut cut) = (Vec::new(), vec![7], vec![7]);
        frame.emit(&expected, &mut whole).unwrap();
        packet.emit(&mut written, None).unwrap();
        packet.emit(&mut cut, Some(snap)).unwrap();
        prop_assert_eq!(&written[1..], &whole);
        prop_assert_eq!(&cut[1..], &whole[..snap.min(whole.len())]);
        prop_assert_eq!(whole.len() as u32, packet.frame.wire_len());
    }

    #[test]
    fn a_dss_checksum(seq in any::<(u64, u32, u16)>(), position in any::<u32>(), len in 0..3000_usize) {
        let mut payload = vec![0; len];
        pattern::fill(position.into(), &mut payload);
        let of_bytes = dss_checksum(seq.0, seq.1, seq.2, &payload);
        let of_pattern = dss_checksum_of_pattern(seq.0, seq.1, seq.2, position.into(), len as u32);
        prop_assert_eq!(of_bytes, of_pattern);
    }

    #[test]
    fn no_bytes_make_parsing_panic(bytes in vec(any::<u8>(), 0..200), original_len in any::<u32>()) {
        let _ = Frame::parse(&bytes, original_len);
        let _ = Mptcp::parse(&bytes);
        if let Ok(options) = Options::from_bytes(&bytes[..bytes.len().min(40)]) {
            let _ = options.iter().count();
        }
    }

    #[test]
    fn flipped_bytes_are_read_as_something_that_can_be_written_or_not_at_all((frame, payload) in frame(), flips in vec(any::<(prop::sample::Index, u8)>(), 1..6)) {
        let mut packet = Vec::new();
        frame.emit(&payload, &mut packet).unwrap();
        for (at, flip) in flips {
            let at = at.index(packet.len().min(120));
            packet[at] ^= flip;
        }
        let Ok(frame) = Frame::parse(&packet, packet.len() as u32) else { return Ok(()) };
        if let L4::Tcp(tcp) = &frame.l4 {
            let _ = tcp.options.iter().count();
        }
        let mut written = Vec::new();
        if frame.emit(&[], &mut written).is_ok() {
            prop_assert_eq!(Frame::parse(&written, written.len() as u32 + frame.payload.len), Ok(frame));
        }
    }
}
