# SPDX-License-Identifier: Apache-2.0
"""The decorator: a function that loads one key, served from the local copy while the key is hot."""

import functools
import inspect
import string
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar, cast, overload

if TYPE_CHECKING:
    from heatsink._client import Client

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class Cached(Protocol[P, R_co]):
    """A decorated function."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...

    def key(self, *args: P.args, **kwargs: P.kwargs) -> str | bytes:
        """The key for these arguments."""

    def invalidate(self, *args: P.args, **kwargs: P.kwargs) -> None:
        """Drops the copy for these arguments. Call it after writing what the function loads."""

    # In a class it becomes a method, as a function does. The parameters of the method are not
    # checked: mypy 1.0 cannot remove `self` from them (Concatenate in the type of self).
    @overload
    def __get__(self, instance: None, owner: type, /) -> "Cached[P, R_co]": ...
    @overload
    def __get__(self, instance: object, owner: type | None = None, /) -> Callable[..., R_co]: ...


class Decorator(Protocol):
    """Decorates any function: a key template does not constrain the parameters' types."""

    def __call__(self, function: Callable[P, R], /) -> Cached[P, R]: ...


def cached(client: "Client", key: str | Callable[..., str | bytes]) -> Decorator:
    """Implements Client.cached()."""

    def decorate(function: Callable[P, R], /) -> Cached[P, R]:
        key_of: Callable[..., str | bytes]
        key_of = _by_template(key, function) if isinstance(key, str) else key
        serve: Any = _awaitable if inspect.iscoroutinefunction(function) else _plain
        served: Any = functools.wraps(function)(serve(client, key_of, function))

        def invalidate(*args: P.args, **kwargs: P.kwargs) -> None:
            client.invalidate(key_of(*args, **kwargs))

        served.key = key_of
        served.invalidate = invalidate
        return cast("Cached[P, R]", served)

    return decorate


def _plain(client: "Client", key_of: Callable[..., Any], function: Callable[..., Any]) -> Any:
    def served(*args: Any, **kwargs: Any) -> Any:
        return client.get(key_of(*args, **kwargs), lambda _: function(*args, **kwargs))

    return served


def _awaitable(client: "Client", key_of: Callable[..., Any], function: Callable[..., Any]) -> Any:
    async def served(*args: Any, **kwargs: Any) -> Any:
        async def load(_: str) -> Any:
            return await function(*args, **kwargs)

        return await client.aget(key_of(*args, **kwargs), load)

    return served


def _by_template(template: str, function: Callable[..., Any]) -> Callable[..., str]:
    """Makes keys from a template. Avoids Signature.bind(), which costs more than a hit."""
    signature = inspect.signature(function)
    names = tuple(signature.parameters)
    wanted = {
        field.split(".")[0].split("[")[0]
        for _, field, _, _ in string.Formatter().parse(template)
        if field is not None
    }
    if unknown := sorted(wanted - set(names)):
        raise ValueError(
            f"the key {template!r} names {unknown[0]!r}, "
            f"which is not a parameter of {function.__qualname__}{signature}"
        )
    kinds = {parameter.kind for parameter in signature.parameters.values()}
    if kinds & {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}:
        return functools.partial(_bound, template, signature)
    defaults = {
        name: parameter.default
        for name, parameter in signature.parameters.items()
        if parameter.default is not inspect.Parameter.empty
    }

    def key_of(*args: Any, **kwargs: Any) -> str:
        try:
            return template.format_map({**defaults, **dict(zip(names, args)), **kwargs})
        except KeyError:
            return _bound(template, signature, *args, **kwargs)

    return key_of


def _bound(template: str, signature: inspect.Signature, /, *args: Any, **kwargs: Any) -> str:
    given = signature.bind(*args, **kwargs)  # raises the same TypeError as the function
    given.apply_defaults()
    return template.format_map(given.arguments)
