// SPDX-License-Identifier: Apache-2.0
// Keeps this process's state of the most recently used limited keys.
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

// Thread-safe. find() takes one of 16 locks; O(1). A state that is evicted while a caller still
// holds it continues to work for that caller. Two states of one key buy separately, and each token
// is paid for either way. The unspent tokens of an evicted state lapse.
class LimitStates {
 public:
  explicit LimitStates(std::size_t keys_max) : each_max_((keys_max + kParts - 1) / kParts) {}

  // Creates the state if it does not exist; `prefix` is put before the key on the server.
  std::shared_ptr<LimitState> find(std::string_view prefix, std::string_view key);
  std::size_t size() const;

 private:
  static constexpr std::size_t kParts = 16;
  using Row = std::pair<std::string, std::shared_ptr<LimitState>>;
  struct Part {
    mutable std::mutex mutex;
    std::list<Row> rows;  // most recently used first
    std::unordered_map<std::string_view, std::list<Row>::iterator> by_key;  // names are the rows'
  };

  const std::size_t each_max_;
  std::array<Part, kParts> parts_;
};

}  // namespace heatsink::distributed
