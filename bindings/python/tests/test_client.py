# SPDX-License-Identifier: Apache-2.0
"""A Client in one thread."""

import datetime
import gc
import json
import pathlib
import weakref

import pytest

import heatsink
from conftest import QUIET, Source
from harness.patience import PATIENCE_S, until


def test_a_cold_key_goes_to_the_loader_each_time(client, source):
    assert client.get("a", source) == "a value"
    assert client.get(b"a", source) == "a value"
    assert source.keys == ["a", b"a"]
    assert not client.is_hot("a") and client.peek("a") is None


def test_a_hot_key_is_loaded_once(client, source):
    assert client.warm(["a", "b"], source) == []
    assert source.keys == ["a", "b"]
    for key in ("a", b"a"):  # which are the same
        assert client.get(key, source) == "a value"
        assert client.peek(key) == "a value"
        assert client.is_hot(key)
    assert source.keys == ["a", "b"]


def test_what_does_not_exist_is_none_and_kept_as_such(client):
    source = Source(None)
    assert client.get("a", source) is None
    client.warm(["a"], source)
    assert client.get("a", source) is None
    assert client.peek("a") is None
    assert len(source.keys) == 2


@pytest.mark.parametrize("value", ["", b"", "größe", b"\x00\xff", "\ud800", "x" * 100_000])
def test_values_come_back_as_they_were(client, value):
    source = Source(value)
    assert client.get("a", source) == value
    client.warm(["a"], source)
    hit = client.get("a", source)
    assert hit == value and type(hit) is type(value)


@pytest.mark.parametrize("key", ["", b"", "größe", b"\x00\xff", "a\x00b", "k" * 10_000])
def test_keys_are_any_text_or_bytes(client, key):
    source = Source()
    client.warm([key], source)
    assert client.get(key, source) == "a value"
    assert source.keys == [key]


def test_a_key_is_text_or_bytes(client, source):
    for call in (client.is_hot, client.peek, client.record, client.invalidate):
        with pytest.raises(TypeError, match="a key must be str or bytes, not int"):
            call(1)
    with pytest.raises(TypeError, match="not NoneType"):
        client.get(None, source)
    with pytest.raises(UnicodeEncodeError):
        client.get("\ud800", source)


def test_other_values_need_a_codec(client):
    for is_hot in (False, True):
        with pytest.raises(TypeError, match="not dict: pass encode= and decode= to the Client"):
            client.get("a", Source({}))
        if not is_hot:
            with pytest.raises(TypeError):
                client.warm(["a"], Source({}))
    with pytest.raises(TypeError):
        client.set("a", 1, lambda *_: None)
    with pytest.raises(TypeError, match="loader is missing: pass a loader, or create"):
        client.get("a")
    with pytest.raises(TypeError, match="2 positional arguments"):
        client.get("a", Source(), Source())
    with pytest.raises(TypeError, match="a loader must be callable"):
        client.get("a", "b")


def test_a_codec_makes_the_same_of_hot_and_cold_values():
    source = Source({"price": (1, 2)})
    with heatsink.Client(encode=json.dumps, decode=json.loads, **QUIET) as client:
        assert client.get("a", source) == {"price": [1, 2]}
        client.warm(["a"], source)
        assert client.get("a", source) == client.peek("a") == {"price": [1, 2]}
        client.set("a", {"price": 3}, lambda key, value: None)
        assert client.get("a", source) == {"price": 3}
        client.update("a", None)
        assert client.get("a", source) is None
        assert len(source.keys) == 2


def test_a_codec_that_fails_is_heard_of():
    with heatsink.Client(encode=lambda value: 1, **QUIET) as client:
        with pytest.raises(TypeError, match="encode returned int"):
            client.get("a", Source())
    with heatsink.Client(decode=json.loads, **QUIET) as client:
        for _ in range(2):
            with pytest.raises(json.JSONDecodeError):
                client.get("a", Source("no json"))
            client._warm("a", Source("no json"), 60_000)


class Odd(Exception):
    def __init__(self, one, two):
        super().__init__("odd")
        self.both = one, two


@pytest.mark.parametrize("error", [KeyError("a"), Odd(1, 2), KeyboardInterrupt()])
def test_what_a_loader_raises_comes_back_as_it_was(client, error):
    source = Source(error)
    for _ in range(2):
        with pytest.raises(type(error)) as raised:
            client.get("a", source)
        assert raised.value is error
        with pytest.raises(type(error)):
            client.warm(["a"], source)
    assert client.is_hot("a")


def test_writes_go_to_the_source_and_then_to_the_copy(client, source):
    client.warm(["a"], source)
    written = []
    client.set("a", "new", lambda key, value: written.append((key, value)))
    assert client.get("a", source) == "new"
    client.delete("a", lambda key: written.append(key))
    assert client.get("a", source) is None
    assert written == [("a", "new"), "a"]
    client.update("a", b"newer")
    assert client.get("a", source) == b"newer"
    assert len(source.keys) == 1
    client.invalidate("a")
    assert client.get("a", source) == "a value"


def test_a_write_that_fails_leaves_no_copy(client, source):
    def fail(*_):
        raise OSError("the disk is full")

    for write in (lambda: client.set("a", "new", fail), lambda: client.delete("a", fail)):
        client.warm(["a"], source)
        with pytest.raises(OSError, match="the disk is full"):
            write()
        assert client.peek("a") is None


def test_what_is_read_often_becomes_hot(source):
    events = []
    with heatsink.Client(
        hot_qps=10, warm_qps=5, window=datetime.timedelta(seconds=1), tick="10ms"
    ) as client:
        client.on_hot(events.append)

        def is_told():
            client.get("a", source)
            client.record("counted")
            return [event for event in events if event.text == "a"]

        (event,) = until(is_told, PATIENCE_S, "the key became hot")[:1]
        assert event.is_hot and event.key == b"a" and event.reason
        hot = until(lambda: client.top(), PATIENCE_S, "the key was listed")
        assert {"a", "counted"} >= {key.text for key in hot}
        assert hot[0].rate_low <= hot[0].rate_high and hot[0].temperature == "hot"
        until(lambda: client.get("a", source) and client.stats().hit_ratio > 0, PATIENCE_S, "hits")
        stats = client.stats()
        assert stats.hot_keys >= 1 and stats.reads_per_second > 0
        lines = client.metrics_text().splitlines()
        (hits,) = [line for line in lines if line.startswith("heatsink_local_hits_total ")]
        assert int(float(hits.split()[1])) >= 1


def test_reports_come_by_themselves(client, source):
    reports = []
    with heatsink.Client(report_interval="1s", tick="10ms") as reporter:
        reporter.on_report(reports.append)
        reporter.get("a", source)
        until(lambda: len(reports) >= 2, PATIENCE_S, "two reports have come")
    assert {type(report) for report in reports} == {heatsink.Stats}
    assert reports[-1].hot_keys == 0
    with pytest.raises(TypeError, match="must be callable"):
        client._on_report(1)


def test_a_listener_that_raises_is_heard_of(monkeypatch, source):
    heard = []
    monkeypatch.setattr("sys.unraisablehook", lambda what: heard.append(what.exc_value))
    with heatsink.Client(hot_qps=10, warm_qps=5, window="1s", tick="10ms") as client:

        def listener(event):
            raise ValueError(event.text)

        client.on_hot(listener)
        until(lambda: client.get("a", source) and heard, PATIENCE_S, "the listener was called")
    assert isinstance(heard[0], ValueError) and heard[0].args == ("a",)


def test_hot_keys_are_refreshed_in_the_background():
    values = iter(range(1_000_000))
    with heatsink.Client(refresh_interval="10ms", detection_enabled=False) as client:
        client.warm(["a"], lambda key: str(next(values)))
        until(lambda: (client.peek("a") or "0") > "3", PATIENCE_S, "the copy was refreshed")
        assert client.stats().refreshes > 0


def test_no_room_is_told(client, source):
    with heatsink.Client(maximum_size=1, **QUIET) as small:
        assert small.warm(["a", "b", "c"], source) == ["b", "c"]


def test_after_the_end_reads_go_to_the_loader(client, source):
    client.warm(["a"], source)
    client.close()
    client.close()
    assert client.get("a", source) == "a value" and len(source.keys) == 2
    assert not client.is_hot("a") and client.peek("a") is None


def test_a_loader_cannot_close(client):
    with pytest.raises(RuntimeError, match=r"close\(\) cannot be called"):
        client.get("a", lambda key: client.close())


def test_a_loader_may_read_another_key(client, source):
    client.warm(["b"], source)
    assert client.get("a", lambda key: client.get("b", source)) == "a value"


def test_loaders_are_given_up(client):
    source = Source()
    gone = weakref.ref(source)
    client.get("cold", source)
    client.warm(["a"], source)
    client.invalidate("a")
    client.get("a", source)
    del source
    gc.collect()
    assert gone() is None  # nothing is refreshed, so nothing is kept


def test_a_client_that_is_dropped_ends(source):
    client = heatsink.Client(detection_enabled=False)
    client.warm(["a"], source)
    gone = weakref.ref(client)
    del client
    gc.collect()
    assert gone() is None


class TestOptions:
    def test_wrong_ones_are_named_with_their_bounds(self):
        with pytest.raises(ValueError, match=r"detection\.hot-qps.*0\.01 \.\. 1000000000"):
            heatsink.Client(hot_qps=-1)
        with pytest.raises(ValueError, match=r"detection\.window is 10m"):
            heatsink.Client(window="10m", inactive_expire="1m")
        with pytest.raises(ValueError, match=r"detection\.window"):
            heatsink.Client(window="soon")

    def test_unknown_ones_have_a_hint(self):
        with pytest.raises(TypeError, match="unknown option 'hot_qbs': did you mean hot_qps"):
            heatsink.Client(hot_qbs=1)
        with pytest.raises(TypeError, match="option 'enabled': did you mean .*cache_enabled"):
            heatsink.Client(enabled=False)

    def test_of_another_type_are_told_by_their_names(self):
        for how, sentence in (
            ({"file": 7}, "^file must be a path as in 'heatsink.yaml', not 7$"),
            ({"yaml": 7}, "^yaml must be a str as in "),
            ({"encode": 7}, "^encode must be a function, not 7$"),
            ({"decode": "loads"}, "^decode must be a function, not 'loads'$"),
        ):
            with pytest.raises(TypeError, match=sentence):
                heatsink.Client(**how)

    def test_come_from_everywhere(self, tmp_path: pathlib.Path, monkeypatch, source):
        path = tmp_path / "heatsink.yaml"
        path.write_text("cache: {maximum-size: 1}\n")
        all_keys = [str(i) for i in range(10)]

        def room(**how):
            with heatsink.Client(**how, **QUIET) as client:
                return len(all_keys) - len(client.warm(all_keys, source))

        assert room(file=path) == 1
        assert room(file=str(path), yaml="cache: {maximum-size: 2}") == 2
        monkeypatch.setenv("HEATSINK_CACHE_MAXIMUM_SIZE", "3")
        assert room(yaml="cache: {maximum-size: 2}", environment=True) == 3
        assert room(environment=True, maximum_size=4) == room(cache_maximum_size=4) == 4

    def test_are_listed(self):
        by_name = {option.name: option for option in heatsink.options()}
        assert by_name["detection.hot-qps"].default == "auto"
        assert by_name["cache.enabled"].bounds == "true | false"
