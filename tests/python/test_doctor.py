"""What the doctor says, of machines that others have and of this one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import mptcplab.machine.machine
import mptcplab.machine.preload
import ordinary
from command import Run
from mptcplab import doctor
from mptcplab.machine import congestion
from mptcplab.machine.check import Check
from mptcplab.machine.checks import Needs, able, examine, obstacles
from mptcplab.machine.machine import Machine, Tried
from requirements import need_kernel_tun, need_root

GOOD = {
    **dict.fromkeys(("tun", "tun_offloads", "veth", "packet_socket", "ipv6"), "done"),
    **dict.fromkeys(("packet_offloads", "nested", "dies_with_us", "endpoints"), "done"),
    **dict.fromkeys(("mptcp", "subflow_state", "multipath"), "done"),
    "congestion_controls": {"reno": "sysctl", "cubic": "sysctl"},
    "schedulers": ["default"],
    "path_managers": ["kernel", "userspace"],
    "late_us": 50.0,
}
FILES = {
    "proc/sys/kernel/osrelease": "6.12.0-18-amd64",
    "sys/kernel/btf/vmlinux": "",
    "proc/sys/net/mptcp/enabled": "1",
    "proc/sys/net/core/rmem_max": "212992",
    "proc/sys/net/core/wmem_max": "212992",
    "proc/self/ns/user": "",
    "proc/self/status": "Name:\tpython\nSeccomp:\t0\nCapEff:\t0000000000000000",
    "sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc",
    "dev/net/tun": "",
}
REFUSED = "unshare: unshare failed: Operation not permitted"
TOOLS = ("ip", "unshare", "nsenter", "setpriv", "mptcpize", "ss", "nft", "tcpdump", "apt-get")


class Fake:
    """Machines of files, programs and outcomes."""

    def __init__(self, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = directory / "root"
        self.programs = directory / "bin"
        self.programs.mkdir(parents=True)
        monkeypatch.setenv("PATH", str(self.programs))
        monkeypatch.setattr(mptcplab.machine.machine, "SYSTEM", str(self.programs))
        for tool in TOOLS:
            self.program(tool)

    def program(self, name: str, *lines: str) -> None:
        file = self.programs / name
        file.write_text("\n".join(["#!/bin/sh", *lines]))
        file.chmod(0o755)

    def machine(
        self,
        files: dict[str, str | None] | None = None,
        *,
        obstacle: str = "",
        is_root: bool = False,
        **outcome: object,
    ) -> Machine:
        for name, text in (FILES | (files or {})).items():
            if text is not None:
                file = self.root / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
        machine = Machine(self.root, is_root)
        tried = Tried(obstacle=obstacle) if obstacle else Tried(GOOD | outcome)
        vars(machine)["tried"] = tried
        return machine


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    return Fake(tmp_path, monkeypatch)


def wrong(checks: list[Check]) -> dict[str, Check]:
    """Those that are not fine, by name."""
    return {check.name: check for check in checks if check.verdict != "fine"}


def test_a_good_machine(fake: Fake) -> None:
    checks = examine(fake.machine())
    assert wrong(checks) == {}
    assert able(checks)


def test_controllers_for_the_kernel(fake: Fake) -> None:
    def found(release: str, *, available: str = "reno cubic") -> Check:
        files: dict[str, str | None] = {
            "proc/sys/kernel/osrelease": release,
            "proc/sys/net/ipv4/tcp_available_congestion_control": available,
        }
        return congestion.programs(fake.machine(files))

    none = found("6.12.0-18-amd64")
    assert (none.verdict, none.found) == (
        "fine",
        "none loaded; sudo mptcplab controllers --load loads all",
    )
    some = found("6.12.0-18-amd64", available="reno mptcplab_lia mptcplab_fully")
    assert (some.verdict, some.found) == ("fine", "lia, fully-coupled loaded")
    old = found("6.1.0-18-amd64")
    assert old.verdict == "limited"
    assert "they need Linux 6.4" in old.line()
    (fake.root / "sys/kernel/btf/vmlinux").unlink()
    files: dict[str, str | None] = {"sys/kernel/btf/vmlinux": None}
    undescribed = congestion.programs(fake.machine(files))
    assert undescribed.verdict == "limited"
    assert "CONFIG_DEBUG_INFO_BTF=y" in undescribed.mend
    without = congestion.acks(fake.machine(files))
    assert (without.verdict, without.meaning) == ("limited", "no state_per_ack")
    assert without.mend == undescribed.mend


@pytest.mark.parametrize(
    ("setting", "value", "mend"),
    [
        ("user/max_user_namespaces", "0", "sudo sysctl user.max_user_namespaces=10000"),
        (
            "kernel/unprivileged_userns_clone",
            "0",
            "sudo sysctl kernel.unprivileged_userns_clone=1",
        ),
        (
            "kernel/apparmor_restrict_unprivileged_userns",
            "1",
            "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0",
        ),
    ],
)
def test_what_closes_user_namespaces(fake: Fake, setting: str, value: str, mend: str) -> None:
    machine = fake.machine({f"proc/sys/{setting}": value}, obstacle=REFUSED)
    checks = examine(machine)
    assert not able(checks)
    found = wrong(checks)
    assert found["user namespaces"].verdict == "missing"
    assert found["user namespaces"].mend == mend
    assert {check.verdict for name, check in found.items() if name != "user namespaces"} == {
        "unknown"
    }
    assert obstacles(Needs(), machine) == [found["user namespaces"].line()]


def test_closed_user_namespaces_are_nothing_to_who_gets_them(fake: Fake) -> None:
    closed: dict[str, str | None] = {"proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1"}
    assert able(examine(fake.machine(closed)))
    assert able(examine(fake.machine(closed, is_root=True)))


def test_filters_and_containers_are_named(fake: Fake) -> None:
    filtered = fake.machine({"proc/self/status": "Seccomp:\t2"}, obstacle=REFUSED)
    assert "seccomp" in wrong(examine(filtered))["user namespaces"].found
    contained = fake.machine({".dockerenv": ""}, obstacle=REFUSED)
    check = wrong(examine(contained))["user namespaces"]
    assert "in a container: docker" in check.found
    assert check.mend.startswith("docker run --privileged")


def test_root_without_its_rights(fake: Fake) -> None:
    checks = examine(fake.machine(is_root=True, obstacle=REFUSED))
    assert "CAP_SYS_ADMIN" in wrong(checks)["network namespaces"].found
    assert not able(checks)


def test_tun_that_is_closed_leaves_packet_sockets(fake: Fake) -> None:
    checks = examine(fake.machine(tun="Permission denied"))
    assert wrong(checks)["TUN"].mend == "sudo chmod 0666 /dev/net/tun"
    assert "veth" in wrong(checks)["TUN"].meaning
    assert able(checks)


def test_tun_that_is_not_there(fake: Fake) -> None:
    machine = fake.machine({"dev/net/tun": None}, tun="No such file or directory", is_root=True)
    assert wrong(examine(machine))["TUN"].mend == "modprobe tun"


def test_no_way_for_packets(fake: Fake) -> None:
    checks = examine(fake.machine(tun="Permission denied", veth="Unknown device type."))
    assert wrong(checks)["veth, packet sockets"].verdict == "missing"
    assert wrong(examine(fake.machine(veth="Unknown device type.")))[
        "veth, packet sockets"
    ].verdict == ("limited")


def test_a_kernel_without_mptcp(fake: Fake) -> None:
    machine = fake.machine(
        {"proc/sys/net/mptcp/enabled": None},
        mptcp="Protocol not supported",
        subflow_state="Protocol not supported",
        endpoints="Error: argument is wrong",
    )
    found = wrong(examine(machine))
    assert found["MPTCP"].verdict == "missing"
    assert "CONFIG_MPTCP" in found["MPTCP"].mend
    assert "ip" not in found
    assert obstacles(Needs(mptcp=False), machine) == []
    assert len(obstacles(Needs(), machine)) == 1


def test_old_kernels(fake: Fake) -> None:
    old = fake.machine({"proc/sys/kernel/osrelease": "5.4.0-generic"})
    assert wrong(examine(old))["Linux"].verdict == "missing"
    state = "Operation not supported"
    assert "6.5" in wrong(examine(fake.machine(subflow_state=state)))["state of subflows"].meaning


def test_congestion_controls(fake: Fake) -> None:
    closed = fake.machine(
        congestion_controls={"reno": "sysctl", "cubic": "Operation not permitted"}
    )
    by_route = fake.machine(congestion_controls={"reno": "sysctl", "cubic": "route"})
    for machine in (closed, by_route):
        check = wrong(examine(machine))["congestion controls"]
        assert check.verdict == "limited"
        assert check.mend == 'sudo sysctl net.ipv4.tcp_allowed_congestion_control="reno cubic"'


def test_congestion_controls_that_are_not_loaded(fake: Fake) -> None:
    dep = "lib/modules/6.12.0-18-amd64/modules.dep"
    machine = fake.machine({dep: "kernel/net/ipv4/tcp_vegas.ko.xz:\n"})
    assert congestion.load(machine, "vegas") == "sudo modprobe tcp_vegas"
    assert congestion.load(machine, "lia") == "sudo mptcplab controllers --load lia"
    assert congestion.load(machine, "wvegas") == ""


def test_a_machine_without_ipv6_does_with_less(fake: Fake) -> None:
    checks = examine(fake.machine(ipv6="Address family not supported by protocol"))
    assert wrong(checks)["IPv6"].verdict == "limited"
    assert able(checks)


@pytest.mark.parametrize("tool", ["unshare", "nsenter", "setpriv"])
def test_tools_that_are_not_there(fake: Fake, tool: str) -> None:
    (fake.programs / tool).unlink()
    obstacle = "there is no unshare" if tool == "unshare" else ""
    check = wrong(examine(fake.machine(obstacle=obstacle)))["unshare, nsenter, setpriv"]
    assert check.verdict == "missing"
    assert check.mend == "sudo apt-get install util-linux"


def test_an_ip_that_knows_no_mptcp(fake: Fake) -> None:
    fake.program("ip", "echo ip utility, iproute2-5.5.0, libbpf 1.1.2")
    old = fake.machine(endpoints='Object "mptcp" is unknown, try "ip help".')
    check = wrong(examine(old))["ip"]
    assert check.verdict == "missing"
    assert check.found.startswith("iproute2-5.5.0, which cannot make MPTCP endpoints")


def test_packages_have_other_names_elsewhere(fake: Fake) -> None:
    (fake.programs / "ip").unlink()
    found = wrong(examine(fake.machine()))
    assert found["ip"].mend == "sudo apt-get install iproute2"
    (fake.programs / "apt-get").unlink()
    fake.program("dnf")
    found = wrong(examine(fake.machine()))
    assert found["ip"].mend == "sudo dnf install iproute"


def test_mptcpize_or_a_library_that_does_the_same(
    fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = tmp_path / "lib/libpreload.so"
    library.parent.mkdir()
    library.touch()
    monkeypatch.setattr(mptcplab.machine.preload, "LIBRARY", library)
    assert "mptcpize" not in wrong(examine(fake.machine()))
    (fake.programs / "mptcpize").unlink()
    checks = {check.name: check for check in examine(fake.machine())}
    assert str(library) in checks["mptcpize"].found
    assert checks["mptcpize"].verdict == "fine"


def test_what_keeps_programs_from_mptcp_that_no_library_reaches(fake: Fake) -> None:
    assert "MPTCP for all programs" not in wrong(examine(fake.machine()))
    found = wrong(examine(fake.machine(multipath="Invalid argument")))["MPTCP for all programs"]
    assert (found.verdict, found.found) == ("limited", "Invalid argument")
    assert "--mptcpize-all" in found.meaning


@pytest.mark.parametrize("file", ["my lib/libpreload.so", "not/built.so"])
def test_without_mptcpize_a_library_must_be_there_and_its_path_without_spaces(
    fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str
) -> None:
    library = tmp_path / file
    monkeypatch.setattr(mptcplab.machine.preload, "LIBRARY", library)
    (fake.programs / "mptcpize").unlink()
    if "built" not in file:
        library.parent.mkdir()
        library.touch()
    checks = {check.name: check for check in examine(fake.machine())}
    assert str(library) in checks["mptcpize"].found
    assert checks["mptcpize"].verdict == "limited"
    # Debian's mptcpd has no mptcpize, and recommends the package that has.
    assert checks["mptcpize"].mend == "sudo apt-get install mptcpize"
    (fake.programs / "apt-get").unlink()
    fake.program("dnf")
    assert wrong(examine(fake.machine()))["mptcpize"].mend == "sudo dnf install mptcpd"


def test_a_machine_without_anything(tmp_path: Path, fake: Fake) -> None:
    for program in fake.programs.iterdir():
        program.unlink()
    (found,) = examine(Machine(tmp_path / "nothing", is_root=False))
    assert found.verdict == "missing"
    bare = Machine(tmp_path / "root", is_root=False)
    (bare.root / "proc/sys/kernel").mkdir(parents=True)
    (bare.root / "proc/sys/kernel/osrelease").write_text("6.1.0")
    checks = examine(bare)
    assert not able(checks)
    assert all(check.found for check in checks)


def test_this_machine(mptcplab: Run) -> None:
    need_kernel_tun()
    checks = doctor()
    assert able(checks), [check.line() for check in checks]
    shown = mptcplab("doctor")
    assert shown.returncode == 0
    assert "The kernel engine can run here." in shown.stdout
    document = json.loads(mptcplab("doctor", "--json").stdout)
    assert document["able"] is True
    assert {check["name"] for check in document["checks"]} >= {"MPTCP", "TUN", "clock"}


@pytest.mark.parametrize("tun", [True, False])
def test_as_an_ordinary_user(tun: bool) -> None:
    need_root()
    need_kernel_tun()
    arguments = [sys.executable, "-m", "mptcplab", "doctor", "--json"]
    command = ordinary.command(arguments, tun=tun)
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
    assert done.returncode == 0, done.stdout + done.stderr
    checks = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
    assert checks["user namespaces"]["found"] == "made"
    assert checks["TUN"]["verdict"] == ("fine" if tun else "limited")


def test_it_leaves_nothing() -> None:
    need_kernel_tun()
    before = state()
    doctor()
    assert state() == before


def state() -> list[str]:
    """Namespaces and mounts that we see, interfaces and settings that we have."""
    command = "ip link show | grep -o '^[0-9]*: [^:]*'; sysctl net.ipv4.tcp_congestion_control"
    seen = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True)
    return [seen.stdout, Path("/proc/self/mounts").read_text()]
