"""Controllers as programs for the kernel: what ships, and what is told. No kernel is asked."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from command import Run
from mptcplab import _core
from mptcplab.controllers import acks, btf, catalogue, compiled
from mptcplab.engines.kernel.measured import repaired
from mptcplab.results import policies
from requirements import need_compiler_of_controllers

ROOT = Path(__file__).parents[2]
MEMBERS = {"init", "cong_avoid", "set_state", "min_tso_segs", "ssthresh", "undo_cwnd"}
# The compiler whose objects ship; others make other ones, which tests with a kernel load.
CLANG = "14."


def test_each_is_one_of_the_simulation_with_a_name_that_a_kernel_takes() -> None:
    known = {policy["name"] for policy in _core.policies()["congestion_control"]}
    assert catalogue.NAMES.keys() <= known
    assert all(len(name) <= 15 for name in catalogue.NAMES.values())
    sources = {file.name.removesuffix(".c") for file in catalogue.PROGRAMS.glob("*.bpf.c")}
    shipped = {catalogue.program(name).name.removesuffix(".o") for name in catalogue.NAMES}
    assert sources == shipped


@pytest.mark.parametrize("name", catalogue.NAMES)
def test_what_ships_has_all_that_a_kernel_asks_of_a_controller(name: str) -> None:
    made = compiled.read(catalogue.program(name))
    assert made.licence == b"Dual MIT/GPL\0"
    assert {program.member for program in made.programs} == MEMBERS
    named = catalogue.linux(name).removeprefix("mptcplab_")
    assert all(program.name.startswith(f"{named}_") for program in made.programs)
    # A kernel takes no sections and no variables of a compiler.
    kinds = {one.kind for one in btf.Types(made.types)}
    assert not kinds & {btf.VAR, btf.DATASEC}
    # Nobody's directories ship with it.
    assert str(ROOT).encode() not in catalogue.program(name).read_bytes()


def test_the_source_compiles_to_what_ships(tmp_path: Path) -> None:
    need_compiler_of_controllers()
    subprocess.run([ROOT / "scripts" / "controllers", tmp_path], check=True)
    said = subprocess.run(["clang", "--version"], capture_output=True, text=True, check=True)
    version = re.search(r"version ([\d.]+)", said.stdout)
    assert version
    for name in catalogue.NAMES:
        shipped, made = catalogue.program(name), tmp_path / catalogue.program(name).name
        if version[1].startswith(CLANG):
            assert shipped.read_bytes() == made.read_bytes(), (
                f"scripts/controllers makes {name} anew"
            )
        assert [one.member for one in compiled.read(made).programs] == [
            one.member for one in compiled.read(shipped).programs
        ]


def test_the_recorder_of_acks_compiles_to_what_ships(tmp_path: Path) -> None:
    made = compiled.read(acks.PROGRAM)
    (program,) = made.programs
    assert program.member == "tcp_probe"
    assert set(program.maps.values()) == acks.MAPS.keys()
    assert str(ROOT).encode() not in acks.PROGRAM.read_bytes()
    need_compiler_of_controllers()
    subprocess.run([ROOT / "scripts" / "controllers", tmp_path], check=True)
    again = compiled.read(tmp_path / acks.PROGRAM.name)
    assert [one.member for one in again.programs] == ["tcp_probe"]


def test_repairs_are_told() -> None:
    known = {"client": {"thresholds": 0, "windows": 0}, "server": {"thresholds": 2, "windows": 1}}
    (row,) = repaired({"lia": {"linux": "mptcplab_lia", "version": "1", "repairs": known}})
    assert (row["diagnostic"], row["count"]) == ("controller_repaired", 3)
    none = {host: {"thresholds": 0, "windows": 0} for host in known}
    assert repaired({"lia": {"linux": "mptcplab_lia", "version": "1", "repairs": none}}) == []
    assert repaired({"lia": {"linux": "mptcplab_lia", "version": None, "repairs": None}}) == []


def test_the_head_names_the_program_and_comparisons_the_controller() -> None:
    subflows = [{"congestion_control": "mptcplab_olia"}]
    sockets = {end: [{"subflows": subflows}] for end in policies.ENDS}
    about = {"engine": "kernel", "kernel": {"sockets": sockets}}
    scenario = {
        "mptcp": {"congestion_control": "olia", "scheduler": "linux", "path_manager": "linux"},
        "kernel": {"congestion_control": "olia", "scheduler": "default"},
    }
    described = policies.described(about, scenario)
    assert described["in_words"] == "OLIA (mptcplab_olia), Linux's default scheduler"
    assert policies.policies(about, scenario)["congestion_control"] == "olia"


def test_what_is_no_program_is_refused_in_a_line(mptcplab: Run) -> None:
    refused = mptcplab("controllers", "--load", "lai")
    assert refused.returncode == 2
    assert refused.stderr == "mptcplab: there is no program for lai; did you mean lia?\n"
