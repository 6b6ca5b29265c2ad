// SPDX-License-Identifier: Apache-2.0
// What the library tells of itself, as dictionaries and tuples: dataclasses are made of them.
#include "bindings/python/native/client.h"
#include "bindings/python/native/errors.h"
#include "bindings/python/native/rows.h"

namespace heatsink::python {
namespace {

// For callbacks that add rows to a list; after the first that fails, nothing is added.
template <class Make>
void add_row(void* list, Make make) {
  if (PyErr_Occurred() != nullptr) return;
  const Ref row(PyDict_New());
  if (row && make(row.get())) PyList_Append(static_cast<PyObject*>(list), row.get());
}

void add_key(void* list, const heatsink_hot_key* key) {
  add_row(list, [key](PyObject* row) {
    const auto size = static_cast<Py_ssize_t>(key->key_size);
    return put(row, "key", PyBytes_FromStringAndSize(key->key, size)) &&
           put(row, "temperature", key->temperature) && put(row, "rate_low", key->rate_low) &&
           put(row, "rate_high", key->rate_high) && put(row, "share", key->share) &&
           put(row, "reads", key->reads) && put(row, "writes", key->writes) &&
           put(row, "hits", key->hits) && put(row, "reason", key->reason);
  });
}

void add_option(void* list, const heatsink_option* option) {
  add_row(list, [option](PyObject* row) {
    return put(row, "name", option->name) && put(row, "default", option->value) &&
           put(row, "bounds", option->bounds) && put(row, "meaning", option->meaning);
  });
}

// The list, unless the library or a callback failed.
PyObject* rows_or_raise(Ref list, int code) {
  if (PyErr_Occurred() != nullptr) return nullptr;
  return code < 0 ? Call().raise(code) : list.release();
}

}  // namespace

Ref row_of(const heatsink_stats_values& now) {
  Ref row(PyDict_New());
  const bool is_whole =
      row && put(row.get(), "reads_per_second", now.reads_per_second) &&
      put(row.get(), "writes_per_second", now.writes_per_second) &&
      put(row.get(), "hit_ratio", now.hit_ratio) && put(row.get(), "hot_share", now.hot_share) &&
      put(row.get(), "hot_keys", now.hot_keys) && put(row.get(), "copies", now.copies) &&
      put(row.get(), "promotions", now.promotions) && put(row.get(), "demotions", now.demotions) &&
      put(row.get(), "loads", now.loads) && put(row.get(), "load_failures", now.load_failures) &&
      put(row.get(), "waits", now.waits) && put(row.get(), "refusals", now.refusals) &&
      put(row.get(), "refreshes", now.refreshes) &&
      put(row.get(), "refresh_failures", now.refresh_failures) &&
      put(row.get(), "refresh_drops", now.refresh_drops) &&
      put(row.get(), "stale_served", now.stale_served) &&
      put(row.get(), "copies_bytes", now.copies_bytes) &&
      put(row.get(), "distinct_keys", now.distinct_keys) &&
      put(row.get(), "distinct_keys_per_second", now.distinct_keys_per_second) &&
      put(row.get(), "reads", now.reads) && put(row.get(), "writes", now.writes) &&
      put(row.get(), "hits", now.hits) && put(row.get(), "no_room", now.no_room);
  return is_whole ? std::move(row) : Ref();
}

PyObject* tell_stats(PyObject* self, PyObject* /*none*/) {
  heatsink_client* const client = state_of(self).handle();
  if (client == nullptr) return nullptr;
  heatsink_stats_values now;
  const int code = heatsink_stats(client, &now, sizeof(now));
  return code < 0 ? Call().raise(code) : row_of(now).release();
}

PyObject* tell_server_problem(PyObject* self, PyObject* /*none*/) {
  heatsink_client* const client = state_of(self).handle();
  if (client == nullptr) return nullptr;
  const int code = heatsink_server_state(client);
  if (code != HEATSINK_FAILED && code < 0) return Call().raise(code);
  return PyUnicode_FromString(code == HEATSINK_FAILED ? heatsink_last_error() : "");
}

PyObject* tell_top(PyObject* self, PyObject* count) {
  heatsink_client* const client = state_of(self).handle();
  if (client == nullptr) return nullptr;
  const std::size_t n = PyLong_AsSize_t(count);
  Ref list(PyErr_Occurred() == nullptr ? PyList_New(0) : nullptr);
  if (!list) return nullptr;
  PyObject* const to = list.get();
  return rows_or_raise(std::move(list), heatsink_top(client, n, add_key, to));
}

PyObject* tell_metrics(PyObject* self, PyObject* /*none*/) {
  heatsink_client* const client = state_of(self).handle();
  if (client == nullptr) return nullptr;
  Ref told;
  const auto tell = [](void* user, const char* text, std::size_t size) {
    *static_cast<Ref*>(user) =
        Ref(PyUnicode_FromStringAndSize(text, static_cast<Py_ssize_t>(size)));
  };
  const int code = heatsink_metrics(client, tell, &told);
  return code < 0 ? Call().raise(code) : told.release();
}

PyObject* tell_options(PyObject* self, PyObject* /*none*/) {
  Ref list(PyList_New(0));
  PyObject* const to = list.get();
  if (to == nullptr) return nullptr;
  const int code = heatsink_options_list(state_of(self).options, add_option, to);
  return rows_or_raise(std::move(list), code);
}

PyObject* list_options(PyObject* /*module*/, PyObject* /*none*/) {
  Ref list(PyList_New(0));
  heatsink_options* const options = heatsink_options_new();
  PyObject* const to = list.get();
  const int code = to != nullptr ? heatsink_options_list(options, add_option, to) : HEATSINK_OK;
  heatsink_options_free(options);
  return rows_or_raise(std::move(list), code);
}

}  // namespace heatsink::python
