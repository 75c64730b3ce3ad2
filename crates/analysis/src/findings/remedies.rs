//! What helps against what was found: each remedy in words, and with the settings of a scenario that try it, where there are any. What
//! a finding recommends and what `mptcplab why --try` simulates are the same thing, declared here once.

/// What mends what was found.
#[derive(Clone, Copy, Debug)]
pub enum Remedy {
    /// No setting of a scenario: a change of a program, a network or a capture.
    Said(&'static str),
    /// No host can do anything.
    Beyond(&'static str),
    /// Settings of a scenario do the same.
    Tried(Trial),
}

/// How a remedy is tried.
#[derive(Clone, Copy, Debug)]
pub struct Trial {
    /// As findings recommend it.
    pub words: &'static str,
    /// As it is called beside others.
    pub name: &'static str,
    /// As after `--set`. `{path}` stands for the path of the finding's subflow.
    pub settings: &'static [&'static str],
    /// What goes with them. A scenario that has the settings without these has the remedy.
    pub beside: &'static [&'static str],
    /// Why it may give less than half of what was lost, as the words say; empty where nothing is known that would make it so.
    pub limit: &'static str,
}

impl Trial {
    const fn new(words: &'static str, name: &'static str, settings: &'static [&'static str]) -> Trial {
        Trial { words, name, settings, beside: &[], limit: "" }
    }
}

const fn tried(words: &'static str, name: &'static str, settings: &'static [&'static str]) -> Remedy {
    Remedy::Tried(Trial::new(words, name, settings))
}

/// What is taken out joins again as a further subflow.
const GUARD_SETTINGS: &[&str] = &["mptcp.path_manager=guard"];
const GUARD_BESIDE: &[&str] = &["mptcp.max_subflows=8"];
const BBR_SETTINGS: &[&str] = &["mptcp.congestion_control=bbr", "tcp.congestion_control=bbr"];
const BBR_NAME: &str = "the congestion controller bbr";
const LARGE_WINDOW: &[&str] = &["tcp.max_receive_buffer=25MB", "tcp.receive_buffer_tuning=true"];

pub(super) const GUARD: Remedy = Remedy::Tried(Trial {
    beside: GUARD_BESIDE,
    limit: "saves what the other paths wait, not what the dead path would have carried",
    ..Trial::new(
        "a path manager that suspends silent paths (mptcplab guard), with a limit of 8 subflows (ip mptcp limits set subflows 8): it saves what the \
         other paths wait, not what the dead path would have carried",
        "the path manager guard",
        GUARD_SETTINGS,
    )
});
/// What is asked for is short: Linux's scheduler does not look for the path with the shorter round trips, and one that joined again
/// stands behind those that are there.
pub(super) const GUARD_MESSAGES: Remedy = Remedy::Tried(Trial {
    beside: GUARD_BESIDE,
    limit: "shortens the longest wait, and may make the whole longer",
    ..Trial::new(
        "a path manager that suspends silent paths (mptcplab guard), with a limit of 8 subflows (ip mptcp limits set subflows 8): of messages it \
         shortens the longest wait, and may make the whole longer, since Linux's scheduler then keeps to the other path",
        "the path manager guard",
        GUARD_SETTINGS,
    )
});
pub(super) const GUARD_RETURNS: Remedy = Remedy::Tried(Trial {
    beside: GUARD_BESIDE,
    ..Trial::new(
        "a path manager that tries the path again (mptcplab guard), with a limit of 8 subflows (ip mptcp limits set subflows 8)",
        "the path manager guard",
        GUARD_SETTINGS,
    )
});
pub(super) const LEAVE_SOONER: Remedy = Remedy::Tried(Trial {
    beside: GUARD_BESIDE,
    limit: "saves data, and time only where a queue stands",
    ..Trial::new(
        "a path manager that leaves a dead path sooner (mptcplab guard), with a limit of 8 subflows (ip mptcp limits set subflows 8): it saves \
         data, and time only where a queue stands",
        "the path manager guard",
        GUARD_SETTINGS,
    )
});
pub(super) const LARGER_WINDOW: Remedy = tried(
    "a larger receive buffer: net.ipv4.tcp_rmem (its third number) at the receiver, at least twice the rate of all paths times the longest RTT",
    "a receive buffer that grows, to 25 MB",
    LARGE_WINDOW,
);
/// Beside several paths, a scheduler that ignores delays gives a slow one all that the window takes.
pub(super) const LARGER_WINDOW_SHARED: Remedy = tried(
    "a larger receive buffer: net.ipv4.tcp_rmem (its third number) at the receiver, at least twice the rate of all paths times the longest RTT; \
     where a path is many times slower, with a scheduler that considers delays (Linux's own, or ecf): others fill that path's queue",
    "a receive buffer that grows, to 25 MB",
    LARGE_WINDOW,
);
pub(super) const WINDOW_FIRST: Remedy = Remedy::Tried(Trial {
    limit: "brings back none of what the dead path would have carried",
    ..Trial::new(
        "a larger receive buffer: with so small a window the other paths soon wait, and a path manager that suspends silent paths (guard) \
         saves less; it brings back none of what the dead path would have carried",
        "a receive buffer that grows, to 25 MB",
        LARGE_WINDOW,
    )
});
pub(super) const WINDOW_AT_ONCE: Remedy = tried(
    "a larger receive buffer from the start: net.ipv4.tcp_rmem (its second number) at the receiver; its memory is full with data beyond a hole",
    "a receive buffer of 6 MB from the start",
    &["tcp.receive_buffer=6MB", "tcp.max_receive_buffer=6MB"],
);
pub(super) const ECF: Remedy =
    tried("a scheduler that considers delays: ecf", "the scheduler ecf", &["mptcp.scheduler=ecf"]);
pub(super) const AS_BACKUP: Remedy =
    tried("that path as a backup (ip mptcp endpoint change)", "that path as a backup", &["path.{path}.backup=true"]);
pub(super) const AS_REGULAR: Remedy =
    tried("the backup as a regular path", "the backup as a regular path", &["path.{path}.backup=false"]);
pub(super) const ONCE: Remedy = tried(
    "a scheduler that is not redundant (lowest-rtt)",
    "the scheduler lowest-rtt",
    &["mptcp.scheduler=lowest-rtt"],
);
pub(super) const TWICE: Remedy =
    tried("each over both paths (the scheduler redundant)", "the scheduler redundant", &["mptcp.scheduler=redundant"]);
pub(super) const USE_ALL: Remedy = tried(
    "where the path is not many times slower than the others, another scheduler (lowest-rtt) with a larger send buffer (net.ipv4.tcp_wmem)",
    "the scheduler lowest-rtt with a send buffer of 16 MB",
    &["mptcp.scheduler=lowest-rtt", "tcp.send_buffer=16MB"],
);
/// Data waits for what a further path is slow to bring: the receive buffer has to hold what the others bring meanwhile.
pub(super) const FULL_MESH: Remedy = Remedy::Tried(Trial {
    beside: LARGE_WINDOW,
    ..Trial::new(
        "ip mptcp endpoint add ADDRESS dev DEV subflow, and ip mptcp limits set subflows 4 add_addr_accepted 4, with a receive buffer that \
         grows (net.ipv4.tcp_rmem, its third number); but a path that is six times slower and more only as a backup, or the transfer takes longer",
        "the path manager full-mesh with a receive buffer that grows, to 25 MB",
        &["mptcp.path_manager=full-mesh", "mptcp.max_subflows=4", "mptcp.max_add_addr_accepted=4"],
    )
});
pub(super) const LIMITS: Remedy = Remedy::Tried(Trial {
    beside: LARGE_WINDOW,
    ..Trial::new(
        "raise the limits at the side that refused: ip mptcp limits set subflows 4 add_addr_accepted 4, with a receive buffer that grows \
         (net.ipv4.tcp_rmem, its third number); but a path that is six times slower and more only as a backup, or the transfer takes longer",
        "limits of 4 subflows with a receive buffer that grows, to 25 MB",
        &["mptcp.max_subflows=4", "mptcp.max_add_addr_accepted=4"],
    )
});
pub(super) const BACK_OFF: Remedy = Remedy::Tried(Trial {
    limit: "saves a part of the wait after the path is back, and none of the outage",
    ..Trial::new(
        "a limit on the back-off (net.ipv4.tcp_rto_max_ms): it saves a part of the wait after the path is back, and none of the outage",
        "time-outs that double once at most",
        &["tcp.max_backoff=1"],
    )
});
pub(super) const NO_HYSTART: Remedy = tried(
    "switch HyStart off at the sender (/sys/module/tcp_cubic/parameters/hystart)",
    "slow start until the first loss, without HyStart",
    &["tcp.slow_start=standard"],
);
/// Of losses that a sender takes for congestion, by what is known of them.
pub(super) const BBR: Remedy =
    tried("a congestion control that does not take loss for congestion (BBR)", BBR_NAME, BBR_SETTINGS);
pub(super) const BBR_BLOAT: Remedy = Remedy::Tried(Trial {
    limit: "shortens round trips, and may make the transfer longer",
    ..Trial::new(
        "a congestion control that keeps queues short (BBR): it shortens round trips, and may make the transfer longer where the rate varies",
        BBR_NAME,
        BBR_SETTINGS,
    )
});
pub(super) const KEEP_ALIVE: Remedy = tried(
    "keep-alives at shorter intervals than the pause: SO_KEEPALIVE, net.ipv4.tcp_keepalive_time",
    "keep-alives after 2 s",
    &["tcp.keep_alive_idle=2s", "tcp.keep_alive_interval=2s"],
);
pub(super) const SMALLER_SEGMENTS: Remedy = tried(
    "a smaller MTU or MSS on that path: ip route … advmss 1300, or net.ipv4.tcp_mtu_probing=1",
    "segments of 900 bytes",
    &["tcp.mss=900B"],
);

/// All that are tried.
pub const TRIED: [Remedy; 22] = [
    GUARD,
    GUARD_MESSAGES,
    GUARD_RETURNS,
    LARGER_WINDOW,
    LARGER_WINDOW_SHARED,
    WINDOW_FIRST,
    WINDOW_AT_ONCE,
    ECF,
    AS_BACKUP,
    AS_REGULAR,
    ONCE,
    TWICE,
    USE_ALL,
    FULL_MESH,
    LIMITS,
    BACK_OFF,
    NO_HYSTART,
    BBR,
    BBR_BLOAT,
    KEEP_ALIVE,
    SMALLER_SEGMENTS,
    LEAVE_SOONER,
];

/// Between several, in the words of a finding.
pub const OR: &str = "; or ";

impl Remedy {
    fn words(&self) -> &'static str {
        match self {
            Remedy::Said(words) | Remedy::Beyond(words) => words,
            Remedy::Tried(trial) => trial.words,
        }
    }
}

/// The remedy of a finding in words.
pub(super) fn said(remedies: &[Remedy]) -> String {
    remedies.iter().map(Remedy::words).collect::<Vec<_>>().join(OR)
}

/// Whether no host can do anything.
pub(super) fn is_beyond(remedies: &[Remedy]) -> bool {
    remedies.iter().any(|remedy| matches!(remedy, Remedy::Beyond(_)))
}
