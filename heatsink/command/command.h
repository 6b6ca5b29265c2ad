// SPDX-License-Identifier: Apache-2.0
// command: what a command needs, and what its replies mean. No connection. This header has the
// facts that a worker looks up by a command's name once, and not per request.
#pragma once

#include <cstdint>

#include "heatsink/command/fan_out.h"
#include "heatsink/command/gathered_write.h"
#include "heatsink/command/route.h"
#include "heatsink/command/spread_verb.h"
#include "heatsink/copies/local_reads.h"
#include "heatsink/detect/access.h"

namespace heatsink::proxy {

// The defaults describe an unknown command.
struct CommandFacts {
  Route route = Route::kPinned;
  std::uint16_t number = detect::kNoCommand;  // recorded with accesses
  const copies::LocalRead* local = nullptr;   // null: never served locally
  std::uint16_t sized_as = 0;                 // the command's number in BigReplies
  // See route.h.
  bool reveals_no_key = false;
  bool hides_invalidations = false;
  bool changes_access = false;
  bool changes_rights = false;
  // Scripts and functions may touch keys that the call does not name, and many do.
  bool runs_code = false;
  Exchange exchange = Exchange::kAlways;
  bool asks_tracking = false;  // CLIENT TRACKING
  bool uses_scripts = false;
  bool shows_cluster = false;  // what it says depends on proxy.present-as
  bool chooses_node = false;   // READONLY, READWRITE, ASKING
  GatherVerb gathered_as = GatherVerb::kNone;
  SpreadVerb spread_as = SpreadVerb::kNone;
  ScriptUse scripts = ScriptUse::kNone;
  const FanOutRow* fan_out = nullptr;  // null: one node of a cluster executes it
  // It only goes to a server on a shared connection, unless the client's state says otherwise.
  bool is_simple() const {
    return route == Route::kShared && fan_out == nullptr && !shows_cluster && !asks_tracking;
  }
};

// Too slow for every request: keep the result. `number` and `local` are copied into it.
inline CommandFacts facts_of(const resp::Command& command, std::uint16_t number,
                             const copies::LocalRead* local) {
  return {.route = route_of(command),
          .number = number,
          .local = local,
          .reveals_no_key = reveals_no_key(command),
          .hides_invalidations = hides_invalidations(command),
          .changes_access = changes_access(command),
          .changes_rights = changes_rights(command),
          .runs_code = command.has(resp::kNoMandatoryKeys),
          .exchange = exchange_of(command),
          .asks_tracking = command.name == "client|tracking",
          .uses_scripts = uses_scripts(command),
          .shows_cluster = shows_cluster(command),
          .chooses_node = chooses_node(command),
          .gathered_as = gather_verb(command.name),
          .spread_as = spread_verb(command.name),
          .scripts = script_use(command),
          .fan_out = fan_out_of(command.name)};
}

}  // namespace heatsink::proxy
