// SPDX-License-Identifier: Apache-2.0
// Fields of the dictionaries that dataclasses are made of.
#pragma once

#include <cstdint>

#include "bindings/python/native/python_api.h"

namespace heatsink::python {

// False: an exception is set.
inline bool put(PyObject* row, const char* name, PyObject* made) {
  const Ref value(made);
  return value && PyDict_SetItemString(row, name, value.get()) == 0;
}
inline bool put(PyObject* row, const char* name, double value) {
  return put(row, name, PyFloat_FromDouble(value));
}
inline bool put(PyObject* row, const char* name, std::uint64_t value) {
  return put(row, name, PyLong_FromUnsignedLongLong(value));
}
inline bool put(PyObject* row, const char* name, std::int64_t value) {
  return put(row, name, PyLong_FromLongLong(value));
}
inline bool put(PyObject* row, const char* name, const char* text) {
  return put(row, name, PyUnicode_FromString(text));
}

}  // namespace heatsink::python
