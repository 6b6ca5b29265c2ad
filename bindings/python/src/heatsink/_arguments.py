# SPDX-License-Identifier: Apache-2.0
"""Checks arguments and names them in errors: native code knows them by position only."""

import datetime
import operator
import os
import reprlib
from collections.abc import Callable
from typing import Any

_NOTHING = datetime.timedelta(0)
_MILLISECOND = datetime.timedelta(milliseconds=1)


def _wrong(name: str, what: str, value: object) -> TypeError:
    return TypeError(f"{name} must be {what}, not {reprlib.repr(value)}")


def text(name: str, value: object, like: str) -> str:
    """Checks a text. `like` is an example for the error text."""
    if not isinstance(value, str):
        raise _wrong(name, f"a str as in {like!r}", value)
    if "\0" in value:
        raise ValueError(f"{name} must not have a null character: {reprlib.repr(value)}")
    return value


def optional_text(name: str, value: object, like: str) -> str | None:
    """As text(); None stays None."""
    return None if value is None else text(name, value, like)


def rate(value: object) -> str:
    """Checks a rate, which is a text: a number alone has no time."""
    like = f"{value}/s" if isinstance(value, int) else "100/s"
    return text("rate", value, like)


def count(name: str, value: Any, most: int = 2**64 - 1) -> int:
    """Checks a whole number, also of another library's type."""
    try:
        whole = operator.index(value)
    except TypeError:
        raise _wrong(name, "a whole number", value) from None
    if not 0 <= whole <= most:
        raise OverflowError(f"{name} must be from 0 to {most}, not {whole}")
    return whole


def number(name: str, value: object) -> float:
    """Checks a number, whole or not."""
    if not isinstance(value, int | float):
        raise _wrong(name, "a number", value)
    return float(value)


def duration(name: str, value: object) -> datetime.timedelta:
    """Checks a timedelta: a number alone has no unit."""
    if not isinstance(value, datetime.timedelta):
        raise _wrong(name, "a datetime.timedelta", value)
    return value


def milliseconds(name: str, value: object) -> int:
    """The milliseconds of a duration, rounded up."""
    of = duration(name, value)
    if of < _NOTHING:
        raise ValueError(f"{name} must not be negative: {of}")
    return -(-of // _MILLISECOND)


def path(name: str, value: Any) -> str | None:
    """Checks a path; None stays None."""
    if value is None:
        return None
    try:
        return text(name, os.fsdecode(value), "heatsink.yaml")
    except TypeError:
        raise _wrong(name, "a path as in 'heatsink.yaml'", value) from None


def function(name: str, value: Any) -> Callable[..., Any] | None:
    """Checks a function; None stays None."""
    if value is not None and not callable(value):
        raise _wrong(name, "a function", value)
    called: Callable[..., Any] | None = value
    return called
