// SPDX-License-Identifier: Apache-2.0
#include <heatsink.h>

#include <memory>

#include "bindings/python/native/codec.h"
#include "bindings/python/native/kept_handle.h"
#include "bindings/python/native/limiter_arguments.h"
#include "bindings/python/native/limiters.h"
#include "bindings/python/native/rows.h"
#include "bindings/python/native/settings.h"

namespace heatsink::python {
namespace {

struct RateSource {
  using Handle = heatsink_limiter;
  static constexpr bool kOutlivesFork = false;

  ~RateSource() { heatsink_options_free(options); }
  int open(Handle** limiter) const {
    return heatsink_limiter_open(options, &limit, sizeof(limit), limiter);
  }
  static void free(Handle* limiter) { heatsink_limiter_free(limiter); }

  heatsink_options* options = nullptr;
  heatsink_limit limit = {};
  Ref arguments;  // those of __init__, whose texts `limit` points to
};

std::shared_ptr<heatsink_limiter> limiter_of(PyObject* self) {
  return kept_by<RateSource>(self).get();
}

// __init__(file, yaml, environment, keywords, name, algorithm, rate, burst, slots,
//          refuses_on_failure, lease_share, lease_lasts_ms, patience_ms)
int rate_limiter_init(PyObject* self, PyObject* arguments, PyObject* /*keywords*/) {
  auto& kept = kept_by<RateSource>(self);
  if (!is_new(kept)) return -1;
  heatsink_limit& limit = kept.source.limit;
  const char *file = nullptr, *yaml = nullptr, *keywords = nullptr;
  int environment = 0;
  if (PyArg_ParseTuple(arguments, "zzpzsssO&O&pdO&O&", &file, &yaml, &environment, &keywords,
                       &limit.name, &limit.algorithm, &limit.rate, to_count, &limit.burst,
                       to_small_count, &limit.slots, &limit.refuses_on_failure, &limit.lease_share,
                       to_count, &limit.lease_lasts_ms, to_count, &limit.patience_ms) == 0)
    return -1;
  kept.source.arguments = Ref::to(arguments);
  heatsink_options_free(
      std::exchange(kept.source.options, new_options(file, yaml, environment != 0, keywords)));
  return kept.source.options != nullptr && kept.make() ? 0 : -1;
}

using Arguments = PyObject* const*;

// A key and a count, which the functions that ask begin with. False: an exception is set.
struct Question {
  Question(Arguments arguments, Py_ssize_t count, Py_ssize_t expected)
      : key(count == expected ? arguments[0] : Py_None) {
    if (count != expected)
      PyErr_Format(PyExc_TypeError, "expected %zd positional arguments, got %zd", expected, count);
    else if (key)
      is_whole = to_count(arguments[1], &n) != 0;
  }
  Key key;
  std::uint64_t n = 0;
  bool is_whole = false;
};

// (allowed, basis, retry after in us or None, remaining)
PyObject* row_of(const heatsink_verdict& verdict) {
  return Py_BuildValue("NiNK", PyBool_FromLong(verdict.allowed), verdict.basis,
                       retry_after(verdict.retry_after_us),
                       static_cast<unsigned long long>(verdict.remaining));
}

// _try(key, n)
PyObject* rate_limiter_try(PyObject* self, Arguments arguments, Py_ssize_t count) {
  const auto limiter = limiter_of(self);
  if (limiter == nullptr) return nullptr;
  const Question question(arguments, count, 2);
  if (!question.is_whole) return nullptr;
  heatsink_verdict verdict;
  const int code = without_python([&] {
    return heatsink_limiter_try(limiter.get(), question.key.data, question.key.size, question.n,
                                &verdict, sizeof(verdict));
  });
  return code < 0 ? raise_code(code) : row_of(verdict);
}

// `done` is owned here until it has been called.
void call_done(void* done, const heatsink_verdict* verdict, std::size_t /*size*/) {
  in_python([=] {
    const Ref function(static_cast<PyObject*>(done));
    const Ref row(row_of(*verdict));
    if (!row || !call_python(function.get(), row.get())) PyErr_WriteUnraisable(function.get());
    return 0;
  });
}

// _ask(key, n, done): done(row), in this call or by a thread of the library's.
PyObject* rate_limiter_ask(PyObject* self, Arguments arguments, Py_ssize_t count) {
  const auto limiter = limiter_of(self);
  if (limiter == nullptr) return nullptr;
  const Question question(arguments, count, 3);
  if (!question.is_whole) return nullptr;
  Ref done = Ref::to(arguments[2]);
  const int code = without_python([&] {
    return heatsink_limiter_ask(limiter.get(), question.key.data, question.key.size, question.n,
                                call_done, done.get());
  });
  if (code < 0) return raise_code(code);
  done.release();
  Py_RETURN_NONE;
}

PyObject* rate_limiter_counts(PyObject* self, PyObject* /*none*/) {
  const auto limiter = limiter_of(self);
  if (limiter == nullptr) return nullptr;
  heatsink_limiter_counts_values now;
  const int code = heatsink_limiter_counts(limiter.get(), &now, sizeof(now));
  if (code < 0) return raise_code(code);
  Ref row(PyDict_New());
  const bool is_whole =
      row && put(row.get(), "asked", now.asked) && put(row.get(), "allowed", now.allowed) &&
      put(row.get(), "refused", now.refused) && put(row.get(), "by_lease", now.by_lease) &&
      put(row.get(), "by_denial", now.by_denial) && put(row.get(), "failures", now.failures) &&
      put(row.get(), "leased_tokens", now.leased_tokens) &&
      put(row.get(), "lapsed_tokens", now.lapsed_tokens);
  return is_whole ? row.release() : nullptr;
}

PyObject* rate_limiter_problem(PyObject* self, PyObject* /*none*/) {
  const auto limiter = limiter_of(self);
  if (limiter == nullptr) return nullptr;
  const int code = heatsink_limiter_problem(limiter.get());
  if (code < 0 && code != HEATSINK_FAILED) return raise_code(code);
  return PyUnicode_FromString(code == HEATSINK_FAILED ? heatsink_last_error() : "");
}

PyObject* rate_limiter_close(PyObject* self, PyObject* /*none*/) {
  kept_by<RateSource>(self).drop();
  Py_RETURN_NONE;
}

PyMethodDef rate_limiter_methods[] = {
    {"_try", method(rate_limiter_try), METH_FASTCALL, "_try(key, n)"},
    {"_ask", method(rate_limiter_ask), METH_FASTCALL, "_ask(key, n, done)"},
    {"_counts", method(rate_limiter_counts), METH_NOARGS, "_counts()"},
    {"problem", method(rate_limiter_problem), METH_NOARGS,
     "problem($self, /)\n--\n\n"
     "Why the last request to the server failed. Empty: it did not fail."},
    {"_close", method(rate_limiter_close), METH_NOARGS, "_close()"},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

PyObject* new_rate_limiter_type() {
  return new_kept_type<RateSource>("heatsink._native.RateLimiter", rate_limiter_init,
                                   rate_limiter_methods);
}

}  // namespace heatsink::python
