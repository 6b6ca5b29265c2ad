// SPDX-License-Identifier: Apache-2.0
// Remembers how busy each key was in the last answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "apps/heatsink/top/view.h"

namespace heatsink::app {

// Identifies a row of an answer: several rules may judge the same key.
struct KeyId {
  std::string raw_name;
  std::uint64_t db = 0;
  std::string dimension;
  // clang-tidy 14 mistakes the 0 in the rewritten comparison for a null pointer.
  friend auto operator<=>(const KeyId&, const KeyId&) = default;  // NOLINT(modernize-use-nullptr)
};
KeyId id_of(const KeyView& key);
// The id of the key's template: its pattern is in place of the name.
KeyId template_of(const KeyView& key);

// Memory: at most kKeysMax names and kKeysMax x kPointsMax floats, 2.5 MiB and the names. Not
// thread-safe.
class KeyHistories {
 public:
  static constexpr std::size_t kKeysMax = 2000;   // the first keys of an answer have priority
  static constexpr std::size_t kPointsMax = 300;  // answers

  // Adds 0 for a remembered key that the answer does not list. A key is forgotten when it has only
  // zeros, or to make room for another key. O(keys of the answer x log kKeysMax).
  void add(const std::vector<KeyView>& keys);

  // Rates in the unit of the key's rule, oldest first; as long as the key is remembered the last
  // one is from the last answer.
  std::vector<double> of(const KeyId& key) const;
  // Sums of the keys with this template (its pattern as raw_name). O(remembered keys).
  std::vector<double> of_template(const KeyId& pattern) const;
  std::size_t size() const { return histories_.size(); }

 private:
  struct History {
    std::vector<float> rates;
    KeyId pattern;           // of its template
    std::size_t silent = 0;  // answers in a row without it
  };
  void add_silence();
  static void note(History& history, const KeyView& key);
  void make_room(std::size_t wanted);

  std::map<KeyId, History> histories_;
};

}  // namespace heatsink::app
