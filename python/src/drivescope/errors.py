"""What this package raises when something cannot be done."""

from __future__ import annotations


class DrivescopeError(Exception):
    """Base of all errors of this package. The text says operation, object, cause and what to do."""


class StoreError(DrivescopeError):
    """A store or a run in it cannot be read."""


class ProgramNotFound(DrivescopeError):
    """The program ``drivescope`` is neither beside this package nor on the search path."""


class ProgramFailed(DrivescopeError):
    """The program ended without success.

    ``exit_code`` is that of the program (1 failed, 2 usage), or minus the number of the signal that ended it.
    ``message`` is what it printed on standard error.
    """

    def __init__(self, command: list[str], exit_code: int, message: str) -> None:
        self.command = command
        self.exit_code = exit_code
        self.message = message
        super().__init__(f"'{' '.join(command)}' ended with exit code {exit_code}: {message}")


class TimedOut(DrivescopeError):
    """The program was still running at the time limit and was stopped. Its run is kept as interrupted."""
