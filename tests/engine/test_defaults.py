"""A scenario that says nothing of its hosts gives the same picture with both engines."""

from __future__ import annotations

from engine.machines import Machine
from mptcplab.results.run import Run

SCENARIO = """\
schema = 1

[transfer]
direction = "download"
size = "30 MB"

[path.wifi]
rate = "20 Mbit/s"
delay = "10 ms"
queue = "100 kB"

[path.nr5g]
rate = "40 Mbit/s"
delay = "20 ms"
queue = "500 kB"
"""
# As docs/engines.md has it for several paths.
BAND = 0.15
# Where both lose next to nothing, a packet more or less is no difference.
LEAST_LOSS_PERCENT = 0.2
ORDER = 10


def test_both_engines_show_the_same_where_nothing_is_chosen(host: Machine) -> None:
    file = host.write(SCENARIO)
    out = host.directory / "simulated"
    done = host.run("run", file, "--no-baselines", "--no-report", "--out", out)
    assert done.returncode == 0, done.stderr
    assert "Linux's CUBIC, Linux's default scheduler" in done.stdout
    ours, theirs = Run(out / "mptcp"), host.undisturbed(SCENARIO)
    assert ours.throughput_mbps is not None
    assert theirs.throughput_mbps is not None
    assert abs(ours.throughput_mbps / theirs.throughput_mbps - 1) < BAND
    low, high = sorted(run.loss_rate_percent or 0.0 for run in (ours, theirs))
    assert high < ORDER * max(low, LEAST_LOSS_PERCENT), (low, high)
    assert set(ours.subflows["path"]) == set(theirs.subflows["path"]) == {"wifi", "nr5g"}
    # Both say the same of themselves.
    assert ours.about["policies"]["in_words"] == theirs.about["policies"]["in_words"]
