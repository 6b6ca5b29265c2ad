// SPDX-License-Identifier: Apache-2.0
// One request of a client, while the session looks at it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/cache/cache.h"
#include "heatsink/proxy/command_facts.h"
#include "heatsink/proxy/local_reads.h"
#include "heatsink/proxy/route.h"
#include "heatsink/resp/resp.h"

namespace heatsink::proxy {

inline constexpr CommandFacts kUnknownCommand{};

struct Call {
  const std::vector<std::string_view>& args;
  std::string_view raw;
  TimePoint now;                           // read after the request was
  const resp::Command* command = nullptr;  // null: unknown
  const CommandFacts* facts = &kUnknownCommand;
  Route route = Route::kPinned;             // facts->route, or where an error is to come from
  bool is_last = false;                     // nothing of the client's has come behind it
  std::optional<NameHash> first_name = {};  // of the first argument, once it was asked for

  bool has_right_arity() const {  // REQUIRES command
    const auto count = static_cast<std::int64_t>(args.size());
    return command->arity >= 0 ? count == command->arity : count >= -command->arity;
  }
  cache::Read read() const {  // REQUIRES facts->local and a key
    return {facts->local->number, std::span(args).subspan(2)};
  }
};

}  // namespace heatsink::proxy
