// SPDX-License-Identifier: Apache-2.0
#include "bindings/python/native/errors.h"

#include <array>
#include <cstdint>
#include <cstdio>

namespace heatsink::python {
namespace {

// What loads raised lately, for callers who share a load with the one who makes it. They find it by
// its number in the text of the error. Copies, because an exception holds the frames it came
// through, and nobody says when the last caller has looked.
struct Remembered {
  std::uint64_t number = 0;
  PyObject* exception = nullptr;
};
std::array<Remembered, 64> remembered;
std::uint64_t last_number = 0;

// Null: it cannot be copied.
Ref copy_of(PyObject* exception) {
  const Ref module(PyImport_ImportModule("copy"));
  const Ref copy(module ? PyObject_GetAttrString(module.get(), "copy") : nullptr);
  Ref result = copy ? call_python(copy.get(), exception) : Ref();
  if (!result || PyObject_IsInstance(result.get(), PyExc_Exception) != 1) {
    PyErr_Clear();
    return {};
  }
  return result;
}

std::uint64_t remember(PyObject* exception) {
  const std::uint64_t number = ++last_number;
  Remembered& place = remembered[number % remembered.size()];
  const Ref old(std::exchange(place.exception, copy_of(exception).release()));
  place.number = number;
  return number;
}

Ref taken() {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (traceback != nullptr && value != nullptr) PyException_SetTraceback(value, traceback);
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  return Ref(value);
}

PyObject* raise_object(PyObject* exception) {
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception)), exception);
  return nullptr;
}

// The load of somebody else has failed, or the server: what a loader of Python's has raised has a
// number.
PyObject* raise_shared() {
  const char* const text = heatsink_last_error();
  unsigned long long number = 0;
  int told_at = 0;
  if (std::sscanf(text, "#%llu %n", &number, &told_at) != 1 || told_at == 0) {
    PyErr_SetString(exceptions.server_error, text);
    return nullptr;
  }
  const Remembered& place = remembered[number % remembered.size()];
  const Ref copy =
      place.number == number && place.exception != nullptr ? copy_of(place.exception) : Ref();
  if (copy) return raise_object(copy.get());
  PyErr_SetString(exceptions.load_failed, text + told_at);
  return nullptr;
}

}  // namespace

PyObject* Call::raise(int code) {
  if (raised_) return raise_object(raised_.get());
  switch (code) {
    case HEATSINK_FAILED:
      return raise_shared();
    case HEATSINK_INVALID:
      PyErr_SetString(PyExc_ValueError, heatsink_last_error());
      return nullptr;
    case HEATSINK_REFUSED:
      PyErr_SetString(exceptions.load_refused, heatsink_last_error());
      return nullptr;
    case HEATSINK_NO_MEMORY:
      return PyErr_NoMemory();
    default:
      PyErr_SetString(exceptions.error, heatsink_last_error());
      return nullptr;
  }
}

int failed(heatsink_reply* reply) {
  Ref exception = taken();
  const Ref text(PyObject_Repr(exception.get()));
  if (!text) PyErr_Clear();
  // Not of a KeyboardInterrupt or the like: that is for one thread alone.
  const bool is_shared = PyObject_IsInstance(exception.get(), PyExc_Exception) == 1;
  const unsigned long long number = is_shared ? remember(exception.get()) : 0;
  const Ref message(text ? PyUnicode_FromFormat("#%llu %U", number, text.get()) : nullptr);
  const char* told = message ? PyUnicode_AsUTF8AndSize(message.get(), nullptr) : nullptr;
  if (told == nullptr) PyErr_Clear();
  heatsink_reply_error(reply, told != nullptr ? told : "#0 the loader raised");
  if (Call* const call = Call::innermost_) call->raised_ = std::move(exception);
  return HEATSINK_FAILED;
}

}  // namespace heatsink::python
