// SPDX-License-Identifier: Apache-2.0
#include "bindings/python/native/client.h"

#include <new>

#include "bindings/python/native/callbacks.h"
#include "bindings/python/native/errors.h"
#include "bindings/python/native/settings.h"

namespace heatsink::python {
namespace {

using Arguments = PyObject* const*;

bool takes(Py_ssize_t count, Py_ssize_t wanted) {
  if (count == wanted) return true;
  PyErr_Format(PyExc_TypeError, "expected %zd positional arguments, got %zd", wanted, count);
  return false;
}

// Null: an exception is set.
heatsink_loader* loader_for(const ClientState& state, heatsink_client* client, const Key& key,
                            PyObject* loader) {
  if (loader != Py_None) return new_loader(loader, state.codec, key.is_text);
  if (state.has_server) return new_server_loader(client);
  PyErr_SetString(
      PyExc_TypeError,
      "loader is missing: pass a loader, or create the Client with server_url=\"redis://...\"");
  return nullptr;
}

// What a read found, as an object; what is held is released. Call only for codes >= 0.
PyObject* found(const ClientState& state, int code, heatsink_value& value) {
  if (code == HEATSINK_NONE) Py_RETURN_NONE;
  if (!state.codec.decode) {
    Ref result = state.codec.value(value.data, value.size);
    heatsink_value_release(&value);
    return result.release();
  }
  // A hook may take its time, and what is held must be released soon.
  const Ref stored(PyBytes_FromStringAndSize(value.data, static_cast<Py_ssize_t>(value.size)));
  heatsink_value_release(&value);
  if (!stored) return nullptr;
  return state.codec.value(PyBytes_AsString(stored.get()), size_of(PyBytes_Size(stored.get())))
      .release();
}

// The part of a read that may wait. None for a loader: the server is asked.
PyObject* load_key(ClientState& state, heatsink_client* client, const Key& key, PyObject* loader) {
  heatsink_loader* const handle = loader_for(state, client, key, loader);
  if (handle == nullptr) return nullptr;
  heatsink_value value = HEATSINK_NO_VALUE;
  Call call;
  const int code =
      without_python([&] { return heatsink_load(client, key.data, key.size, handle, &value); });
  heatsink_loader_free(handle);
  PyObject* const result = code < 0 ? call.raise(code) : found(state, code, value);
  dispose_of_the_dead();
  return result;
}

// get(key, loader=None). A hit neither waits nor gives up the GIL.
PyObject* client_get(PyObject* self, Arguments arguments, Py_ssize_t count) {
  ClientState& state = state_of(self);
  heatsink_client* const client = state.handle();
  if (client == nullptr || (count != 1 && !takes(count, 2))) return nullptr;
  const Key key(arguments[0]);
  if (!key) return nullptr;
  heatsink_value value = HEATSINK_NO_VALUE;
  const int code = heatsink_read(client, key.data, key.size, &value);
  if (code < 0) return Call().raise(code);
  if (value.is_hit != 0) return found(state, code, value);
  return load_key(state, client, key, count == 1 ? Py_None : arguments[1]);
}

// _read(key, default): the first step of get; the default where there is no copy.
PyObject* client_read(PyObject* self, Arguments arguments, Py_ssize_t count) {
  ClientState& state = state_of(self);
  heatsink_client* const client = state.handle();
  if (client == nullptr || !takes(count, 2)) return nullptr;
  const Key key(arguments[0]);
  if (!key) return nullptr;
  heatsink_value value = HEATSINK_NO_VALUE;
  const int code = heatsink_read(client, key.data, key.size, &value);
  if (code < 0) return Call().raise(code);
  if (value.is_hit != 0) return found(state, code, value);
  return Ref::to(arguments[1]).release();
}

// _load(key, loader): the second step.
PyObject* client_load(PyObject* self, Arguments arguments, Py_ssize_t count) {
  ClientState& state = state_of(self);
  heatsink_client* const client = state.handle();
  if (client == nullptr || !takes(count, 2)) return nullptr;
  const Key key(arguments[0]);
  return key ? load_key(state, client, key, arguments[1]) : nullptr;
}

PyObject* client_peek(PyObject* self, PyObject* name) {
  ClientState& state = state_of(self);
  heatsink_client* const client = state.handle();
  if (client == nullptr) return nullptr;
  const Key key(name);
  if (!key) return nullptr;
  heatsink_value value = HEATSINK_NO_VALUE;
  const int code = heatsink_peek(client, key.data, key.size, &value);
  return code < 0 ? Call().raise(code) : found(state, code, value);
}

// _fresh(value): what a read of it will give.
PyObject* client_fresh(PyObject* self, PyObject* value) {
  const Codec& codec = state_of(self).codec;
  if (value == Py_None) Py_RETURN_NONE;
  const Ref stored = codec.stored(value);
  if (!stored) return nullptr;
  return codec.value(PyBytes_AsString(stored.get()), size_of(PyBytes_Size(stored.get()))).release();
}

PyObject* none_unless(int code, Call& call) {
  if (code < 0) return call.raise(code);
  Py_RETURN_NONE;
}

// set(key, value, store)
PyObject* client_set(PyObject* self, Arguments arguments, Py_ssize_t count) {
  ClientState& state = state_of(self);
  heatsink_client* const client = state.handle();
  if (client == nullptr || !takes(count, 3)) return nullptr;
  const Key key(arguments[0]);
  if (!key) return nullptr;
  const Ref stored = state.codec.stored(arguments[1]);
  if (!stored) return nullptr;
  Write write = {arguments[2], arguments[0], arguments[1]};
  Call call;
  const char* const bytes = PyBytes_AsString(stored.get());
  const std::size_t size = size_of(PyBytes_Size(stored.get()));
  return none_unless(heatsink_set(client, key.data, key.size, bytes, size, call_store, &write),
                     call);
}

// delete(key, remove)
PyObject* client_remove(PyObject* self, Arguments arguments, Py_ssize_t count) {
  heatsink_client* const client = state_of(self).handle();
  if (client == nullptr || !takes(count, 2)) return nullptr;
  const Key key(arguments[0]);
  if (!key) return nullptr;
  Write write = {arguments[1], arguments[0], nullptr};
  Call call;
  return none_unless(heatsink_del(client, key.data, key.size, call_remove, &write), call);
}

// _server_set(key, value, milliseconds); 0: it stays.
PyObject* client_server_set(PyObject* self, Arguments arguments, Py_ssize_t count) {
  ClientState& state = state_of(self);
  heatsink_client* const client = state.handle();
  if (client == nullptr || !takes(count, 3)) return nullptr;
  const Key key(arguments[0]);
  const unsigned long long ms = key ? PyLong_AsUnsignedLongLong(arguments[2]) : 0;
  if (!key || PyErr_Occurred() != nullptr) return nullptr;
  const Ref stored = state.codec.stored(arguments[1]);
  if (!stored) return nullptr;
  const std::string_view value =
      Codec::plain({PyBytes_AsString(stored.get()), size_of(PyBytes_Size(stored.get()))});
  Call call;
  return none_unless(without_python([&] {
                       return heatsink_server_set(client, key.data, key.size, value.data(),
                                                  value.size(), ms);
                     }),
                     call);
}

// _server_delete(key)
PyObject* client_server_delete(PyObject* self, PyObject* name) {
  heatsink_client* const client = state_of(self).handle();
  if (client == nullptr) return nullptr;
  const Key key(name);
  if (!key) return nullptr;
  Call call;
  return none_unless(
      without_python([&] { return heatsink_server_del(client, key.data, key.size); }), call);
}

// update(key, value)
PyObject* client_update(PyObject* self, Arguments arguments, Py_ssize_t count) {
  ClientState& state = state_of(self);
  heatsink_client* const client = state.handle();
  if (client == nullptr || !takes(count, 2)) return nullptr;
  const Key key(arguments[0]);
  if (!key) return nullptr;
  const Ref stored = state.codec.stored(arguments[1]);
  if (!stored) return nullptr;
  Call call;
  const char* const bytes = PyBytes_AsString(stored.get());
  const std::size_t size = size_of(PyBytes_Size(stored.get()));
  return none_unless(heatsink_update(client, key.data, key.size, bytes, size), call);
}

using KeyCall = int (*)(heatsink_client*, const char*, std::size_t);

// invalidate(key), record(key)
template <KeyCall kCall>
PyObject* with_key(PyObject* self, PyObject* name) {
  heatsink_client* const client = state_of(self).handle();
  if (client == nullptr) return nullptr;
  const Key key(name);
  if (!key) return nullptr;
  Call call;
  return none_unless(kCall(client, key.data, key.size), call);
}

// is_hot(key), _is_kept(key)
template <KeyCall kCall>
PyObject* asks_key(PyObject* self, PyObject* name) {
  heatsink_client* const client = state_of(self).handle();
  if (client == nullptr) return nullptr;
  const Key key(name);
  if (!key) return nullptr;
  const int code = kCall(client, key.data, key.size);
  return code < 0 ? Call().raise(code) : PyBool_FromLong(code);
}

// _warm(key, loader, milliseconds): False: there is no room. No loader (None): asks the server.
PyObject* client_warm(PyObject* self, Arguments arguments, Py_ssize_t count) {
  ClientState& state = state_of(self);
  heatsink_client* const client = state.handle();
  if (client == nullptr || !takes(count, 3)) return nullptr;
  const Key key(arguments[0]);
  const unsigned long long ms = key ? PyLong_AsUnsignedLongLong(arguments[2]) : 0;
  if (!key || PyErr_Occurred() != nullptr) return nullptr;
  heatsink_loader* const handle = loader_for(state, client, key, arguments[1]);
  if (handle == nullptr) return nullptr;
  Call call;
  const int code =
      without_python([&] { return heatsink_warm(client, key.data, key.size, handle, ms); });
  heatsink_loader_free(handle);
  dispose_of_the_dead();
  if (code == HEATSINK_REFUSED) Py_RETURN_FALSE;
  if (code < 0) return call.raise(code);
  Py_RETURN_TRUE;
}

PyObject* client_listen(PyObject* self, PyObject* listener) {
  return state_of(self).listen(listener);
}
PyObject* client_report_to(PyObject* self, PyObject* reporter) {
  return state_of(self).report_to(reporter);
}
PyObject* client_close(PyObject* self, PyObject* /*none*/) { return state_of(self).close(); }

// ---- the type

PyObject* client_make(PyTypeObject* type, PyObject* /*arguments*/, PyObject* /*keywords*/) {
  const auto alloc = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
  Ref self(alloc(type, 0));
  if (!self) return nullptr;
  auto* const state = new (std::nothrow) ClientState;
  reinterpret_cast<ClientObject*>(self.get())->state = state;
  if (state == nullptr) return PyErr_NoMemory();
  return self.release();
}

// __init__(file, yaml, environment, keywords, encode, decode): what comes later counts more.
int client_init(PyObject* self, PyObject* arguments, PyObject* /*keywords*/) {
  ClientState& state = state_of(self);
  const char *file = nullptr, *yaml = nullptr, *keywords = nullptr;
  int environment = 0;
  PyObject *encode = nullptr, *decode = nullptr;
  if (PyArg_ParseTuple(arguments, "zzpzOO", &file, &yaml, &environment, &keywords, &encode,
                       &decode) == 0)
    return -1;
  if (state.client != nullptr) {
    PyErr_SetString(PyExc_RuntimeError, "__init__ was already called");
    return -1;
  }
  heatsink_options_free(
      std::exchange(state.options, new_options(file, yaml, environment != 0, keywords)));
  if (state.options == nullptr) return -1;
  if (encode != Py_None) state.codec.encode = Ref::to(encode);
  if (decode != Py_None) state.codec.decode = Ref::to(decode);
  state.listeners = Ref(PyList_New(0));
  state.reporters = Ref(PyList_New(0));
  return state.listeners && state.reporters && Ref(state.open()) ? 0 : -1;
}

int client_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  const ClientState* const state = reinterpret_cast<ClientObject*>(self)->state;
  if (state == nullptr) return 0;
  Py_VISIT(state->codec.encode.get());
  Py_VISIT(state->codec.decode.get());
  return 0;
}

// Not the listeners: the library still calls them.
int client_clear(PyObject* self) {
  ClientState* const state = reinterpret_cast<ClientObject*>(self)->state;
  if (state == nullptr) return 0;
  const Codec gone = std::exchange(state->codec, Codec());
  return 0;
}

void client_destroy(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  delete std::exchange(reinterpret_cast<ClientObject*>(self)->state, nullptr);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

PyMethodDef client_methods[] = {
    {"get", method(client_get), METH_FASTCALL,
     "get($self, key, loader=None, /)\n--\n\n"
     "Returns the local copy, or calls loader(key). None: there is no such key.\n\n"
     "Without a loader it asks the server of server_url. Raises what the loader raises, and\n"
     "LoadRefused if the key is hot and too many callers wait for its one load."},
    {"_read", method(client_read), METH_FASTCALL, "_read(key, default)"},
    {"_load", method(client_load), METH_FASTCALL, "_load(key, loader)"},
    {"peek", method(client_peek), METH_O,
     "peek($self, key, /)\n--\n\n"
     "Returns the local copy, or None. Counts nothing and asks no source."},
    {"_fresh", method(client_fresh), METH_O, "_fresh(value)"},
    {"set", method(client_set), METH_FASTCALL, "set(key, value, store)"},
    {"delete", method(client_remove), METH_FASTCALL, "delete(key, remove)"},
    {"_server_set", method(client_server_set), METH_FASTCALL,
     "_server_set(key, value, milliseconds)"},
    {"_server_delete", method(client_server_delete), METH_O, "_server_delete(key)"},
    {"update", method(client_update), METH_FASTCALL, "update(key, value)"},
    {"invalidate", method(with_key<heatsink_invalidate>), METH_O, "invalidate(key)"},
    {"record", method(with_key<heatsink_record>), METH_O,
     "record($self, key, /)\n--\n\nCounts an access that does not go through this Client."},
    {"is_hot", method(asks_key<heatsink_is_hot>), METH_O,
     "is_hot($self, key, /)\n--\n\nWhether the key is hot, by its traffic or by warm()."},
    {"_is_kept", method(asks_key<heatsink_is_kept>), METH_O, "_is_kept(key)"},
    {"_warm", method(client_warm), METH_FASTCALL, "_warm(key, loader, milliseconds)"},
    {"_top", method(tell_top), METH_O, "_top(n)"},
    {"_stats", method(tell_stats), METH_NOARGS, "_stats()"},
    {"metrics_text", method(tell_metrics), METH_NOARGS,
     "metrics_text($self, /)\n--\n\n"
     "The statistics as a page for Prometheus (text/plain; version=0.0.4). It names no key."},
    {"server_problem", method(tell_server_problem), METH_NOARGS,
     "server_problem($self, /)\n--\n\n"
     "With server_url: why no copies are served now. Empty: all is well."},
    {"_on_hot", method(client_listen), METH_O, "_on_hot(listener)"},
    {"_on_report", method(client_report_to), METH_O, "_on_report(reporter)"},
    {"_options", method(tell_options), METH_NOARGS, "_options()"},
    {"close", method(client_close), METH_NOARGS, "close()"},
    {nullptr, nullptr, 0, nullptr}};

template <class Function>
void* slot(Function* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

PyObject* new_client_type() {
  static PyType_Slot slots[] = {{Py_tp_new, slot(client_make)},
                                {Py_tp_init, slot(client_init)},
                                {Py_tp_dealloc, slot(client_destroy)},
                                {Py_tp_traverse, slot(client_traverse)},
                                {Py_tp_clear, slot(client_clear)},
                                {Py_tp_methods, client_methods},
                                {0, nullptr}};
  static PyType_Spec spec = {"heatsink._native.Client", sizeof(ClientObject), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
  return PyType_FromSpec(&spec);
}

}  // namespace heatsink::python
