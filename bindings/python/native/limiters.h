// SPDX-License-Identifier: Apache-2.0
// The types behind heatsink.Limiter, which is of this process, and heatsink.RateLimiter, which is
// of all.
#pragma once

#include "bindings/python/native/python_api.h"

namespace heatsink::python {

// Null: an exception.
PyObject* new_limiter_type();
PyObject* new_rate_limiter_type();

}  // namespace heatsink::python
