// SPDX-License-Identifier: Apache-2.0
// heatsink._native: what of the package is in C++. Its types are in src/heatsink/_native.pyi.
#include <pthread.h>

#include "bindings/python/native/callbacks.h"
#include "bindings/python/native/client.h"
#include "bindings/python/native/errors.h"
#include "bindings/python/native/limiters.h"
#include "bindings/python/native/spread.h"
#include "bindings/python/native/window_stats.h"

namespace heatsink::python {
namespace {

void count_fork() {
  fork_count = fork_count + 1;
  callback_depth = 0;
  release_after_fork();
}

bool add(PyObject* module, const char* name, PyObject* object) {
  return object != nullptr && PyModule_AddObjectRef(module, name, object) == 0;
}

bool add_exceptions(PyObject* module) {
  exceptions.error = PyErr_NewExceptionWithDoc(
      "heatsink.Error",
      "Base class of heatsink's exceptions. Besides these, it raises ValueError and TypeError.",
      nullptr, nullptr);
  exceptions.load_refused = PyErr_NewExceptionWithDoc(
      "heatsink.LoadRefused",
      "The key is hot, and too many callers wait for its load, or this caller waited too long.",
      exceptions.error, nullptr);
  exceptions.load_failed =
      PyErr_NewExceptionWithDoc("heatsink.LoadFailed",
                                "This caller waited for another caller's load, "
                                "which raised an exception that cannot be copied.",
                                exceptions.error, nullptr);
  exceptions.server_error = PyErr_NewExceptionWithDoc(
      "heatsink.ServerError",
      "The server of server_url refused the request, cannot be reached, or did not answer. "
      "After a write without an answer it is unknown whether the server executed it.",
      exceptions.error, nullptr);
  return add(module, "Error", exceptions.error) &&
         add(module, "ServerError", exceptions.server_error) &&
         add(module, "LoadRefused", exceptions.load_refused) &&
         add(module, "LoadFailed", exceptions.load_failed);
}

PyMethodDef functions[] = {{"list_options", list_options, METH_NOARGS, "list_options()"},
                           {nullptr, nullptr, 0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "_native",
                          "The library, as Python sees it.",
                          -1,  // once in a process, as the library itself
                          functions,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace
}  // namespace heatsink::python

// Python looks for this name, which is reserved in C++.
#ifdef __clang__
#pragma clang diagnostic ignored "-Wreserved-identifier"
#endif
// NOLINTNEXTLINE(readability-identifier-naming)
PyMODINIT_FUNC PyInit__native() {
  using namespace heatsink::python;  // NOLINT(google-build-using-namespace)
  if (heatsink_abi_version() != HEATSINK_ABI_VERSION) {
    PyErr_Format(PyExc_ImportError,
                 "libheatsink.so has ABI %u, but this package needs %u: install matching versions",
                 static_cast<unsigned>(heatsink_abi_version()), unsigned{HEATSINK_ABI_VERSION});
    return nullptr;
  }
  interpreter = PyInterpreterState_Get();
  Ref module(PyModule_Create(&definition));
  const Ref client(module ? new_client_type() : nullptr);
  const Ref stats(client ? new_window_stats_type() : nullptr);
  const Ref limiter(stats ? new_limiter_type() : nullptr);
  const Ref rate_limiter(limiter ? new_rate_limiter_type() : nullptr);
  const Ref spread_keys(rate_limiter ? new_spread_keys_type() : nullptr);
  const Ref split_counter(spread_keys ? new_split_counter_type() : nullptr);
  if (!split_counter || !add(module.get(), "Client", client.get()) ||
      !add(module.get(), "WindowStats", stats.get()) ||
      !add(module.get(), "Limiter", limiter.get()) ||
      !add(module.get(), "RateLimiter", rate_limiter.get()) ||
      !add(module.get(), "SpreadKeys", spread_keys.get()) ||
      !add(module.get(), "SplitCounter", split_counter.get()) || !add_exceptions(module.get()) ||
      PyModule_AddStringConstant(module.get(), "version", HEATSINK_PYTHON_VERSION) != 0)
    return nullptr;
  if (pthread_atfork(hold_for_fork, release_after_fork, count_fork) != 0) return PyErr_NoMemory();
  return module.release();
}
