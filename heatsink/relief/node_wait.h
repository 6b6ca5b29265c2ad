// SPDX-License-Identifier: Apache-2.0
// What WAIT needs when the client's writes went over other connections, to several nodes: which
// nodes these were, whether the server needs a write on WAIT's own connection, and one reply.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "heatsink/resp/resp.h"

namespace heatsink::redis {
class UpstreamAddress;
}  // namespace heatsink::redis

namespace heatsink::proxy {

// Whether WAIT waits for the last write on its own connection, and not for the last command there:
// since Redis 7.2 (call() in server.c), and in Valkey. `hello`: the server's reply to HELLO, empty
// if it knows no HELLO. True if its version is not known.
inline bool waits_for_own_writes(std::string_view hello) {
  resp::Value reply;
  std::size_t used = 0;
  if (hello.empty()) return false;
  if (resp::parse_value(hello, reply, used) != resp::ValueStatus::kValue) return true;
  const resp::Value* const version = reply.find("version");
  if (version == nullptr) return true;
  int major = 0, minor = 0;
  const char* const end = version->text.data() + version->text.size();
  const auto [dot, error] = std::from_chars(version->text.data(), end, major);
  if (error != std::errc{} || dot == end) return true;
  if (std::from_chars(dot + 1, end, minor).ec != std::errc{}) return true;
  return major > 7 || (major == 7 && minor >= 2);
}

// Of one client. Not thread-safe. Cost of note(): one comparison while the client stays on a node.
class WrittenNodes {
 public:
  void note(redis::UpstreamAddress& node) {
    if (nodes_.empty() || nodes_.back() != &node) add(node);
  }
  const std::vector<redis::UpstreamAddress*>& all() const { return nodes_; }
  bool has(const redis::UpstreamAddress& node) const {
    return std::find(nodes_.begin(), nodes_.end(), &node) != nodes_.end();
  }

 private:
  void add(redis::UpstreamAddress& node) {
    const auto found = std::find(nodes_.begin(), nodes_.end(), &node);
    found == nodes_.end() ? nodes_.push_back(&node)
                          : std::iter_swap(found, std::prev(nodes_.end()));
  }

  std::vector<redis::UpstreamAddress*> nodes_;  // the latest is the last
};

// One WAIT or WAITAOF of a client that has written to several nodes: the nodes are asked one after
// the other, each for the time that is left, and the client gets the smallest numbers. A state
// machine, owned by the session.
class NodeWait {
 public:
  // REQUIRES nodes.
  explicit NodeWait(std::vector<redis::UpstreamAddress*> nodes) : nodes_(std::move(nodes)) {}

  redis::UpstreamAddress* node() const { return nodes_[at_]; }
  // The node's reply. True: it was the last one, or an error; then reply() is for the client.
  bool answered(std::string_view wire) {
    resp::Value value;
    std::size_t used = 0;
    const bool parsed = resp::parse_value(wire, value, used) == resp::ValueStatus::kValue;
    if (!parsed || value.is_error() || !join(value)) {
      reply_ = wire;
      return true;
    }
    return ++at_ == nodes_.size();
  }
  std::string reply() const {
    if (!reply_.empty()) return reply_;
    const auto one = [](std::int64_t number) { return ":" + std::to_string(number) + "\r\n"; };
    if (!is_array_) return one(numbers_.front());
    std::string out = "*" + std::to_string(numbers_.size()) + "\r\n";
    for (const std::int64_t number : numbers_) out += one(number);
    return out;
  }

 private:
  // False: not a number, nor an array of as many numbers as before.
  bool join(const resp::Value& value) {
    using Type = resp::Value::Type;
    std::vector<std::int64_t> numbers;
    is_array_ = value.type == Type::kArray;
    numbers.reserve(is_array_ ? value.items.size() : 1);
    if (!is_array_) numbers.push_back(value.integer);
    for (const resp::Value& each : value.items) numbers.push_back(each.integer);
    const bool is_first = at_ == 0;
    if (numbers.empty() || (!is_first && numbers.size() != numbers_.size())) return false;
    if (is_first) numbers_ = numbers;
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers_[i] = std::min(numbers_[i], numbers[i]);
    return true;
  }

  const std::vector<redis::UpstreamAddress*> nodes_;
  std::size_t at_ = 0;
  bool is_array_ = false;
  std::vector<std::int64_t> numbers_;
  std::string reply_;
};

}  // namespace heatsink::proxy
