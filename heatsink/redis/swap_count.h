// SPDX-License-Identifier: Apache-2.0
// Notices that databases were exchanged (SWAPDB), which a server reports to no tracking client.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heatsink::redis {

// Compares what INFO commandstats says of SWAPDB with what it said before. The server counts each
// execution: by any client, in a script, a function, a transaction or a module, also under another
// name (rename-command). One thread. Cost: O(text), a few microseconds.
class SwapCount {
 public:
  enum class Finding : std::uint8_t {
    kSame,     // no exchange between the last two answers
    kSwapped,  // an exchange, or the server began to count anew (CONFIG RESETSTAT)
    kUnknown,  // the server does not say
  };

  // The server's answer. The first one of a connection is the start of the count: kUnknown.
  Finding look(std::string_view commandstats);
  void reset() { last_.reset(); }                    // a new connection
  bool counts() const { return last_.has_value(); }  // the last answer did

 private:
  struct Counted {
    std::string swaps;        // what the server counts of SWAPDB; "": it was never called
    std::uint64_t calls = 0;  // of all commands: fewer than before after CONFIG RESETSTAT
  };
  static std::optional<Counted> count(std::string_view commandstats);

  std::optional<Counted> last_;
};

}  // namespace heatsink::redis
