// SPDX-License-Identifier: Apache-2.0
// How busy each key was in the last answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "apps/heatsink/top/view.h"

namespace heatsink::app {

// What tells one row of an answer from another: a key may be judged by more than one rule.
struct KeyId {
  std::string raw_name;
  std::uint64_t db = 0;
  std::string dimension;
  // clang-tidy 14 takes the 0 that a comparison is rewritten to for a pointer.
  friend auto operator<=>(const KeyId&, const KeyId&) = default;  // NOLINT(modernize-use-nullptr)
};
KeyId id_of(const KeyView& key);
// Of the template that the key belongs to: its pattern stands for the name.
KeyId template_of(const KeyView& key);

// Memory: at most kKeysMax names and kKeysMax x kPointsMax floats, 2.5 MiB and the names. Not
// thread-safe.
class KeyHistories {
 public:
  static constexpr std::size_t kKeysMax = 2000;   // the first of an answer go before the others
  static constexpr std::size_t kPointsMax = 300;  // answers

  // A remembered key that the answer does not list is 0 then; it is forgotten when all it has is
  // zeros, or for another key's sake. O(keys of the answer x log kKeysMax).
  void add(const std::vector<KeyView>& keys);

  // Rates in the unit of the key's rule, oldest first, the last one of the last answer; as long as
  // the key is remembered.
  std::vector<double> of(const KeyId& key) const;
  // Sums of the keys with this template (its pattern as raw_name). O(remembered keys).
  std::vector<double> of_template(const KeyId& pattern) const;
  std::size_t size() const { return histories_.size(); }

 private:
  struct History {
    std::vector<float> rates;
    KeyId pattern;           // of its template
    std::size_t silent = 0;  // answers in a row that did not list it
  };
  void add_silence();
  static void note(History& history, const KeyView& key);
  void make_room(std::size_t wanted);

  std::map<KeyId, History> histories_;
};

}  // namespace heatsink::app
