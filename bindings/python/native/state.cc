// SPDX-License-Identifier: Apache-2.0
// The life of a client: opened, lost in a fork, closed, freed.
#include <memory>

#include "bindings/python/native/callbacks.h"
#include "bindings/python/native/client.h"
#include "bindings/python/native/errors.h"

namespace heatsink::python {
namespace {

int free_client(heatsink_client* client) {
  return without_python([client] {
    heatsink_free(client);
    return 0;
  });
}

// Freeing ends the client's threads, which none of them can wait for.
struct DeadClient final : Dead {
  ~DeadClient() override { free_client(client); }
  heatsink_client* client = nullptr;
  Ref listeners, reporters;
};

// Null: an exception is set.
heatsink_client* handle_to_call(ClientState& state, PyObject* callback) {
  if (PyCallable_Check(callback) != 0) return state.handle();
  PyErr_SetString(PyExc_TypeError, "a listener must be callable");
  return nullptr;
}

}  // namespace

ClientState::~ClientState() {
  heatsink_options_free(options);
  if (client == nullptr || is_lost()) return;
  if (callback_depth == 0) {
    free_client(client);
    return;
  }
  auto dead = std::make_unique<DeadClient>();
  dead->client = client;
  dead->listeners = std::move(listeners);
  dead->reporters = std::move(reporters);
  Dead::bury(dead.release());
}

PyObject* ClientState::open() {
  heatsink_client* opened = nullptr;
  const int code = heatsink_open(options, &opened);
  if (code != HEATSINK_OK) return Call().raise(code);
  client = opened;
  has_server = heatsink_server_state(client) != HEATSINK_NONE;
  opened_in = fork_count;
  Py_RETURN_NONE;
}

heatsink_client* ClientState::handle() {
  if (client == nullptr) {
    PyErr_SetString(PyExc_RuntimeError, "the client is not initialized: call __init__");
    return nullptr;
  }
  if (!is_lost()) [[likely]]
    return client;
  if (!Ref(open())) return nullptr;
  for (Py_ssize_t i = 0; i < PyList_Size(listeners.get()); ++i)
    heatsink_on_hot(client, call_listener, PyList_GetItem(listeners.get(), i));
  for (Py_ssize_t i = 0; i < PyList_Size(reporters.get()); ++i)
    heatsink_on_report(client, call_reporter, PyList_GetItem(reporters.get(), i));
  return client;
}

PyObject* ClientState::close() {
  if (callback_depth != 0) {
    PyErr_SetString(PyExc_RuntimeError, "close() cannot be called from a loader or listener");
    return nullptr;
  }
  heatsink_client* const open_one = handle();
  if (open_one == nullptr) return nullptr;
  is_closed = true;
  const int code = without_python([open_one] { return heatsink_close(open_one); });
  dispose_of_the_dead();
  if (code != HEATSINK_OK) return Call().raise(code);
  Py_RETURN_NONE;
}

PyObject* ClientState::listen(PyObject* listener) {
  heatsink_client* const open_one = handle_to_call(*this, listener);
  if (open_one == nullptr || PyList_Append(listeners.get(), listener) != 0) return nullptr;
  const int code = heatsink_on_hot(open_one, call_listener, listener);
  if (code != HEATSINK_OK) return Call().raise(code);
  Py_RETURN_NONE;
}

PyObject* ClientState::report_to(PyObject* reporter) {
  heatsink_client* const open_one = handle_to_call(*this, reporter);
  if (open_one == nullptr || PyList_Append(reporters.get(), reporter) != 0) return nullptr;
  const int code = heatsink_on_report(open_one, call_reporter, reporter);
  if (code != HEATSINK_OK) return Call().raise(code);
  Py_RETURN_NONE;
}

}  // namespace heatsink::python
