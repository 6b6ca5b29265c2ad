// SPDX-License-Identifier: Apache-2.0
#include "heatsink/resp/command.h"

#include <utility>

namespace heatsink::resp {
namespace {

constexpr std::pair<std::string_view, CommandFlag> kFlagNames[] = {
    {"write", kWrite},
    {"readonly", kReadonly},
    {"denyoom", kDenyOom},
    {"admin", kAdmin},
    {"pubsub", kPubSub},
    {"noscript", kNoScript},
    {"blocking", kBlocking},
    {"loading", kLoading},
    {"stale", kStale},
    {"skip_monitor", kSkipMonitor},
    {"asking", kAsking},
    {"fast", kFast},
    {"no_auth", kNoAuth},
    {"may_replicate", kMayReplicate},
    {"movablekeys", kMovableKeys},
    {"allow_busy", kAllowBusy},
    {"no_async_loading", kNoAsyncLoading},
    {"no_multi", kNoMulti},
    {"skip_slowlog", kSkipSlowlog},
    {"no_mandatory_keys", kNoMandatoryKeys},
    {"module", kModule},
    {"nondeterministic_output", kNondeterministicOutput},
    {"random", kNondeterministicOutput},
};

}  // namespace

std::uint32_t command_flag(std::string_view name) {
  for (const auto& [known, bit] : kFlagNames) {
    if (name == known) return bit;
  }
  return 0;
}

}  // namespace heatsink::resp
