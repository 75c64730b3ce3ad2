"""Numbers, subflows, events and policies as people read them, on terminal and page alike."""

from __future__ import annotations
