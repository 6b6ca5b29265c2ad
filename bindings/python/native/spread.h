// SPDX-License-Identifier: Apache-2.0
// The types behind heatsink.SpreadKeys and heatsink.SplitCounter.
#pragma once

#include "bindings/python/native/python_api.h"

namespace heatsink::python {

// Null: an exception.
PyObject* new_spread_keys_type();
PyObject* new_split_counter_type();

}  // namespace heatsink::python
