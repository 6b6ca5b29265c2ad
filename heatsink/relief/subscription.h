// SPDX-License-Identifier: Apache-2.0
// Describes a client's subscriptions, and those and protocol changes that the server has not
// confirmed yet.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/resp/resp.h"

namespace heatsink::proxy {

// The channels or patterns of one client. Counts its memory: a client may have millions of them.
// Not thread-safe.
class Channels {
 public:
  // True if it was not there yet.
  bool insert(std::string_view name) {
    if (!names_.emplace(name).second) return false;
    bytes_ += bytes_of(name);
    return true;
  }
  void erase(std::string_view name) {
    const auto found = names_.find(name);
    if (found == names_.end()) return;
    names_.erase(found);
    bytes_ -= bytes_of(name);
  }
  void clear() {
    names_.clear();
    bytes_ = 0;
  }

  const std::string& last() const { return *names_.rbegin(); }  // REQUIRES !empty()
  std::size_t count(std::string_view name) const { return names_.count(name); }
  bool empty() const { return names_.empty(); }
  std::size_t size() const { return names_.size(); }
  auto begin() const { return names_.begin(); }
  auto end() const { return names_.end(); }
  std::size_t memory_bytes() const { return bytes_; }  // approximate

  using value_type = std::string;  // for matchers of tests
  using const_iterator = std::set<std::string, std::less<>>::const_iterator;

 private:
  // A node of the tree, and the bytes of a name that does not fit into its string.
  static std::size_t bytes_of(std::string_view name) {
    constexpr std::size_t kNode = sizeof(std::string) + 6 * sizeof(void*);
    return kNode + (name.size() < sizeof(std::string) / 2 ? 0 : name.size());
  }

  std::set<std::string, std::less<>> names_;
  std::size_t bytes_ = 0;
};

// A SUBSCRIBE or related command without its confirmations. Points into its session.
struct Subscribing {
  Channels* channels;
  std::vector<std::string> added;
  bool receives_after;  // messages may arrive after the confirmation
};

// A subscription inside MULTI: EXEC confirms it.
struct QueuedSubscription {
  Channels* channels;
  std::string name;
  bool adds;
  std::size_t index;  // its element in the reply to EXEC
};

// A HELLO inside MULTI: EXEC changes the protocol, unless the server refuses the HELLO.
struct QueuedHello {
  resp::Protocol protocol;
  std::size_t index;
};

}  // namespace heatsink::proxy
