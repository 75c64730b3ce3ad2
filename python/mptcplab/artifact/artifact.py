"""An artifact: what was run, and its metrics, as a zip file."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mptcplab._core import VERSION, Error
from mptcplab.reading import read_bytes
from mptcplab.writing import write_whole

ABOUT = "artifact.json"
README = "README.md"
SCHEMA = 1
#: Why files of an artifact are not read beyond this: a zip file of a few bytes may hold many.
MOST_BYTES = 1 << 28
# Of zip files' entries, so that the same artifact has the same bytes.
EPOCH = (1980, 1, 1, 0, 0, 0)
NEEDED = {"schema", "mptcplab", "build", "engine", "tolerance_percent", "runs"}

TEXT = """\
# {title}

{count} of mptcplab {version} ({engine} engine), with what it takes to repeat them. With mptcplab
installed (`pip install mptcplab=={version}`) this runs them again and says which metrics come out
the same:

```sh
mptcplab verify {name}
```

`{about}` has the random seed of each run, the scenario that it ran, and its metrics, whose
definitions are in mptcplab's documentation.
"""


@dataclass(frozen=True)
class Planned:
    """A run of an artifact, and the metrics that it had."""

    name: str
    #: The file in the artifact that holds its scenario in full.
    scenario: str
    seed: int
    #: The path of plain TCP; None with MPTCP.
    path: str | None
    finished: bool
    metrics: dict[str, float | None]


@dataclass(frozen=True)
class Artifact:
    """What an artifact holds."""

    title: str
    engine: str
    #: Version and build of the mptcplab that ran it.
    version: str
    build: str
    #: How far a metric may be from what it was and is still called reproduced.
    tolerance_percent: float
    runs: list[Planned]
    #: Scenarios in full (TOML), by their files.
    scenarios: dict[str, str]

    def write(self, target: Path) -> None:
        """Write it.

        Raises:
            Error: It cannot be written.
        """
        about = {
            "schema": SCHEMA,
            "title": self.title,
            "mptcplab": self.version,
            "build": self.build,
            "engine": self.engine,
            "tolerance_percent": self.tolerance_percent,
            "runs": [asdict(run) for run in self.runs],
        }
        readme = TEXT.format(
            title=self.title,
            count="1 run" if len(self.runs) == 1 else f"{len(self.runs)} runs",
            version=self.version,
            engine=self.engine,
            name=target.name,
            about=ABOUT,
        )
        content = {
            README: readme,
            ABOUT: json.dumps(about, indent=1, ensure_ascii=False) + "\n",
            **self.scenarios,
        }
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
            for name, text in content.items():
                file.writestr(zipfile.ZipInfo(name, EPOCH), text, zipfile.ZIP_DEFLATED)
        write_whole(target, packed.getvalue())


def read(file: Path) -> Artifact:
    """Read an artifact.

    Raises:
        Error: It is none, is damaged, or is of a later version.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(read_bytes(file, MOST_BYTES))) as packed:
            if ABOUT not in packed.namelist():
                raise Error(f"{file} is not an artifact: it holds no {ABOUT}")
            if sum(entry.file_size for entry in packed.infolist()) > MOST_BYTES:
                raise Error(f"{file} holds more than {MOST_BYTES >> 20} MiB, as no artifact does")
            about = json.loads(packed.read(ABOUT))
            return _checked(about, packed, file)
    except FileNotFoundError:
        raise Error(f"{file}: there is no such file; mptcplab package makes it") from None
    except OSError as error:
        raise Error(f"cannot read {file}: {error.strerror or error}") from None
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError):
        raise Error(f"{file} is not an artifact: it is not a zip file, or damaged") from None
    except (ValueError, KeyError, TypeError) as error:
        raise Error(f"{file} is damaged: {ABOUT} lacks what an artifact has ({error})") from None


def _checked(about: dict[str, Any], packed: zipfile.ZipFile, file: Path) -> Artifact:
    if missing := NEEDED - about.keys():
        raise ValueError(", ".join(sorted(missing)))
    if about["schema"] != SCHEMA:
        raise Error(
            f"{file} has schema {about['schema']}, and this mptcplab ({VERSION}) reads {SCHEMA}"
        )
    runs = [Planned(**run) for run in about["runs"]]
    texts = {run.scenario: packed.read(run.scenario).decode() for run in runs}
    return Artifact(
        title=str(about.get("title", "")),
        engine=str(about["engine"]),
        version=str(about["mptcplab"]),
        build=str(about["build"]),
        tolerance_percent=float(about["tolerance_percent"]),
        runs=runs,
        scenarios=texts,
    )
