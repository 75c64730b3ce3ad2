"""Compiled programs: what of an object file the kernel is given."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

from mptcplab.controllers import btf

# elf.h: the header's numbers, and one section, symbol, relocation.
SECTIONS, COUNTS = struct.Struct("<Q"), struct.Struct("<HHH")
SECTIONS_AT, COUNTS_AT = 40, 58
SECTION, SYMBOL, RELOCATION = (struct.Struct(one) for one in ("<IIQQQQIIQQ", "<IBBHQQ", "<QQ"))
SYMBOLS, RELOCATIONS = 2, 9
# Relocations of BPF: to the address of a map, and of a call.
TO_MAP, TO_CALL = 1, 10
# What programs are for, by the names of their sections: controllers, tracepoints.
KINDS = ("struct_ops", "tp_btf")
# Of .BTF.ext: header, and records of functions and of fields (CO-RE), a section of the file each.
EXTENSION = struct.Struct("<HBBIIIIIII")
OF_SECTION = struct.Struct("<II")


@dataclass(frozen=True)
class Program:
    """One of the functions that make a controller, or one that runs at a tracepoint."""

    #: The member of ``tcp_congestion_ops`` that it is, or the tracepoint.
    member: str
    name: str
    instructions: bytes
    #: Records of .BTF.ext: of the function, and of the fields that it uses.
    functions: bytes
    fields: bytes
    #: Where it calls which function of the kernel, in bytes.
    calls: dict[int, str]
    #: Where it names which map, likewise.
    maps: dict[int, str]


@dataclass(frozen=True)
class Compiled:
    """An object file."""

    licence: bytes
    types: bytes
    programs: list[Program]


def read(file: Path) -> Compiled:
    """Read an object file of ours."""
    data = file.read_bytes()
    (at,) = SECTIONS.unpack_from(data, SECTIONS_AT)
    size, count, names_index = COUNTS.unpack_from(data, COUNTS_AT)
    headers = [SECTION.unpack_from(data, at + size * number) for number in range(count)]
    bodies = [data[header[4] :][: header[5]] for header in headers]
    names = [_text(bodies[names_index], header[0]) for header in headers]
    sections = dict(zip(names, bodies, strict=True))
    table = next(number for number, header in enumerate(headers) if header[1] == SYMBOLS)
    strings = bodies[headers[table][6]]
    symbols = [
        (_text(strings, name), section, info & 0xF)
        for name, info, _, section, _, _ in SYMBOL.iter_unpack(bodies[table])
    ]
    functions, fields = _records(sections[".BTF"], sections[".BTF.ext"])
    relocations = {
        header[7]: list(RELOCATION.iter_unpack(body))
        for header, body in zip(headers, bodies, strict=True)
        if header[1] == RELOCATIONS
    }
    programs = []
    for number, name in enumerate(names):
        kind, _, member = name.partition("/")
        if kind not in KINDS:
            continue
        found = [
            (offset, info & 0xFFFFFFFF, symbols[info >> 32][0])
            for offset, info in relocations.get(number, ())
        ]
        programs.append(
            Program(
                member,
                next(
                    symbol for symbol, section, kind in symbols if section == number and kind == 2
                ),
                bodies[number],
                functions[name],
                fields.get(name, b""),
                {offset: symbol for offset, kind, symbol in found if kind == TO_CALL},
                {offset: symbol for offset, kind, symbol in found if kind == TO_MAP},
            )
        )
    return Compiled(sections["license"], btf.acceptable(sections[".BTF"]), programs)


def _records(types: bytes, extension: bytes) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """Give the records of functions and of fields by section."""
    _, _, _, header, functions, functions_bytes, _, _, fields, fields_bytes = EXTENSION.unpack_from(
        extension
    )
    parts = ((functions, functions_bytes), (fields, fields_bytes))
    known = btf.Types(types)
    return tuple(  # type: ignore[return-value]
        _by_section(known, extension[header + at :][:length]) for at, length in parts
    )


def _by_section(types: btf.Types, records: bytes) -> dict[str, bytes]:
    found, at = {}, btf.WORD.size
    (size,) = btf.WORD.unpack_from(records)
    while at < len(records):
        name, count = OF_SECTION.unpack_from(records, at)
        at += OF_SECTION.size
        found[types.text(name)] = records[at:][: size * count]
        at += size * count
    return found


def _text(strings: bytes, offset: int) -> str:
    return strings[offset : strings.index(b"\0", offset)].decode()
