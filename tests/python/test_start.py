"""The command starts at once: it loads none of the slow modules."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SLOW = {"dask", "matplotlib", "numpy", "polars", "pydantic", "rich", "scipy"}

RUN = """
import sys
from pathlib import Path
from mptcplab.cli.main import main
try:
    main(sys.argv[1:])
except SystemExit as exit:
    assert not exit.code, exit.code
print("loaded:", *sorted({name.partition(".")[0] for name in sys.modules}))
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["analyze", "--help"],
        ["analyze"],
        ["analyze", "--json"],
        ["run", "--help"],
        ["report", "--help"],
        ["figure", "--help"],
        ["figure", "--list"],
        ["compare", "--help"],
        ["shell", "--help"],
        ["sweep", "--help"],
        ["scenarios"],
        ["links", "lte"],
        ["campaigns", "size-and-controller"],
        ["controllers", "ewtcp"],
        ["radio", "lte"],
    ],
)
def test_slow_modules_stay_out(arguments: list[str], download: list[str]) -> None:
    captures = download if arguments[0] == "analyze" and "--help" not in arguments else []
    command = [sys.executable, "-c", RUN, *arguments, *captures]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[-1].split()) - {"loaded:"}
    assert "mptcplab" in loaded
    assert not loaded & SLOW


def test_importing_mptcplab_does_not_load_polars() -> None:
    code = "import mptcplab, sys; mptcplab.analyze; sys.exit('polars' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("process", ["agent", "lab", "supervisor"])
def test_processes_of_a_run_load_nothing_of_results(process: str) -> None:
    code = f"import mptcplab.engines.kernel.{process}, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert f"mptcplab.engines.kernel.{process}" in loaded
    assert not [name for name in loaded if name.startswith(("mptcplab.api", "mptcplab.results"))]


def test_results_are_drawn_for_who_imports_nothing_else() -> None:
    code = (
        "from mptcplab import pages; from mptcplab.results.run import Run; import sys; "
        "assert 'mptcplab.api.pages' not in sys.modules; print(pages.html, pages.draw, pages.write)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.count("<function") == 3


def test_all_that_the_package_names_is_there() -> None:
    import mptcplab

    assert set(mptcplab.__all__) <= set(dir(mptcplab))
    for name in mptcplab.__all__:
        assert getattr(mptcplab, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'analyse'"):
        mptcplab.analyse  # noqa: B018 - asking is what is tested


def test_who_misspells_a_name_of_the_package_is_told_the_right_one() -> None:
    code = "import mptcplab; mptcplab.analyse"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "Did you mean: 'analyze'?" in done.stderr


def test_pages_do_not_load_matplotlib(download: list[str], tmp_path: Path) -> None:
    """It is an extra, for figures."""
    command = [sys.executable, "-c", RUN, "report", *download, "--out", str(tmp_path / "page.html")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "matplotlib" not in done.stdout.splitlines()[-1].split()
