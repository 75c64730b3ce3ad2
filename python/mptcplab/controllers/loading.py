"""Loads controllers into the kernel, and unloads them; only root may.

A loaded controller is there for whoever chooses it, until it is unloaded or the machine goes down.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path

from mptcplab._core import Error
from mptcplab.controllers import bpf, btf, catalogue, compiled, repairs

KERNEL = Path("/sys/kernel/btf/vmlinux")
OPS = (btf.STRUCT, "tcp_congestion_ops")
# What the kernel keeps of such a structure: its own words first, then the structure.
KEPT = (btf.STRUCT, "bpf_struct_ops_tcp_congestion_ops")
# TCP_CONG_NON_RESTRICTED: anybody may choose it.
FOR_EVERYBODY = 1
KEY = bytes(4)
OLDEST = "Linux 6.4 or newer with CONFIG_DEBUG_INFO_BTF=y and CONFIG_BPF_JIT=y"


def load(names: Iterable[str]) -> list[str]:
    """Load those that are not loaded yet, and name them."""
    _need_root("load", names)
    present = catalogue.loaded()
    wanted = [name for name in names if name not in present]
    if wanted:
        kernel = kernel_types()
        repairs.mount()
        for name in wanted:
            _load(name, kernel)
    return wanted


def unload(names: Iterable[str]) -> list[str]:
    """Unload those that are loaded, and name them; sockets that have them keep them."""
    _need_root("unload", names)
    structures = bpf.structures()
    done = []
    for name in names:
        for map_ in structures.get(catalogue.linux(name), ()):
            # EINPROGRESS: it was unloaded before, and sockets that have it keep it.
            with suppress(FileNotFoundError, BlockingIOError):
                bpf.delete(map_, KEY)
                done.append(name)
        repairs.forget(name)
    for maps in structures.values():
        for map_ in maps:
            os.close(map_)
    repairs.unmount()
    return list(dict.fromkeys(done))


def _need_root(verb: str, names: Iterable[str]) -> None:
    if os.geteuid():
        command = " ".join([f"sudo mptcplab controllers --{verb}", *names])
        raise Error(f"only root may {verb} controllers: {command}")


def kernel_types() -> btf.Types:
    """Read the kernel's types."""
    try:
        return btf.Types(KERNEL.read_bytes())
    except OSError:
        raise Error(f"this kernel describes no types in {KERNEL}: it takes {OLDEST}") from None


def _load(name: str, kernel: btf.Types) -> None:
    what = compiled.read(catalogue.program(name))
    called = {(btf.FUNC, call) for one in what.programs for call in one.calls.values()}
    found = kernel.find({OPS, KEPT, *called})
    for kind, missing in sorted({OPS, KEPT, *called} - found.keys()):
        del kind
        raise Error(f"this kernel has no {missing}: controllers need {OLDEST}")
    members = kernel.members(found[OPS])
    with ExitStack() as opened:

        def closing(file: int) -> int:
            opened.callback(os.close, file)
            return file

        try:
            types = closing(bpf.load_types(what.types))
            counts = closing(bpf.make_map(*repairs.MAP, "repairs"))
            _, begin = kernel.members(found[KEPT])["data"]
            value = bytearray(found[KEPT].size)
            for program in what.programs:
                number, offset = members[program.member]
                file = closing(
                    bpf.load_program(
                        program.name,
                        linked(program, {"repairs": counts}, found),
                        what.licence,
                        types=types,
                        functions=program.functions,
                        fields=program.fields,
                        structure=found[OPS].number,
                        member=number,
                    )
                )
                struct.pack_into("<Q", value, begin + offset, file)
            linux = catalogue.linux(name)
            struct.pack_into("<15s", value, begin + members["name"][1], linux.encode())
            struct.pack_into("<I", value, begin + members["flags"][1], FOR_EVERYBODY)
            structure = closing(
                bpf.make_map(bpf.STRUCT_OPS_MAP, 4, len(value), 1, linux, types, found[KEPT].number)
            )
            repairs.keep(name, counts)
            bpf.update(structure, KEY, bytes(value))
        except OSError as error:
            raise Error(f"this kernel does not take {name}: {error.strerror}") from error


def linked(
    program: compiled.Program, maps: Mapping[str, int], kernel: dict[tuple[int, str], btf.Type]
) -> bytes:
    """Give the instructions with the numbers that this kernel has for functions and maps."""
    code = bytearray(program.instructions)
    for offset, called in program.calls.items():
        _set(code, offset, bpf.KERNEL_FUNCTION, kernel[btf.FUNC, called].number)
    for offset, named in program.maps.items():
        _set(code, offset, bpf.MAP_NUMBER, maps[named])
    return bytes(code)


def _set(instructions: bytearray, offset: int, source: int, number: int) -> None:
    # The registers share a byte: destination below, source above.
    instructions[offset + 1] = instructions[offset + 1] & 0xF | source << 4
    struct.pack_into("<i", instructions, offset + 4, number)
