// SPDX-License-Identifier: Apache-2.0
// The type behind heatsink.WindowStats.
#pragma once

#include "bindings/python/native/python_api.h"

namespace heatsink::python {

// The type; null: an exception.
PyObject* new_window_stats_type();

}  // namespace heatsink::python
