// SPDX-License-Identifier: Apache-2.0
// Writes the advice about one hot key: sentences with numbers.
#pragma once

#include <string>
#include <vector>

#include "heatsink/advice/key_traffic.h"
#include "heatsink/advice/lines.h"
#include "heatsink/advice/relief.h"
#include "heatsink/advice/remedies.h"

namespace heatsink::advice {

struct Advice {
  std::string headline;  // "local copies: takes off 97.2 % ..."; "write-hot: none of these ..."
  // All reliefs: those in force, those that help, best first, then the others with the reason. A
  // relief that refuses requests comes after all others that help.
  std::vector<Remedy> remedies;
};

// Pure, thread-safe.
Advice advise(const KeyTraffic& key, const AdviceOptions& options = {}, const KeyPlace& place = {});

}  // namespace heatsink::advice
