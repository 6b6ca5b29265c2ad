// SPDX-License-Identifier: Apache-2.0
// What a process remembers of each key that is limited: so many of them, the latest used.
#pragma once

#include <array>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "heatsink/distributed/denial.h"
#include "heatsink/distributed/prepaid_tokens.h"

namespace heatsink::distributed {

struct LimitState {
  explicit LimitState(std::string name) : key(std::move(name)) {}

  const std::string key;  // on the server
  Denial denial;
  PrepaidTokens prepaid;
};

// Any thread. find() takes one of 16 locks; O(1). What is forgotten while somebody still holds it
// goes on working for him: two states of one key are two buyers, and tokens are paid for either
// way. Its unspent tokens lapse.
class LimitStates {
 public:
  explicit LimitStates(std::size_t keys_max) : each_max_((keys_max + kParts - 1) / kParts) {}

  // Made if it is not there; `prefix` stands before the key on the server.
  std::shared_ptr<LimitState> find(std::string_view prefix, std::string_view key);
  std::size_t size() const;

 private:
  static constexpr std::size_t kParts = 16;
  using Row = std::pair<std::string, std::shared_ptr<LimitState>>;
  struct Part {
    mutable std::mutex mutex;
    std::list<Row> rows;                                                    // the latest used first
    std::unordered_map<std::string_view, std::list<Row>::iterator> by_key;  // names are the rows'
  };

  const std::size_t each_max_;
  std::array<Part, kParts> parts_;
};

}  // namespace heatsink::distributed
