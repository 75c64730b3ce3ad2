"""The system call bpf(2), as far as controllers need it (linux/bpf.h)."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from pathlib import Path

from mptcplab._core import Error

CALLS = {"x86_64": 321, "aarch64": 280}
(MAP_CREATE, MAP_LOOKUP, MAP_UPDATE, MAP_DELETE, PROG_LOAD) = (0, 1, 2, 3, 5)
(OBJ_PIN, OBJ_GET, MAP_NEXT, MAP_BY_ID, INFO, ATTACH, BTF_LOAD) = (6, 7, 12, 14, 15, 17, 18)
HASH, ARRAY, LRU_HASH, STRUCT_OPS_MAP, RING = 1, 2, 9, 26, 27
TRACING_PROGRAM, STRUCT_OPS_PROGRAM = 26, 27
# What a program of the first kind is attached to (BPF_TRACE_RAW_TP).
TRACEPOINT = 23
READ_ONLY = 1 << 3
# What calls of functions and loads of maps say that they are.
KERNEL_FUNCTION, MAP_NUMBER = 2, 1
LOG_BYTES = 1 << 20
FUNCTION_BYTES, FIELD_BYTES = 8, 16
NAME_AT, NAME_BYTES = 24, 16
INFO_BYTES = 80

_libc = ctypes.CDLL(None, use_errno=True)


class Memory:
    """What the kernel reads or writes while a call is made."""

    def __init__(self, data: bytes | int) -> None:
        self._buffer = ctypes.create_string_buffer(
            data, data if isinstance(data, int) else len(data)
        )
        self.address = ctypes.addressof(self._buffer)

    @property
    def bytes(self) -> bytes:
        """What is there."""
        return self._buffer.raw


def call(command: int, attributes: bytes) -> int:
    """Call it; raises ``OSError``."""
    buffer = ctypes.create_string_buffer(attributes, len(attributes))
    number = CALLS.get(platform.machine())
    if number is None:
        raise Error(f"controllers cannot be loaded on {platform.machine()}")
    result: int = _libc.syscall(number, command, buffer, len(attributes))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def load_types(data: bytes) -> int:
    """Load BTF."""
    memory = Memory(data)
    return call(BTF_LOAD, struct.pack("<QQIII4x", memory.address, 0, len(data), 0, 0))


def make_map(
    kind: int, key: int, value: int, entries: int, name: str, types: int = 0, of_kernel: int = 0
) -> int:
    """Make a map; ``of_kernel`` is the number of the kernel's type that is its value."""
    numbers, more = (kind, key, value, entries, 0, 0, 0), (0, types, 0, 0, of_kernel)
    return call(MAP_CREATE, struct.pack("<7I16s5I", *numbers, name.encode(), *more))


def load_program(
    name: str,
    instructions: bytes,
    licence: bytes,
    *,
    types: int,
    functions: bytes,
    fields: bytes,
    structure: int,
    member: int,
    kind: int = STRUCT_OPS_PROGRAM,
) -> int:
    """Load a program that is a member of one of the kernel's structures.

    Of a ``TRACING_PROGRAM`` they are the type of what it is attached to, and of what kind that is.
    """
    code, terms, functions_of, fields_of = map(Memory, (instructions, licence, functions, fields))
    log = Memory(LOG_BYTES)
    for level in (0, 1):
        attributes = struct.pack(
            "<IIQQIIQII16sIIIIQIIQIIIIQQI4x",
            *(kind, len(instructions) // 8, code.address, terms.address),
            *(level, LOG_BYTES if level else 0, log.address if level else 0, 0, 0),
            *(name[: NAME_BYTES - 1].encode(), 0, member, types),
            *(FUNCTION_BYTES, functions_of.address, len(functions) // FUNCTION_BYTES),
            *(0, 0, 0, structure, 0),
            *(len(fields) // FIELD_BYTES, 0, fields_of.address, FIELD_BYTES),
        )
        try:
            return call(PROG_LOAD, attributes)
        except OSError as error:
            refused = error
            if error.errno == errno.EPERM:
                break
    said = log.bytes.partition(b"\0")[0].decode(errors="replace").strip().splitlines()
    why = [line for line in said if not line.startswith(("processed", ";"))][-1:]
    raise Error(
        f"this kernel refuses the program {name}: {': '.join([str(refused.strerror), *why])}"
    )


def attach(program: int) -> int:
    """Have it run at its tracepoint until what this opens is closed."""
    return call(ATTACH, struct.pack("<QI4x", 0, program))


def update(map_: int, key: bytes, value: bytes) -> None:
    """Set an entry."""
    held = Memory(key), Memory(value)
    call(MAP_UPDATE, struct.pack("<I4xQQQ", map_, held[0].address, held[1].address, 0))


def lookup(map_: int, key: bytes, value_bytes: int) -> bytes | None:
    """Read an entry, if there is one."""
    held = Memory(key), Memory(value_bytes)
    try:
        call(MAP_LOOKUP, struct.pack("<I4xQQQ", map_, held[0].address, held[1].address, 0))
    except FileNotFoundError:
        return None
    return held[1].bytes


def delete(map_: int, key: bytes) -> None:
    """Remove an entry."""
    held = Memory(key)
    call(MAP_DELETE, struct.pack("<I4xQ", map_, held.address))


def pin(map_: int, file: Path) -> None:
    """Give a map a name in a file system of BPF."""
    held = Memory(os.fsencode(file) + b"\0")
    call(OBJ_PIN, struct.pack("<QII", held.address, map_, 0))


def opened(file: Path) -> int:
    """Open a map by its name there, to read it."""
    held = Memory(os.fsencode(file) + b"\0")
    return call(OBJ_GET, struct.pack("<QII", held.address, 0, READ_ONLY))


def structures() -> dict[str, list[int]]:
    """Open the maps that are structures of the kernel, by name."""
    found: dict[str, list[int]] = {}
    number = 0
    while True:
        held = ctypes.create_string_buffer(struct.pack("<III", number, 0, 0), 12)
        try:
            number = _next(held)
        except FileNotFoundError:
            return found
        map_ = call(MAP_BY_ID, struct.pack("<III", number, 0, 0))
        about = Memory(INFO_BYTES)
        call(INFO, struct.pack("<IIQ", map_, INFO_BYTES, about.address))
        if struct.unpack_from("<I", about.bytes)[0] == STRUCT_OPS_MAP:
            name = about.bytes[NAME_AT:][:NAME_BYTES].partition(b"\0")[0].decode()
            found.setdefault(name, []).append(map_)
        else:
            os.close(map_)


def _next(held: ctypes.Array[ctypes.c_char]) -> int:
    """Give the number of the next map."""
    if _libc.syscall(CALLS[platform.machine()], MAP_NEXT, held, 12) < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return int(struct.unpack_from("<I", held.raw, 4)[0])
