//! When the kernel lets a thread that waits go on.

use rustix::thread::Timespec;
use std::io;
use std::num::NonZeroU64;

/// The shortest that the scheduler takes. A thread that asks for little at a time comes sooner.
const SLICE_NS: u64 = 100_000;
/// Before others, where that is allowed.
const NICE: i32 = -10;

/// Has the calling thread woken at its time, as far as the machine allows. What it does not allow shows in the lateness.
pub(crate) fn sharpen() {
    // Timers of threads are put together within 50 µs otherwise.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    // A thread with the usual slice waits for the next tick while others run, up to 4 ms. Slices: since Linux 6.12.
    let _ = set(NICE).or_else(|_| set(nice()));
}

/// Lets nothing wake the calling thread for so long; a signal that does is as good.
pub(crate) fn sleep(nanos: i64) {
    let nanos = nanos.max(0);
    let time = Timespec { tv_sec: nanos / 1_000_000_000, tv_nsec: nanos % 1_000_000_000 };
    let _ = rustix::thread::nanosleep(&time);
}

#[expect(unsafe_code, reason = "a system call without a safe wrapper")]
fn nice() -> i32 {
    // SAFETY: it takes and gives integers.
    unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) }
}

#[expect(unsafe_code, reason = "a system call without a safe wrapper")]
fn set(nice: i32) -> io::Result<()> {
    let attributes = libc::sched_attr {
        size: size_of::<libc::sched_attr>() as u32,
        sched_policy: libc::SCHED_OTHER as u32,
        sched_flags: 0,
        sched_nice: nice,
        sched_priority: 0,
        sched_runtime: SLICE_NS,
        sched_deadline: 0,
        sched_period: 0,
    };
    // SAFETY: the kernel reads as many bytes as the attributes say that they have and keeps no pointer to them.
    let done = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_may_nothing_else_gets_a_short_slice() {
        std::thread::spawn(|| set(nice()).unwrap()).join().unwrap();
    }
}
