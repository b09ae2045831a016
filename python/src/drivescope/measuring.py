"""Measuring a drive: the program as a subprocess, with its progress."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Callable, Optional, Union

from .errors import ProgramFailed, TimedOut
from .program import environment, find_program, not_started
from .run import Run
from .store import PathLike, folder_of

#: What an option may be: True stands for an option without a value, None and False for an option that is left out.
OptionValue = Union[str, int, float, bool, None]
_DONE = re.compile(r"(\d+) % done, (.*)")
#: Lines of standard error that an error quotes.
_QUOTED_LINES = 12
#: After Ctrl-C the program ends in order, keeping its results; then it is killed.
_ENDING_SECONDS = 20.0


@dataclass(frozen=True)
class Progress:
    """How far a run is, as the program prints it every few seconds."""

    #: 0 to 1, by time.
    share: float
    #: Throughput, time left and phase, for people.
    text: str


def measure(
    target: PathLike,
    experiment: str = "check",
    *,
    store: Optional[PathLike] = None,
    progress: Optional[Callable[[Progress], None]] = None,
    timeout: Optional[float] = None,
    **options: OptionValue,
) -> Run:
    """Measures a device, file, folder or virtual drive (``sim:NAME``) and returns the run.

    ``experiment`` is a command of the program that measures: ``check``, ``surface``, ``access``, ``sustain`` and so on.
    ``options`` are its options with underscores: ``seed=1``, ``time_limit="10s"``, ``range="10%..20%"``. Without
    ``write=True`` the drive is opened read-only; nothing here consents to a write in your place.

    ``progress`` is called from this thread. After ``timeout`` seconds the program is stopped in order and
    :class:`TimedOut` is raised; the run stays in the store as interrupted.

    Raises :class:`ProgramNotFound` or :class:`ProgramFailed`, whose ``message`` is the program's reason.
    """
    with tempfile.TemporaryFile("w+", encoding="utf-8") as document:
        arguments = [experiment, str(target), "--store", str(folder_of(store)), "--json", "-"]
        command = [str(find_program()), *arguments, *_rendered(options)]
        code, message, is_late = _watch(command, document, progress, timeout)
        if is_late:
            raise TimedOut(f"'{' '.join(command)}' did not end within {timeout} s; its run is kept as interrupted")
        document.seek(0)
        text = document.read()
        if code != 0 or not text:
            raise ProgramFailed(command, code, message)
        parsed = json.loads(text)
    return Run.from_document(parsed, Path(folder_of(store)) / "runs" / parsed["run"]["id"])


def _rendered(options: dict[str, OptionValue]) -> list[str]:
    arguments = []
    for name, value in options.items():
        option = "--" + name.strip("_").replace("_", "-")
        if value is True:
            arguments.append(option)
        elif value is not None and value is not False:
            # One word, so that a value which begins with a dash is no option.
            arguments.append(f"{option}={value}")
    return arguments


def _watch(
    command: list[str],
    document: IO[str],
    progress: Optional[Callable[[Progress], None]],
    timeout: Optional[float],
) -> tuple[int, str, bool]:
    """Runs it to its end: exit code, the last lines of standard error, and whether it had to be stopped."""
    try:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=document,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            env=environment(),
        )
    except OSError as error:
        raise not_started(command, error) from error
    assert child.stderr is not None
    late = threading.Event()
    timer = _stop_after(child, timeout, late)
    lines: list[str] = []
    try:
        for line in child.stderr:
            done = _DONE.match(line)
            if done is None:
                lines = (lines + [line.rstrip()])[-_QUOTED_LINES:]
            elif progress is not None:
                progress(Progress(int(done[1]) / 100, done[2].rstrip()))
        return child.wait(), "\n".join(lines).strip(), late.is_set()
    finally:
        if timer is not None:
            timer.cancel()
        # An exception of ``progress`` or Ctrl-C: the run ends in order, and the drive is left alone.
        _end(child)
        child.stderr.close()


def _stop_after(
    child: subprocess.Popen[str], timeout: Optional[float], late: threading.Event
) -> Optional[threading.Timer]:
    if timeout is None:
        return None

    def stop() -> None:
        late.set()
        _end(child)

    timer = threading.Timer(timeout, stop)
    timer.daemon = True
    timer.start()
    return timer


def _end(child: subprocess.Popen[str]) -> None:
    if child.poll() is not None:
        return
    child.terminate()
    until = time.monotonic() + _ENDING_SECONDS
    while child.poll() is None and time.monotonic() < until:
        time.sleep(0.05)
    if child.poll() is None:
        child.kill()
        child.wait()
