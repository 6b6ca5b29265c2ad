// SPDX-License-Identifier: Apache-2.0
// Holds the names of the channels that one client has subscribed to.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>

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

// What a client has subscribed to. A value, which one process gives to another.
struct SubscribedNames {
  static constexpr std::size_t kCarriedMax = 4096;  // of all names together

  Channels channels, patterns, shard_channels;
  bool receives_messages = false;  // see Subscriptions::receives_messages()
  bool hears_hot = false;          // __heatsink__:hot, which the proxy answers and no server knows

  bool any() const { return !channels.empty() || !patterns.empty() || !shard_channels.empty(); }
};

}  // namespace heatsink::proxy
