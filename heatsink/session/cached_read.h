// SPDX-License-Identifier: Apache-2.0
// Recognises the transaction by which rueidis reads a value that it will keep.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace heatsink::proxy {

// rueidis (pipe.go, DoCache) wants a value and its TTL of the same moment. So it sends
//   MULTI, PTTL key, COMMAND key [argument ...], EXEC
// behind CLIENT CACHING YES, in one write. A copy has both, so the proxy can answer the four
// requests without a server that would have to keep the state of a transaction.
struct CachedRead {
  std::string_view read;  // the request COMMAND
  std::size_t size = 0;   // bytes of all four requests

  // What stands before the TTL and the value in the replies to all four.
  static constexpr std::string_view kRepliesBefore = "+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n";

  // nullopt: `bytes` do not begin with it, or not with all of it. `args`: of COMMAND, views of
  // `bytes`. Costs one comparison if `bytes` are something else.
  static std::optional<CachedRead> find(std::string_view bytes,
                                        std::vector<std::string_view>& args);
};

}  // namespace heatsink::proxy
