// SPDX-License-Identifier: Apache-2.0
#include "bindings/python/native/window_stats.h"

#include <heatsink.h>

#include <memory>

#include "bindings/python/native/codec.h"
#include "bindings/python/native/kept_handle.h"
#include "bindings/python/native/rows.h"
#include "bindings/python/native/settings.h"

namespace heatsink::python {
namespace {

// In the child of a fork() the first call makes one anew, which is another writer.
struct StatsSource {
  using Handle = heatsink_window_stats;
  static constexpr bool kOutlivesFork = false;

  ~StatsSource() { heatsink_options_free(options); }
  int open(Handle** stats) const { return heatsink_stats_open(options, stats); }
  static void free(Handle* stats) { heatsink_stats_free(stats); }

  heatsink_options* options = nullptr;
};

std::shared_ptr<heatsink_window_stats> stats_of(PyObject* self) {
  return kept_by<StatsSource>(self).get();
}

using Arguments = PyObject* const*;

bool takes_two(Py_ssize_t count) {
  if (count == 2) return true;
  PyErr_Format(PyExc_TypeError, "expected 2 positional arguments, got %zd", count);
  return false;
}

// add(name, value): False: refused.
PyObject* window_stats_add(PyObject* self, Arguments arguments, Py_ssize_t count) {
  const auto stats = stats_of(self);
  if (stats == nullptr || !takes_two(count)) return nullptr;
  const Key name(arguments[0]);
  if (!name) return nullptr;
  const long long value = PyLong_AsLongLong(arguments[1]);
  if (value == -1 && PyErr_Occurred() != nullptr) return nullptr;
  const int code = heatsink_stats_add(stats.get(), name.data, name.size, value);
  if (code == HEATSINK_REFUSED) Py_RETURN_FALSE;
  if (code < 0) return raise_code(code);
  Py_RETURN_TRUE;
}

PyObject* row_of(const heatsink_window_values& values) {
  Ref row(PyDict_New());
  const bool is_whole =
      row && put(row.get(), "count", values.count) && put(row.get(), "sum_high", values.sum_high) &&
      put(row.get(), "sum_low", values.sum_low) && put(row.get(), "mean", values.mean) &&
      put(row.get(), "min", values.min) && put(row.get(), "max", values.max) &&
      put(row.get(), "p50", values.p50) && put(row.get(), "p90", values.p90) &&
      put(row.get(), "p99", values.p99) && put(row.get(), "p999", values.p999) &&
      put(row.get(), "covered_ms", values.covered_ms) &&
      put(row.get(), "slot_ms", values.slot_ms) && put(row.get(), "length_ms", values.length_ms) &&
      put(row.get(), "shards_missing", values.shards_missing);
  return is_whole ? row.release() : nullptr;
}

// _read(name, milliseconds): None: there is none.
PyObject* window_stats_read(PyObject* self, Arguments arguments, Py_ssize_t count) {
  const auto stats = stats_of(self);
  if (stats == nullptr || !takes_two(count)) return nullptr;
  const Key name(arguments[0]);
  const unsigned long long ms = name ? PyLong_AsUnsignedLongLong(arguments[1]) : 0;
  if (!name || PyErr_Occurred() != nullptr) return nullptr;
  heatsink_window_values values;
  const int code = without_python([&] {
    return heatsink_stats_read(stats.get(), name.data, name.size, ms, &values, sizeof(values));
  });
  if (code == HEATSINK_NONE) Py_RETURN_NONE;
  return code < 0 ? raise_code(code) : row_of(values);
}

// _list(pattern): names as bytes.
PyObject* window_stats_list(PyObject* self, PyObject* pattern) {
  const auto stats = stats_of(self);
  if (stats == nullptr) return nullptr;
  const char* const text = PyUnicode_AsUTF8AndSize(pattern, nullptr);
  if (text == nullptr) return nullptr;
  Ref names(PyList_New(0));
  if (!names) return nullptr;
  const auto tell = [](void* user, const char* name, std::size_t size) {
    in_python([=] {
      const Ref each(PyBytes_FromStringAndSize(name, static_cast<Py_ssize_t>(size)));
      if (each) PyList_Append(static_cast<PyObject*>(user), each.get());
      return 0;
    });
  };
  const int code =
      without_python([&] { return heatsink_stats_list(stats.get(), text, tell, names.get()); });
  if (PyErr_Occurred() != nullptr) return nullptr;
  return code < 0 ? raise_code(code) : names.release();
}

// _flush(milliseconds)
PyObject* window_stats_flush(PyObject* self, PyObject* patience) {
  const auto stats = stats_of(self);
  if (stats == nullptr) return nullptr;
  const unsigned long long ms = PyLong_AsUnsignedLongLong(patience);
  if (PyErr_Occurred() != nullptr) return nullptr;
  const int code = without_python([&] { return heatsink_stats_flush(stats.get(), ms); });
  if (code < 0) return raise_code(code);
  Py_RETURN_NONE;
}

PyObject* window_stats_counts(PyObject* self, PyObject* /*none*/) {
  const auto stats = stats_of(self);
  if (stats == nullptr) return nullptr;
  heatsink_window_counts now;
  const int code = heatsink_stats_counts(stats.get(), &now, sizeof(now));
  if (code < 0) return raise_code(code);
  Ref row(PyDict_New());
  const bool is_whole =
      row && put(row.get(), "delivered", now.delivered) && put(row.get(), "dropped", now.dropped) &&
      put(row.get(), "uncertain", now.uncertain) && put(row.get(), "refused", now.refused) &&
      put(row.get(), "resent", now.resent) && put(row.get(), "names", now.names);
  return is_whole ? row.release() : nullptr;
}

PyObject* window_stats_problem(PyObject* self, PyObject* /*none*/) {
  const auto stats = stats_of(self);
  if (stats == nullptr) return nullptr;
  const int code = heatsink_stats_problem(stats.get());
  if (code < 0 && code != HEATSINK_FAILED) return raise_code(code);
  return PyUnicode_FromString(code == HEATSINK_FAILED ? heatsink_last_error() : "");
}

PyObject* window_stats_close(PyObject* self, PyObject* /*none*/) {
  const auto stats = stats_of(self);
  if (stats == nullptr) return nullptr;
  kept_by<StatsSource>(self).end();
  const int code = without_python([&] { return heatsink_stats_close(stats.get()); });
  if (code < 0) return raise_code(code);
  Py_RETURN_NONE;
}

// ---- the type

// __init__(file, yaml, environment, keywords)
int window_stats_init(PyObject* self, PyObject* arguments, PyObject* /*keywords*/) {
  auto& kept = kept_by<StatsSource>(self);
  const char *file = nullptr, *yaml = nullptr, *keywords = nullptr;
  int environment = 0;
  if (PyArg_ParseTuple(arguments, "zzpz", &file, &yaml, &environment, &keywords) == 0 ||
      !is_new(kept))
    return -1;
  heatsink_options_free(
      std::exchange(kept.source.options, new_options(file, yaml, environment != 0, keywords)));
  return kept.source.options != nullptr && kept.make() ? 0 : -1;
}

PyMethodDef window_stats_methods[] = {
    {"add", method(window_stats_add), METH_FASTCALL,
     "add($self, name, value, /)\n--\n\n"
     "Adds a whole number; never waits. False: one name too many, or the name is too long."},
    {"_read", method(window_stats_read), METH_FASTCALL, "_read(name, milliseconds)"},
    {"_list", method(window_stats_list), METH_O, "_list(pattern)"},
    {"_flush", method(window_stats_flush), METH_O, "_flush(milliseconds)"},
    {"_counts", method(window_stats_counts), METH_NOARGS, "_counts()"},
    {"problem", method(window_stats_problem), METH_NOARGS,
     "problem($self, /)\n--\n\nWhy the last flush failed. Empty: it did not fail."},
    {"_close", method(window_stats_close), METH_NOARGS, "_close()"},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

PyObject* new_window_stats_type() {
  return new_kept_type<StatsSource>("heatsink._native.WindowStats", window_stats_init,
                                    window_stats_methods);
}

}  // namespace heatsink::python
