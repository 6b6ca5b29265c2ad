// SPDX-License-Identifier: Apache-2.0
// Writes an answer of `heatsink history` as JSON.
#pragma once

#include <string>

#include "apps/heatsink/history/answer.h"

namespace heatsink::app {

// One line. A number that is not known is null.
std::string history_json(const HistoryQuestion& question, const HistoryAnswer& answer);

}  // namespace heatsink::app
