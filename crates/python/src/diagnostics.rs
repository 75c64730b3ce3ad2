//! What a capture's reader noticed, as rows of `diagnostics`.

use capture::FileStatistics;
use std::sync::Arc;
use tables::Diagnostic;

/// The remarks on one capture, gravest first.
pub fn of_capture(capture: &FileStatistics) -> Vec<Diagnostic> {
    let name: Arc<str> = capture.name.as_str().into();
    let remark = |diagnostic, count, message: String| Diagnostic {
        capture: Some(name.clone()),
        diagnostic,
        count,
        message: message.into(),
        ..Diagnostic::default()
    };
    let mut remarks = Vec::new();
    if let Some(cut) = &capture.cut {
        remarks.push(remark("capture_cut", Some(capture.packets), format!("{cut}; analysed up to there")));
    }
    counts(capture, |diagnostic, count, message| remarks.push(remark(diagnostic, Some(count), message)));
    let nothing_cut = capture.tcp > 0 && capture.truncated_headers == 0 && capture.cut_options == 0;
    if let Some(snap_length) = capture.snap_length.filter(|&length| nothing_cut && length < 96) {
        let message = format!("a snap length of {snap_length} may cut TCP options; 128 is enough");
        remarks.push(remark("snap_length", Some(snap_length.into()), message));
    }
    if let Some(step) = capture.clock_resolution_ns.filter(|&step| step > 1_000) {
        let message = format!("the capture's clock steps by {} µs; shorter times than that mean nothing", step / 1_000);
        remarks.push(remark("clock_resolution", Some(step), message));
    }
    remarks
}

fn counts(capture: &FileStatistics, mut push: impl FnMut(&'static str, u64, String)) {
    let mut push = |diagnostic, count: u64, message: String| {
        if count > 0 {
            push(diagnostic, count, message);
        }
    };
    let drops: u64 = capture.interfaces.iter().filter_map(|interface| interface.drops).sum();
    push(
        "capture_drops",
        drops,
        format!(
            "{} passed and were not captured: what looks like loss may be the capture's own; a larger buffer helps \
             (dumpcap -B 64)",
            packets(drops)
        ),
    );
    if capture.tcp + capture.udp == 0 {
        push("no_tcp", 1, "holds no TCP or UDP packets".into());
    }
    push(
        "truncated_headers",
        capture.truncated_headers,
        format!("the snap length cut the headers of {}; use 128 or more", packets(capture.truncated_headers)),
    );
    push(
        "options_cut",
        capture.cut_options,
        format!(
            "the snap length cut the TCP options of {}: MPTCP signalling in them is unknown; capture with 128 bytes",
            packets(capture.cut_options)
        ),
    );
    push(
        "malformed",
        capture.malformed,
        format!(
            "{} with broken headers left out; the first: {}",
            packets(capture.malformed),
            capture.malformed_example.as_deref().unwrap_or("unknown")
        ),
    );
    if let Some(link_type) = capture.unsupported_link_type {
        push(
            "unsupported_link_type",
            capture.unsupported,
            format!("{} left out: link type {link_type} is not supported", packets(capture.unsupported)),
        );
    }
    let most = length(capture.out_of_order_most_ns);
    push(
        "not_reordered",
        capture.not_reordered,
        format!(
            "{} came too late to be put in order of time, up to {most}; run \"reordercap IN OUT\" first",
            packets(capture.not_reordered)
        ),
    );
    let reordered = capture.out_of_order.saturating_sub(capture.not_reordered);
    push(
        "reordered",
        reordered,
        format!("{} came late and had to be put in order of time, up to {most}", packets(reordered)),
    );
    push(
        "order_lost",
        capture.order_lost,
        format!(
            "{} of one time, interface and connection as packets of another capture: which came first is lost; give what \
             one host captured in one file, or in one for each interface, and capture at two with a finer clock",
            has(capture.order_lost)
        ),
    );
    push(
        "fragments",
        capture.fragments,
        format!(
            "{} of IP packets seen; those without a TCP header left out, and UDP datagrams in pieces",
            plural(capture.fragments, "fragment")
        ),
    );
    push("not_ip", capture.not_ip, format!("{} without IP left out", packets(capture.not_ip)));
    for (kind, &count) in &capture.tunnels {
        let message = format!(
            "{} of a tunnel ({kind}): what they carry is left out; it shows in a capture inside it",
            packets(count)
        );
        push("tunnel", count, message);
    }
    push("not_tcp", capture.other_ip, format!("{} with neither TCP nor UDP left out", packets(capture.other_ip)));
}

fn has(count: u64) -> String {
    format!("{} {}", packets(count), if count == 1 { "is" } else { "are" })
}

fn packets(count: u64) -> String {
    plural(count, "packet")
}

fn plural(count: u64, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}

fn length(ns: u64) -> String {
    match ns as f64 {
        ns if ns < 1e6 => format!("{:.3} µs", ns / 1e3),
        ns if ns < 1e9 => format!("{:.3} ms", ns / 1e6),
        ns => format!("{:.3} s", ns / 1e9),
    }
}
