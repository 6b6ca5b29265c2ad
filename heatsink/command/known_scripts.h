// SPDX-License-Identifier: Apache-2.0
// Remembers the scripts of all clients, so that each node of a cluster knows what one server would.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace heatsink::redis {
class UpstreamAddress;
}  // namespace heatsink::redis

namespace heatsink::proxy {

// The name of a script at the servers, in hex. O(bytes).
std::string sha1_of(std::string_view text);

// Any thread; each call takes a lock, so it is only for commands that run scripts. Beyond
// kScriptsMax scripts or kBytesMax of text the one that was used longest ago is forgotten: an
// EVALSHA of it gets NOSCRIPT from nodes that have not run it, and clients send it again.
class KnownScripts {
 public:
  static constexpr std::size_t kScriptsMax = 1000;
  static constexpr std::size_t kBytesMax = 8 * 1024 * 1024;
  static constexpr std::size_t kTextMax = 256 * 1024;  // a longer one is not kept

  // EVAL or SCRIPT LOAD. `at`: the node that executes it now; null: none yet. Cost: SHA-1 of a text
  // that it does not know.
  void learn(std::string_view text, const redis::UpstreamAddress* at);
  // The text for SCRIPT LOAD if the node does not have the script as far as is known; it counts as
  // having it from then on. Null: it has it, or the script is unknown.
  std::shared_ptr<const std::string> missing_at(const redis::UpstreamAddress& at,
                                                std::string_view sha1);
  std::shared_ptr<const std::string> text_of(std::string_view sha1);  // null: unknown

  void forget_at(const redis::UpstreamAddress& at);  // the node has lost its scripts
  void clear();                                      // SCRIPT FLUSH
  std::size_t size() const;

 private:
  struct Script {
    std::string sha1;
    std::shared_ptr<const std::string> text;
    std::vector<const redis::UpstreamAddress*> at;
  };
  using Scripts = std::list<Script>;  // the one used last comes first

  Scripts::iterator find(std::string_view sha1);
  void trim();

  mutable std::mutex mutex_;
  Scripts scripts_;
  std::unordered_map<std::string, Scripts::iterator> by_sha1_;
  std::unordered_map<std::string_view, Scripts::iterator> by_text_;  // views of Script::text
  std::size_t bytes_ = 0;
};

}  // namespace heatsink::proxy
