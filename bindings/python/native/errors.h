// SPDX-License-Identifier: Apache-2.0
// Exceptions of Python across the library, which knows codes and texts only.
#pragma once

#include <heatsink.h>

#include "bindings/python/native/python_api.h"

namespace heatsink::python {

// heatsink.Error and those below it; they live as long as the module.
struct Exceptions {
  PyObject* error = nullptr;
  PyObject* load_refused = nullptr;
  PyObject* load_failed = nullptr;
  PyObject* server_error = nullptr;
};
inline Exceptions exceptions;

// While this thread is in a call of the library: what a callback of the same call raised, as it
// was. Calls nest.
class Call {
 public:
  Call() : outer_(std::exchange(innermost_, this)) {}
  ~Call() { innermost_ = outer_; }
  Call(const Call&) = delete;

  // Sets the exception for a code below zero: what the callback raised, or, if that was the load of
  // another caller, a copy of what that raised. Returns null.
  PyObject* raise(int code);

 private:
  friend int failed(heatsink_reply* reply);
  inline static thread_local Call* innermost_ = nullptr;
  Call* const outer_;
  Ref raised_;
};

// For a callback that has an exception set: takes it away, tells the library, and gives the code.
int failed(heatsink_reply* reply);

}  // namespace heatsink::python
