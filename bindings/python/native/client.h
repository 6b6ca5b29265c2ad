// SPDX-License-Identifier: Apache-2.0
// The type behind heatsink.Client: one client of the library.
#pragma once

#include <heatsink.h>

#include "bindings/python/native/codec.h"

namespace heatsink::python {

// How often this process is a fork()ed one. Set by a handler of pthread_atfork().
inline volatile unsigned fork_count = 0;

struct ClientState {
  ~ClientState();

  // The handle, for use now; null: an exception is set. Threads do not survive fork(), so in the
  // child the first call makes a client anew: same options, same listeners, nothing hot yet. What
  // the parent's was stays where it is, for its locks may be held for ever.
  heatsink_client* handle();
  PyObject* open();   // of `options`; null: an exception
  PyObject* close();  // null: an exception
  PyObject* listen(PyObject* listener);
  PyObject* report_to(PyObject* reporter);

  heatsink_options* options = nullptr;
  heatsink_client* client = nullptr;
  Codec codec;
  // Lists: the library keeps what is in them until the client is closed.
  Ref listeners, reporters;
  unsigned opened_in = 0;
  bool is_closed = false;
  bool has_server = false;  // server.url is set

 private:
  bool is_lost() const { return opened_in != fork_count && !is_closed; }
};

struct ClientObject {
  PyObject_HEAD ClientState* state;
};

inline ClientState& state_of(PyObject* self) {
  return *reinterpret_cast<ClientObject*>(self)->state;
}

// What the client tells of itself (tells.cc).
PyObject* tell_stats(PyObject* self, PyObject* none);
PyObject* tell_metrics(PyObject* self, PyObject* none);
PyObject* tell_server_problem(PyObject* self, PyObject* none);
PyObject* tell_top(PyObject* self, PyObject* count);
PyObject* list_options(PyObject* module, PyObject* none);
PyObject* tell_options(PyObject* self, PyObject* none);  // as they are set

// A dictionary of it; null: an exception is set.
Ref row_of(const heatsink_stats_values& now);

// The type; null: an exception.
PyObject* new_client_type();

}  // namespace heatsink::python
