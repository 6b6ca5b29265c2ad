// SPDX-License-Identifier: Apache-2.0
// Reads the errors with which a cluster node refuses a request that it must not execute now.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "heatsink/net/address.h"

namespace heatsink::topology {

struct Redirect {
  enum class Kind : std::uint8_t {
    kMoved,     // the slot belongs to `to`
    kAsk,       // this request only: ask `to`, after ASKING
    kTryAgain,  // the keys of the request are on two nodes: ask again later
  };
  Kind kind = Kind::kMoved;
  std::uint16_t slot = 0;  // not with kTryAgain
  net::HostPort to = {};   // as announced; host "": that of the node that answered
};

// The text of an error reply: without '-' and the end of the line.
std::string_view error_line(std::string_view reply);

// `line` is the error without '-' and the end of the line: "MOVED 3999 10.0.0.7:6381". Nothing: any
// other error, or one that no server sends. Redis Cluster Specification, "Redirection and
// resharding". IPv6 hosts come without brackets.
std::optional<Redirect> parse_redirect(std::string_view line);

}  // namespace heatsink::topology
