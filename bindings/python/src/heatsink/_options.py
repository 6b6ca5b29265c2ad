# SPDX-License-Identifier: Apache-2.0
"""Options as keywords. The library lists them and checks their values."""

import datetime
import difflib
import functools
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Union

from heatsink import _native

# A duration is a timedelta or a text with its unit: "10s", "250ms".
Setting = Union[bool, int, float, str, datetime.timedelta]


@dataclass(frozen=True)
class Option:
    """One option. Client takes it as detection_hot_qps, or as hot_qps if that is unique."""

    name: str  # "detection.hot-qps"
    default: str
    bounds: str  # empty: any text
    meaning: str


@functools.cache
def options() -> tuple[Option, ...]:
    """All options of a Client."""
    return tuple(Option(**row) for row in _native.list_options())


@functools.cache
def _names() -> dict[str, str]:
    """Maps keywords to option names."""
    short = Counter(option.name.split(".", 1)[1] for option in options())
    names = {}
    for option in options():
        names[_keyword(option.name)] = option.name
        last = option.name.split(".", 1)[1]
        if short[last] == 1:
            names[_keyword(last)] = option.name
    return names


def _keyword(name: str) -> str:
    return name.replace(".", "_").replace("-", "_")


def option_name(keyword: str) -> str:
    """The option that a keyword names. TypeError: none."""
    if name := _names().get(keyword):
        return name
    near = difflib.get_close_matches(keyword, _names(), 1)
    also = [each for each in _names() if each.endswith("_" + keyword)]
    hint = " or ".join(also) if also else near[0] if near else ""
    raise TypeError(f"unknown option {keyword!r}" + (f": did you mean {hint}?" if hint else ""))


def _text(value: Setting) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.timedelta):
        return f"{value // datetime.timedelta(microseconds=1)}us"
    return str(value)


def yaml_of(keywords: Mapping[str, Setting]) -> str | None:
    """YAML with all keywords at once: some options are valid only together. JSON is YAML."""
    groups: dict[str, dict[str, str]] = {}
    for keyword, value in keywords.items():
        group, last = option_name(keyword).split(".", 1)
        groups.setdefault(group, {})[last] = _text(value)
    return json.dumps(groups) if groups else None
