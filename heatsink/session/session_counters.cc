// SPDX-License-Identifier: Apache-2.0
// Carries out commands on counters in parts, which are on several nodes of a cluster
// (spread.parts).
#include <algorithm>
#include <utility>

#include "heatsink/base/printable.h"
#include "heatsink/session/session.h"
#include "heatsink/spread/spread.h"

namespace heatsink::proxy {
namespace {

constexpr FanOutRow kSum{"get", FanOut::kByKey, Join::kCounter};
constexpr FanOutRow kOne{"incr", FanOut::kByKey, Join::kOk};
constexpr FanOutRow kAny{"del", FanOut::kByKey, Join::kAnyOne};

const FanOutRow& row_of(SpreadVerb verb) {
  if (verb == SpreadVerb::kGet) return kSum;
  return verb == SpreadVerb::kIncr || verb == SpreadVerb::kSet ? kOne : kAny;
}

std::string wire_with(std::vector<std::string_view> args, std::string_view name) {
  args[1] = name;
  ByteBuffer wire;
  resp::append_request(wire, args);
  return std::string(wire.view());
}

// What cannot be done with parts, and what to do instead; "": it can be done.
std::string refusal(const Request& request) {
  const std::vector<std::string_view>& args = request.args();
  const std::string name = request.command->name;
  constexpr std::string_view kAllowed =
      " cannot be carried out on a counter in parts (spread.parts of its rule). Use GET, INCR, "
      "DECR, INCRBY, DECRBY, EXISTS, DEL or UNLINK of one key, or SET key integer";
  switch (request.facts->spread_as) {
    case SpreadVerb::kNone:
      return name + std::string(kAllowed);
    case SpreadVerb::kDelete:
    case SpreadVerb::kExists:
      return args.size() == 2 ? "" : name + " of several keys" + std::string(kAllowed);
    case SpreadVerb::kSet:
      if (args.size() > 3) return name + " with options" + std::string(kAllowed);
      return resp::parse_decimal(args[2]) ? "" : "a counter in parts must be set to an integer";
    case SpreadVerb::kGet:
    case SpreadVerb::kIncr:
      break;
  }
  return "";
}

}  // namespace

// 0: none of the command's keys is a counter in parts, or the upstream is a single server.
std::size_t Session::parts_of_counter(const Request& request) {
  const copies::PolicySnapshot& policy = parts_.shared.current();
  if (policy.spreads.empty() || request.command == nullptr || !request.has_right_arity()) return 0;
  if (db_ != 0) return 0;  // the parts are in database 0
  std::vector<resp::KeyRef>& refs = parts_.key_refs;
  refs.clear();
  resp::find_keys(*request.command, request.args(), refs);
  for (const resp::KeyRef& ref : refs) {
    const policy::SpreadPolicy* const spread = policy.spread_of(request.args()[ref.arg]);
    if (spread != nullptr && spread->parts > 0) return queues_transactions() ? spread->parts : 0;
  }
  return 0;
}

Session::Step Session::refuse_counter(std::string&& why) {
  std::string text = "ERR heatsink: " + std::move(why);
  if (queued_ != nullptr) return refuse_to_queue(std::move(text));
  return reply_error(text);
}

// REQUIRES the result of parts_of_counter(), not 0.
Session::Step Session::run_counter(Request& request, std::size_t parts) {
  if (std::string why = refusal(request); !why.empty()) return refuse_counter(std::move(why));
  if (in_multi_ || watching_)
    return refuse_counter("MULTI and WATCH are for keys of one node, but '" +
                          printable(request.args()[1], 128) + "' is a counter in parts");
  if (user_ != User::kShared || no_local_reads_)
    return refuse_counter("'" + printable(request.args()[1], 128) +
                          "' is a counter in parts, which is for clients with the proxy's own "
                          "user and without CLIENT TRACKING");
  if (const std::optional<Step> step = before_parts(request)) return *step;
  const SpreadVerb verb = request.facts->spread_as;
  const std::string_view key = request.args()[1];
  const std::uint16_t slot = resp::key_slot(key);
  const std::size_t only = verb == SpreadVerb::kIncr ? parts_.shared.next_random() % parts : 0;
  std::vector<ScatterPart> sent;
  std::vector<Destination> destinations;
  for (std::size_t i = 0; i < parts; ++i) {
    if (verb == SpreadVerb::kIncr && i != only) continue;
    const std::string name = spread::part_name(key, i);
    const bool deletes = verb == SpreadVerb::kSet && i > 0;
    const std::vector<std::string_view> args =
        deletes ? std::vector<std::string_view>{"DEL", key} : request.args();
    sent.push_back({wire_with(args, name), {0}, {}});
    destinations.push_back(Destination::of_slot(spread::part_slot(slot, i)));
  }
  parts_.count(copies::Count::kSpreadParts);
  return send_parts(request, row_of(verb), std::move(sent), destinations);
}

}  // namespace heatsink::proxy
