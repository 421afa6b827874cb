"""Machinery: how the process of a command ends before its time: by Ctrl-C, SIGTERM or SIGHUP, or by a fault of the lab.

While modules load, nothing was made yet, and a signal ends the process at once. Later the first one is raised as an
exception, so that the command cleans up on its way out; every further one is ignored until the process has ended.

Not covered
    A signal in the milliseconds in which Python itself starts. A pick_best that catches every exception and never
    returns.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

# Python's own default. Set so that PYTHONINTMAXSTRDIGITS cannot decide which files the lab can read and write.
_INT_MAX_STR_DIGITS = 4300
FAULT = 70  # EX_SOFTWARE of BSD's sysexits.h: 1 is a check's "no"
# Windows has no SIGHUP, which says that the terminal was closed.
SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]

_received: int | None = None
_held = False


class Terminated(SystemExit):
    """SIGTERM or SIGHUP asked the command to end."""


def begin_loading() -> None:
    """From here on a signal ends the process with one line, and an exception that nobody expected with status 70."""
    sys.excepthook = lambda _, error, __: _end_as_fault(error)
    _on_signals(_end_at_once)


def begin_running() -> None:
    """From here on the first signal is raised as KeyboardInterrupt or Terminated."""
    global _received
    _received = None
    begin_loading()
    sys.unraisablehook = lambda ignored: _note(ignored.exc_value)
    _on_signals(_raise)


def fix_int_digits() -> None:
    """In every process that works for a command: what it can read and write must not depend on who started it."""
    sys.set_int_max_str_digits(_INT_MAX_STR_DIGITS)


def ignore_signals() -> None:
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def was_signalled() -> bool:
    return _received is not None


def raise_received() -> None:
    """Raise again what a signal raised, whatever has become of it since. Does nothing where none has come."""
    if _received == signal.SIGINT:
        raise KeyboardInterrupt
    if _received is not None:
        raise Terminated(128 + _received)


@contextmanager
def signals_held() -> Iterator[None]:
    """A signal that comes within the block is raised at its end: what is written together is not torn apart.

    A process that is started within it does not get Ctrl-C at all, where the system can block a signal.
    """
    global _held
    _held = True
    mask = getattr(signal, "pthread_sigmask", None)
    before = mask(signal.SIG_BLOCK, SIGNALS) if mask else ()
    try:
        yield
    finally:
        if mask:
            mask(signal.SIG_SETMASK, before)
        _held = False
    raise_received()


def _on_signals(handler: Callable[[int, FrameType | None], None]) -> None:
    for number in SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:  # nohup, or a shell's background: the parent wants it ignored
            signal.signal(number, handler)


def _end_at_once(number: int, _: FrameType | None) -> None:
    with suppress(OSError):
        if number == signal.SIGINT:
            os.write(2, b"error: interrupted; nothing was begun\n")
    os._exit(128 + number)  # an exception raised in the midst of an import has been seen to crash Python


def _raise(number: int, _: FrameType | None) -> None:
    global _received
    _received = number
    ignore_signals()
    if not _held:
        raise_received()


def _end_as_fault(error: BaseException) -> None:
    import traceback

    if isinstance(error, KeyboardInterrupt):  # Ctrl-C while another error was being reported
        os._exit(128 + signal.SIGINT)
    lines = [*traceback.format_exception(error), "error: this is a fault of the lab, the lines above say where\n"]
    text = "".join(char if char.isprintable() or char == "\n" else ascii(char)[1:-1] for char in "".join(lines))
    for stream, rest in ((sys.stdout, ""), (sys.stderr, text)):
        with suppress(OSError, ValueError, AttributeError):  # a full disk, or closed by student or caller
            stream.write(rest)
            stream.flush()
    os._exit(FAULT)


def _note(error: BaseException | None) -> None:
    """An exception that nobody could catch, of a student's atexit handler say: a line in place of a traceback."""
    from course.text import described

    print(f"note: an exception was ignored: {described(error)}", file=sys.stderr)
