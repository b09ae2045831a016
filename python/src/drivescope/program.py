"""Where the program is, and how it is called: always with a time limit and without standard input."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import Optional

from .errors import ProgramFailed, ProgramNotFound, TimedOut

#: Names the program, if it is not the one that was installed with this package.
VARIABLE = "DRIVESCOPE_PROGRAM"

#: Seconds for commands that measure nothing.
COMMAND_SECONDS = 60.0


def find_program() -> Path:
    """The program: ``$DRIVESCOPE_PROGRAM``, else that beside this interpreter, else the first on the search path.

    Raises :class:`ProgramNotFound`.
    """
    named = os.environ.get(VARIABLE)
    if named:
        if os.access(named, os.X_OK):
            return Path(named)
        raise ProgramNotFound(f"${VARIABLE} names {named}, which is no program. Correct or unset it.")
    beside = Path(sysconfig.get_path("scripts")) / "drivescope"
    if os.access(beside, os.X_OK):
        return beside
    found = shutil.which("drivescope")
    if found is None:
        raise ProgramNotFound(
            "cannot find the program drivescope, neither beside this Python nor on PATH. "
            "Install it with 'pip install drivescope'."
        )
    return Path(found)


def environment() -> dict[str, str]:
    """The variables of this process for the program, without the one that only says where it is."""
    return {name: value for name, value in os.environ.items() if name != VARIABLE}


def output_of(arguments: list[str], timeout: Optional[float] = COMMAND_SECONDS) -> str:
    """Standard output of ``drivescope ARGUMENTS``.

    Raises :class:`ProgramNotFound`, :class:`ProgramFailed` or :class:`TimedOut`.
    """
    command = [str(find_program()), *arguments]
    try:
        ended = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=timeout,
            env=environment(),
        )
    except subprocess.TimeoutExpired as error:
        raise TimedOut(f"'{' '.join(command)}' did not end within {timeout} s") from error
    except OSError as error:
        raise not_started(command, error) from error
    if ended.returncode != 0:
        raise ProgramFailed(command, ended.returncode, ended.stderr.strip())
    return ended.stdout


def not_started(command: list[str], error: OSError) -> ProgramFailed:
    """The error of a program that the system does not run."""
    message = str(error)
    if error.errno == errno.ENOEXEC:
        message = f"it was built for another architecture than {os.uname().machine}. Install the wheel for this one."
    return ProgramFailed(command, error.errno or 1, message)
