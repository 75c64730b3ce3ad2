"""What bounds how fast, how exact and how large it can be."""

from __future__ import annotations

import os
import time

from mptcplab.machine.check import Check, fine, limited, unknown
from mptcplab.machine.machine import Machine

# Reading these takes a system call and longer than a packet.
SLOW_CLOCKS = ("acpi_pm", "hpet", "jiffies", "pit")
LATE_US = 1000.0
COARSE_NS = 1_000_000
SMALL_BUFFER = 212_992


def clock(machine: Machine) -> Check:
    """How fine time is, and how punctual."""
    name = "clock"
    file = "sys/devices/system/clocksource/clocksource0/current_clocksource"
    source = machine.text(file) or "of no name"
    tick_ns = round(time.clock_getres(time.CLOCK_MONOTONIC) * 1e9)
    late_us = machine.tried.outcome.get("late_us")
    if machine.tried.obstacle:
        return unknown(name)
    found = f"{source}, {tick_ns} ns"
    if late_us is not None:
        found += f"; wakes {late_us:.0f} µs late"
    if tick_ns > COARSE_NS:
        meaning = "delays are coarser than a millisecond"
        return limited(name, found, meaning, "a kernel with CONFIG_HIGH_RES_TIMERS=y")
    if late_us is not None and late_us > LATE_US:
        return limited(name, found, "delays come out longer: the machine is busy or shared")
    if source in SLOW_CLOCKS:
        return limited(name, found, "reading the time is slow, which bounds the packets per second")
    return fine(name, found)


def buffers(machine: Machine) -> Check:
    """What sockets may ask for, which no namespace has of its own."""
    name = "socket buffers"
    settings = ("net.core.rmem_max", "net.core.wmem_max")
    sizes = {setting: machine.sysctl(setting) for setting in settings}
    if None in sizes.values():
        return fine(name, "not reported", "tcp_rmem and tcp_wmem of the namespaces hold")
    found = ", ".join(
        f"{setting.removeprefix('net.core.')} {size}" for setting, size in sizes.items()
    )
    small = [setting for setting, size in sizes.items() if int(size or 0) < SMALL_BUFFER]
    if small:
        mend = machine.with_root(f"sysctl {small[0]}={SMALL_BUFFER}")
        return limited(name, found, "programs that set their buffers get less than usual", mend)
    return fine(name, found, "for programs that set their own; others as the scenario says")


def cores(machine: Machine) -> Check:
    """How many processors we may use."""
    name = "processors"
    number = len(os.sched_getaffinity(0))
    quota, _, period = (machine.text("sys/fs/cgroup/cpu.max") or "max").partition(" ")
    if quota.isdigit() and period.isdigit() and int(period):
        number = min(number, int(quota) // int(period))
    if number < 2:
        meaning = "links and both hosts share it: fast links come out slower than asked"
        return limited(name, "less than 1" if number == 0 else "1", meaning)
    return fine(name, str(number))
