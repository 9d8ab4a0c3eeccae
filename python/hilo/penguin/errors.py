"""The two ways in which a program can fail; each has its own exit status in the command line."""


class PenguinError(Exception):
    """Base of both errors; `str()` is one line, lower case, without a full stop."""


class ProgramError(PenguinError):
    """The program, its netlist or its inputs are malformed (exit status 1)."""


class EvaluationError(PenguinError):
    """The program is well formed, but something in it can't be evaluated (exit status 3)."""


def require(condition, message):
    """Raises ProgramError with `message` unless `condition` holds."""
    if not condition:
        raise ProgramError(message)
