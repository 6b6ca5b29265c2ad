// SPDX-License-Identifier: Apache-2.0
// What the proxy's own user must be allowed to do on the server, and how a person is told what it
// may not.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/resp/value.h"

namespace heatsink::policy {

// One command that the proxy sends by itself, asked in a form that changes nothing.
struct NeededRight {
  std::vector<std::string> words;
  std::string name;        // as people call it: "CLIENT TRACKING"
  std::string rule;        // that allows it, for ACL SETUSER
  std::string without_it;  // what there is none of
  bool for_copies;         // nothing is copied without it
};

struct MissingRight {
  std::string sentence;  // what is missing, what that means, and how it is granted
  bool for_copies;
  friend bool operator==(const MissingRight&, const MissingRight&) = default;
};

// `user`: as ACL knows it.
std::vector<NeededRight> needed_rights(std::string_view user, std::string_view heartbeat_key,
                                       bool is_cluster);

// Of the replies, in the order of needed_rights(), those that refuse. A refusal because of the key
// is told once: all that name one name the heartbeat key. Texts as Redis 6 to 8 and Valkey have
// them.
std::vector<MissingRight> missing_rights(std::string_view user, std::string_view heartbeat_key,
                                         std::span<const NeededRight> needed,
                                         std::span<const resp::Value> replies);

}  // namespace heatsink::policy
