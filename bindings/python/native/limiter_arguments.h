// SPDX-License-Identifier: Apache-2.0
// Numbers that limiters take, and times that they tell.
#pragma once

#include <cstdint>

#include "bindings/python/native/python_api.h"

namespace heatsink::python {

// For PyArg_ParseTuple ("O&"), whose own "K" and "I" take what they have no bits for. 0: an
// exception.
inline int to_count(PyObject* object, void* to) {
  const unsigned long long value = PyLong_AsUnsignedLongLong(object);
  if (PyErr_Occurred() != nullptr) return 0;
  *static_cast<std::uint64_t*>(to) = value;
  return 1;
}

inline int to_small_count(PyObject* object, void* to) {
  std::uint64_t value = 0;
  if (to_count(object, &value) == 0) return 0;
  if (value > UINT32_MAX) {
    PyErr_SetString(PyExc_OverflowError, "a number is too large: use at most 4294967295");
    return 0;
  }
  *static_cast<std::uint32_t*>(to) = static_cast<std::uint32_t>(value);
  return 1;
}

// Microseconds; None: never.
inline PyObject* retry_after(std::uint64_t us) {
  if (us == UINT64_MAX) Py_RETURN_NONE;
  return PyLong_FromUnsignedLongLong(us);
}

}  // namespace heatsink::python
