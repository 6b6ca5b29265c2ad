// SPDX-License-Identifier: Apache-2.0
// Knows where the copies of keys are: asks for their layouts, makes and replaces them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/relief/spread_parts.h"
#include "heatsink/spread/spread.h"

namespace heatsink::proxy {

class SpreadLayoutQuestion;

// One per worker; its thread only. Memory: at most spread::kLayoutsKept layouts.
class SpreadLayouts {
 public:
  explicit SpreadLayouts(SpreadParts& parts);
  ~SpreadLayouts();
  SpreadLayouts(const SpreadLayouts&) = delete;

  // The slots of the key's copies, as far as is known; asks if that is nothing, or old. A reader
  // may use old ones. Valid until the next call.
  const std::vector<std::uint16_t>* known(std::string_view key, std::size_t copies);
  // Calls `then` with the slots, at once if they are fresh. Null: the node did not say. A writer
  // needs fresh ones, so that it ends all copies.
  using Then = std::function<void(const std::vector<std::uint16_t>*)>;
  void with_fresh(std::string_view key, std::size_t copies, Then then);

  void end_turn();  // frees questions that have ended

 private:
  friend class SpreadLayoutQuestion;
  struct Entry {
    spread::Layout layout;
    TimePoint asked_at = TimePoint::min(), known_at = TimePoint::min();
    std::unique_ptr<SpreadLayoutQuestion> question;
    std::vector<Then> waiting;
  };

  Entry* entry_of(std::string_view key);  // null: kLayoutsKept questions are in flight
  bool is_fresh(const Entry& entry) const;
  void ask(std::string_view key, Entry& entry, std::size_t copies);
  void ended(const std::string& key, bool ok, std::string_view text);

  SpreadParts& parts_;
  std::unordered_map<std::string, Entry> entries_;
  std::vector<std::unique_ptr<SpreadLayoutQuestion>> ended_;
};

}  // namespace heatsink::proxy
