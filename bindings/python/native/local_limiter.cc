// SPDX-License-Identifier: Apache-2.0
#include <heatsink.h>

#include <memory>

#include "bindings/python/native/kept_handle.h"
#include "bindings/python/native/limiter_arguments.h"
#include "bindings/python/native/limiters.h"

namespace heatsink::python {
namespace {

// A child of fork() has its own from then on: open() is called by __init__ alone, whose texts live
// that long.
struct LocalSource {
  using Handle = heatsink_local_limiter;
  static constexpr bool kOutlivesFork = true;

  int open(Handle** limiter) const {
    return heatsink_local_limiter_new(&limit, sizeof(limit), limiter);
  }
  static void free(Handle* limiter) { heatsink_local_limiter_free(limiter); }

  heatsink_local_limit limit = {};
};

// __init__(algorithm, rate, burst, slots, patience_ms)
int limiter_init(PyObject* self, PyObject* arguments, PyObject* /*keywords*/) {
  auto& kept = kept_by<LocalSource>(self);
  heatsink_local_limit& limit = kept.source.limit;
  if (PyArg_ParseTuple(arguments, "ssO&O&O&", &limit.algorithm, &limit.rate, to_count, &limit.burst,
                       to_small_count, &limit.slots, to_count, &limit.patience_ms) == 0 ||
      !is_new(kept))
    return -1;
  return kept.make() ? 0 : -1;
}

// _try(n): (allowed, wait in us, retry after in us or None, remaining)
PyObject* limiter_try(PyObject* self, PyObject* count) {
  const auto limiter = kept_by<LocalSource>(self).get();
  std::uint64_t n = 0;
  if (limiter == nullptr || to_count(count, &n) == 0) return nullptr;
  heatsink_decision decision;
  const int code = heatsink_local_limiter_try(limiter.get(), n, &decision, sizeof(decision));
  if (code < 0) return raise_code(code);
  return Py_BuildValue(
      "NKNK", PyBool_FromLong(decision.allowed), static_cast<unsigned long long>(decision.wait_us),
      retry_after(decision.retry_after_us), static_cast<unsigned long long>(decision.remaining));
}

PyMethodDef limiter_methods[] = {{"_try", method(limiter_try), METH_O, "_try(n)"},
                                 {nullptr, nullptr, 0, nullptr}};

}  // namespace

PyObject* new_limiter_type() {
  return new_kept_type<LocalSource>("heatsink._native.Limiter", limiter_init, limiter_methods);
}

}  // namespace heatsink::python
