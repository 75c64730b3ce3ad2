"""At which end a capture was taken, beside the truth: simulated captures, cut to little."""

from __future__ import annotations

from collections import Counter

import pytest

from experiments.prose import vantage
from experiments.prose.vantage import Said

DELAYS_MS = (0.2, 1, 3, 20, 150)


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> Counter[Said]:
    return vantage.counted(tmp_path_factory.mktemp("vantage"), DELAYS_MS, pieces=1)


def test_verdicts_are_right_as_often_as_they_say(verdicts: Counter[Said]) -> None:
    for handshake in (True, False):
        known = {
            said for said in verdicts if said.handshake == handshake and said.right is not None
        }
        assert sum(verdicts[said] for said in known) >= 50, verdicts
        for confidence in {said.confidence for said in known}:
            right, wrong = (
                verdicts[Said(handshake, confidence, is_right)] for is_right in (True, False)
            )
            assert wrong <= (1 - confidence) * (right + wrong), verdicts


def test_handshakes_tell(verdicts: Counter[Said]) -> None:
    counts = {
        right: sum(n for said, n in verdicts.items() if said.handshake and said.right is right)
        for right in (True, None)
    }
    assert counts[True] >= 9 * counts[None], verdicts
