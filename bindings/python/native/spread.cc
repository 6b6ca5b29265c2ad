// SPDX-License-Identifier: Apache-2.0
#include "bindings/python/native/spread.h"

#include <heatsink.h>

#include <memory>

#include "bindings/python/native/codec.h"
#include "bindings/python/native/kept_handle.h"
#include "bindings/python/native/limiter_arguments.h"
#include "bindings/python/native/settings.h"

namespace heatsink::python {
namespace {

struct SpreadSource {
  using Handle = heatsink_spread_keys;
  static constexpr bool kOutlivesFork = false;

  ~SpreadSource() { heatsink_options_free(options); }
  int open(Handle** keys) const {
    return heatsink_spread_open(options, &spread, sizeof(spread), keys);
  }
  static void free(Handle* keys) { heatsink_spread_free(keys); }

  heatsink_options* options = nullptr;
  heatsink_spread spread = {};
};

struct SplitSource {
  using Handle = heatsink_split_counter;
  static constexpr bool kOutlivesFork = false;

  ~SplitSource() { heatsink_options_free(options); }
  int open(Handle** counter) const {
    return heatsink_split_open(options, &split, sizeof(split), counter);
  }
  static void free(Handle* counter) { heatsink_split_free(counter); }

  heatsink_options* options = nullptr;
  heatsink_split split = {};
};

// What all options are read from.
struct Settings {
  const char *file = nullptr, *yaml = nullptr, *keywords = nullptr;
  int environment = 0;
};

template <class Source>
int open_kept(KeptHandle<Source>& kept, const Settings& from) {
  heatsink_options* const options =
      new_options(from.file, from.yaml, from.environment != 0, from.keywords);
  heatsink_options_free(std::exchange(kept.source.options, options));
  return options != nullptr && kept.make() ? 0 : -1;
}

template <class Source>
PyObject* close_kept(PyObject* self, PyObject* /*none*/) {
  kept_by<Source>(self).drop();
  Py_RETURN_NONE;
}

PyObject* none_or_raise(int code) {
  if (code < 0) return raise_code(code);
  Py_RETURN_NONE;
}

// ---- copies

// __init__(file, yaml, environment, keywords, copies, ttl_ms, timeout_ms)
int spread_keys_init(PyObject* self, PyObject* arguments, PyObject* /*keywords*/) {
  auto& kept = kept_by<SpreadSource>(self);
  if (!is_new(kept)) return -1;
  heatsink_spread& spread = kept.source.spread;
  Settings from;
  if (PyArg_ParseTuple(arguments, "zzpzO&O&O&", &from.file, &from.yaml, &from.environment,
                       &from.keywords, to_small_count, &spread.copies, to_count, &spread.ttl_ms,
                       to_count, &spread.timeout_ms) == 0)
    return -1;
  return open_kept(kept, from);
}

// `value` is a Ref.
void keep_bytes(void* value, const char* data, std::size_t size) {
  in_python([=] {
    *static_cast<Ref*>(value) = Ref(PyBytes_FromStringAndSize(data, static_cast<Py_ssize_t>(size)));
    return 0;
  });
}

// get(key): bytes, or None: there is no such key.
PyObject* spread_keys_get(PyObject* self, PyObject* object) {
  const auto keys = kept_by<SpreadSource>(self).get();
  if (keys == nullptr) return nullptr;
  const Key key(object);
  if (!key) return nullptr;
  Ref value;
  const int code = without_python(
      [&] { return heatsink_spread_get(keys.get(), key.data, key.size, keep_bytes, &value); });
  if (code == HEATSINK_NONE) Py_RETURN_NONE;
  if (code < 0) return raise_code(code);
  return value ? value.release() : PyErr_NoMemory();
}

// written(key)
PyObject* spread_keys_written(PyObject* self, PyObject* object) {
  const auto keys = kept_by<SpreadSource>(self).get();
  if (keys == nullptr) return nullptr;
  const Key key(object);
  if (!key) return nullptr;
  return none_or_raise(
      without_python([&] { return heatsink_spread_written(keys.get(), key.data, key.size); }));
}

PyMethodDef spread_keys_methods[] = {
    {"get", method(spread_keys_get), METH_O,
     "get($self, key, /)\n--\n\n"
     "Returns a value, as bytes, that the key had at most `ttl` ago. None: there is no such key. "
     "heatsink.Error: the key cannot be read, or is no string."},
    {"written", method(spread_keys_written), METH_O,
     "written($self, key, /)\n--\n\n"
     "Ends all copies. Call it after each write of the key, before anybody learns of the write. "
     "heatsink.Error: some copies may live on, for at most `ttl`."},
    {"_close", method(close_kept<SpreadSource>), METH_NOARGS, "_close()"},
    {nullptr, nullptr, 0, nullptr}};

// ---- counters in parts

// __init__(file, yaml, environment, keywords, parts, timeout_ms)
int split_counter_init(PyObject* self, PyObject* arguments, PyObject* /*keywords*/) {
  auto& kept = kept_by<SplitSource>(self);
  if (!is_new(kept)) return -1;
  heatsink_split& split = kept.source.split;
  Settings from;
  if (PyArg_ParseTuple(arguments, "zzpzO&O&", &from.file, &from.yaml, &from.environment,
                       &from.keywords, to_small_count, &split.parts, to_count,
                       &split.timeout_ms) == 0)
    return -1;
  return open_kept(kept, from);
}

// _add(key, amount)
PyObject* split_counter_add(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  const auto counter = kept_by<SplitSource>(self).get();
  if (counter == nullptr) return nullptr;
  if (count != 2)
    return PyErr_Format(PyExc_TypeError, "expected 2 positional arguments, got %zd", count);
  const Key key(arguments[0]);
  if (!key) return nullptr;
  const long long amount = PyLong_AsLongLong(arguments[1]);
  if (amount == -1 && PyErr_Occurred() != nullptr) return nullptr;
  return none_or_raise(without_python(
      [&] { return heatsink_split_add(counter.get(), key.data, key.size, amount); }));
}

// value(key)
PyObject* split_counter_value(PyObject* self, PyObject* object) {
  const auto counter = kept_by<SplitSource>(self).get();
  if (counter == nullptr) return nullptr;
  const Key key(object);
  if (!key) return nullptr;
  std::int64_t value = 0;
  const int code = without_python(
      [&] { return heatsink_split_value(counter.get(), key.data, key.size, &value); });
  return code < 0 ? raise_code(code) : PyLong_FromLongLong(value);
}

PyMethodDef split_counter_methods[] = {
    {"_add", method(split_counter_add), METH_FASTCALL, "_add(key, amount)"},
    {"value", method(split_counter_value), METH_O,
     "value($self, key, /)\n--\n\n"
     "Returns the sum: at least what was added before this call. 0 if there is no part. "
     "heatsink.Error: a part cannot be read or is no integer, or the sum has more than 64 bits."},
    {"_close", method(close_kept<SplitSource>), METH_NOARGS, "_close()"},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

PyObject* new_spread_keys_type() {
  return new_kept_type<SpreadSource>("heatsink._native.SpreadKeys", spread_keys_init,
                                     spread_keys_methods);
}

PyObject* new_split_counter_type() {
  return new_kept_type<SplitSource>("heatsink._native.SplitCounter", split_counter_init,
                                    split_counter_methods);
}

}  // namespace heatsink::python
