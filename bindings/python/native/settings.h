// SPDX-License-Identifier: Apache-2.0
// Options from all the places that they may come from.
#pragma once

#include <heatsink.h>

namespace heatsink::python {

// What comes later counts more; null texts are passed over. `keywords` is YAML, too. Null: an
// exception is set.
heatsink_options* new_options(const char* file, const char* yaml, bool environment,
                              const char* keywords);

}  // namespace heatsink::python
