"""BTF, by which kernels and compiled programs describe their types (linux/btf.h)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from mptcplab._core import Error

MAGIC = 0xEB9F
HEADER = struct.Struct("<HBBIIIII")
TYPE = struct.Struct("<III")
WORD = struct.Struct("<I")
# What lists a variable in a section, or a member in a structure.
LISTED = struct.Struct("<III")
INT, POINTER, ARRAY, STRUCT, UNION, ENUM, TYPEDEF = 1, 2, 3, 4, 5, 6, 8
FUNC, FUNC_PROTO, VAR, DATASEC, DECL_TAG, ENUM64 = 12, 13, 14, 15, 17, 19
# Bytes behind a type, and for each thing that it lists.
BEHIND = {INT: 4, ARRAY: 12, VAR: 4, DECL_TAG: 4}
EACH = {STRUCT: 12, UNION: 12, ENUM: 8, FUNC_PROTO: 8, DATASEC: 12, ENUM64: 12}
BYTE = 8
EXTERN = 2


@dataclass(frozen=True)
class Type:
    """A type: its number, where it stands, and the numbers that every type has."""

    number: int
    at: int
    name: int
    kind: int
    #: Of what it lists.
    count: int
    #: Bytes, or another type.
    size: int


class Types:
    """All types of a kernel, or of a compiled program."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        magic, _, _, header, types, types_bytes, strings, _ = HEADER.unpack_from(data)
        if magic != MAGIC:
            raise Error("not BTF of this machine's byte order")
        self._types = range(header + types, header + types + types_bytes)
        self._strings = header + strings

    def __iter__(self) -> Iterator[Type]:
        at, number = self._types.start, 1
        while at < self._types.stop:
            name, info, size = TYPE.unpack_from(self.data, at)
            kind, count = info >> 24 & 0x1F, info & 0xFFFF
            yield Type(number, at, name, kind, count, size)
            at += TYPE.size + BEHIND.get(kind, 0) + EACH.get(kind, 0) * count
            number += 1

    def text(self, offset: int) -> str:
        """Give a name."""
        begin = self._strings + offset
        return self.data[begin : self.data.index(b"\0", begin)].decode()

    def find(self, wanted: set[tuple[int, str]]) -> dict[tuple[int, str], Type]:
        """Give the types of a kind and name, as far as there are any."""
        kinds = {kind for kind, _ in wanted}
        found = {(one.kind, self.text(one.name)): one for one in self if one.kind in kinds}
        return {key: found[key] for key in wanted if key in found}

    def members(self, structure: Type) -> dict[str, tuple[int, int]]:
        """Give the number and the offset in bytes of each member of a structure."""
        listed = LISTED.iter_unpack(
            self.data[structure.at + TYPE.size :][: LISTED.size * structure.count]
        )
        # Of structures with bit fields the upper byte is the number of bits.
        return {
            self.text(name): (number, (offset & 0xFFFFFF) // BYTE)
            for number, (name, _, offset) in enumerate(listed)
        }


def acceptable(data: bytes) -> bytes:
    """Give the types of a compiled program as a kernel takes them.

    Compilers leave the sizes of sections and the places of variables open. Nothing needs them:
    variables become bytes, functions of the kernel pointers, and sections structures of both.
    """
    types, changed = Types(data), bytearray(data)
    for one in types:
        if one.kind == VAR:
            TYPE.pack_into(changed, one.at, 0, INT << 24, 1)
            WORD.pack_into(changed, one.at + TYPE.size, BYTE)
        elif one.kind == FUNC and one.count == EXTERN:
            TYPE.pack_into(changed, one.at, 0, POINTER << 24, one.size)
        elif one.kind == DATASEC:
            TYPE.pack_into(changed, one.at, 0, STRUCT << 24 | one.count, BYTE)
            for number in range(one.count):
                at = one.at + TYPE.size + LISTED.size * number
                LISTED.pack_into(changed, at, 0, LISTED.unpack_from(data, at)[0], 0)
    return bytes(changed)
