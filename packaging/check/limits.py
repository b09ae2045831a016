"""Sizes and times that a new user notices, each beside its limit: `limits.py DIST NAME ARCHITECTURE`, in an empty folder.

Fails when one is above its limit. Times are those of this machine and its network: pip downloads Arrow.
"""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Optional

SCRIPTS = Path(__file__).parent
CHECK = ["check", "sim:zoned", "--seed", "1", "--quiet"]
IMPORT = "import time; begun = time.perf_counter(); import drivescope; print(time.perf_counter() - begun)"


def told(*command: object) -> str:
    environment = {**os.environ, "XDG_DATA_HOME": os.getcwd()}
    return subprocess.run(
        [str(word) for word in command], env=environment, check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def static_file(dist: Path, name: str) -> float:
    """From the archive to the page: copied in place of a download, unpacked, run."""
    begun = time.perf_counter()
    shutil.copy(dist / f"{name}.tar.gz", "downloaded.tar.gz")
    told("tar", "-xzf", "downloaded.tar.gz")
    page = told(f"{name}/bin/drivescope", *CHECK)
    took = time.perf_counter() - begun
    assert page.startswith("sim:zoned"), page
    return took


def wheel_installed(wheel: Path) -> tuple[float, float]:
    """In a fresh environment: how long pip takes, and with the first page."""
    told(sys.executable, "-m", "venv", "venv")
    begun = time.perf_counter()
    told("venv/bin/pip", "install", "--quiet", "--no-input", "--disable-pip-version-check", wheel)
    installed = time.perf_counter() - begun
    page = told("venv/bin/drivescope", *CHECK)
    assert page.startswith("sim:zoned"), page
    return installed, time.perf_counter() - begun


def main(dist: Path, name: str, architecture: str) -> None:
    (wheel,) = dist.glob(f"drivescope-*_{architecture}.whl")
    rows: list[tuple[str, float, Optional[float]]] = [("wheel, MB", wheel.stat().st_size / 1e6, 9.0)]
    rows.append(("static file: archive to first page, s", static_file(dist, name), 3.0))
    installed, first_page = wheel_installed(wheel)
    rows.append(("wheel: pip install with Arrow, s", installed, 10.0))
    rows.append(("wheel: pip install to first page, s", first_page, 10.0))
    # The first import compiles, the second is what a user has every day.
    imports = [float(told("venv/bin/python", "-c", IMPORT)) for _ in range(2)]
    rows.append(("import drivescope, s", imports[1], 0.3))
    long_run = told("venv/bin/python", SCRIPTS / "long_run.py", "make").strip()
    loaded_s, loaded_mb, summed_s, summed_mb = map(
        float, told("venv/bin/python", SCRIPTS / "long_run.py", "load", long_run).split()
    )
    rows.append(("load, 10 million intervals, s", loaded_s, 1.0))
    rows.append(("load, 10 million intervals, memory of Python, MB", loaded_mb, 200.0))
    rows.append(("their bytes added up by run.batches, s", summed_s, None))
    rows.append(("their bytes added up by run.batches, memory of Python, MB", summed_mb, 200.0))
    print("| | measured | limit |\n|---|---:|---:|")
    for what, measured, limit in rows:
        print(f"| {what} | {measured:.2f} | {'' if limit is None else f'{limit:g}'} |")
    above = [what for what, measured, limit in rows if limit is not None and measured > limit]
    if above:
        sys.exit(f"above the limit: {'; '.join(above)}")


main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
