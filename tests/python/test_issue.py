"""The bundle for kernel maintainers: what is in it, and what is not."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from small import SMALL

import mptcplab as lab
from command import Run


def test_a_bundle_holds_scenario_headers_and_state(mptcplab: Run, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    out = tmp_path / "runs"
    comparison = lab.run(tmp_path / "small.toml", out=out, baselines=False)
    done = mptcplab("report", out, "--issue")
    file = out / "mptcp-issue.zip"
    assert done.stdout == f"{file}\n"
    archive = zipfile.ZipFile(file)
    names = ["scenario.toml", "run.json", "state.csv", "client.pcapng", "server.pcapng"]
    assert archive.namelist() == ["README.txt", *names, "summary.json"]
    readme = archive.read("README.txt").decode()
    assert all(name in readme for name in names)
    archive.extractall(tmp_path / "out")
    again = lab.run(tmp_path / "out" / "scenario.toml", baselines=False)
    assert again.mptcp.throughput_mbps == comparison.mptcp.throughput_mbps
    # Measured again of what is in it, it is the same transfer between others.
    captures = [tmp_path / "out" / name for name in ("client.pcapng", "server.pcapng")]
    measured = lab.analyze(captures)
    ours = lab.analyze([out / "mptcp" / name for name in ("client.pcapng", "server.pcapng")])
    columns = ["bytes", "elapsed_s"]
    assert measured.transfers.select(columns).equals(ours.transfers.select(columns))
    whole = b"".join(archive.read(name) for name in ("run.json", "summary.json"))
    for address in ours.subflows["client_address"]:
        assert address.encode() not in whole
    assert str(tmp_path).encode() not in whole
    document = json.loads(archive.read("run.json"))
    assert document["outcome"]["finished"]


def test_what_has_no_captures_has_no_bundle(mptcplab: Run, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL.replace("300 kB", "4 kB"))
    lab.run(tmp_path / "small.toml", out=tmp_path / "runs", baselines=False, captures="none")
    with pytest.raises(lab.Error, match="has no captures"):
        lab.write_issue(tmp_path / "runs")
    done = mptcplab("report", tmp_path / "runs", "--issue", "--connection", "0")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--connection does not go with --issue" in done.stderr
