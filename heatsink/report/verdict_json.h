// SPDX-License-Identifier: Apache-2.0
// Writes verdicts as JSON for client programs: the messages of the channel __heatsink__:hot
// (docs/guides/verdicts.md has the format).
#pragma once

#include <span>
#include <string>

#include "heatsink/base/clock.h"
#include "heatsink/base/wall_time.h"
#include "heatsink/detect/verdict.h"

namespace heatsink::report {

// What a message says about a key.
struct VerdictForClients {
  detect::Verdict verdict;
  // The proxy answers reads of the key from local copies, as far as its rules say.
  bool copies = false;
};

// The same moment on both clocks.
struct BothClocks {
  TimePoint boot{};
  WallTime wall{};
};

// One line of valid UTF-8 each; pure; O(bytes of the names). The true name of the key, whatever
// privacy.redact-keys says: the reader is a client, which uses the keys.
//
// {"type":"change", ...}: the key has another temperature than `before`.
std::string change_json(const VerdictForClients& key, detect::Temperature before, BothClocks now);
// {"type":"list", ...}: all keys that are hot or write-hot now. `is_complete`: not only the hottest
// ones.
std::string list_json(std::span<const VerdictForClients> keys, bool is_complete, BothClocks now);

}  // namespace heatsink::report
