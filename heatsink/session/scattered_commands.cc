// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/scattered_commands.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "heatsink/base/hash_inline.h"
#include "heatsink/base/printable.h"
#include "heatsink/command/joined_reply.h"
#include "heatsink/spread/spread.h"
#include "heatsink/upstream/upstreams.h"

namespace heatsink::proxy {
namespace {

constexpr FanOutRow kMovesRow{"cluster|nodes", FanOut::kMasters, Join::kOk};
constexpr FanOutRow kSum{"get", FanOut::kByKey, Join::kCounter};
constexpr FanOutRow kOne{"incr", FanOut::kByKey, Join::kOk};
constexpr FanOutRow kAny{"del", FanOut::kByKey, Join::kAnyOne};

std::string wire_of(const std::vector<std::string_view>& args) {
  ByteBuffer wire;
  resp::append_request(wire, args);
  return std::string(wire.view());
}

// The keys of each slot, with what belongs to them, and their positions among all keys. There may
// be a part for each key, so a part allocates no more than it keeps.
std::vector<ScatterPart> parts_by_slot(const Request& request, bool in_pairs,
                                       std::vector<std::uint16_t>& slots) {
  const std::vector<std::string_view>& args = request.args();
  const std::size_t step = in_pairs ? 2 : 1;
  const std::size_t keys = (args.size() - 1) / step;
  std::vector<std::pair<std::uint16_t, std::uint32_t>> order;  // slot, position
  order.reserve(keys);
  for (std::uint32_t i = 0; i < keys; ++i)
    order.emplace_back(resp::key_slot(args[1 + i * step]), i);
  std::ranges::sort(order);
  std::size_t count = 0;
  for (std::size_t i = 0; i < order.size(); ++i)
    count += i == 0 || order[i].first != order[i - 1].first ? 1U : 0U;
  std::vector<ScatterPart> parts;
  parts.reserve(count);
  slots.reserve(count);
  ByteBuffer wire;
  std::vector<std::string_view> words;
  for (auto first = order.begin(); first != order.end();) {
    const auto last = std::find_if(
        first, order.end(), [slot = first->first](const auto& each) { return each.first != slot; });
    ScatterPart& part = parts.emplace_back();
    part.positions.reserve(static_cast<std::size_t>(last - first));
    words.assign(1, args[0]);
    slots.push_back(first->first);
    for (; first != last; ++first) {
      part.positions.push_back(first->second);
      const auto key = args.begin() + static_cast<std::ptrdiff_t>(1 + first->second * step);
      words.insert(words.end(), key, key + static_cast<std::ptrdiff_t>(step));
    }
    wire.clear();
    resp::append_request(wire, words);
    part.request = wire.view();
  }
  return parts;
}

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

bool ScatteredCommands::needs(const Request& request) {
  const FanOutRow& row = *request.facts->fan_out;
  if (row.fan_out == FanOut::kMasters)
    return request.command->name != "config|set" || !sets_one_node(request.args());
  if (row.fan_out == FanOut::kCursor) return true;
  const std::vector<std::string_view>& args = request.args();
  const std::size_t step = row.fan_out == FanOut::kByPair ? 2 : 1;
  if ((args.size() - 1) % step != 0) return true;  // scatter() refuses it
  const std::uint16_t first = resp::key_slot(args[1]);
  for (std::size_t i = 1 + step; i < args.size(); i += step)
    if (resp::key_slot(args[i]) != first) return true;
  return false;
}

std::size_t ScatteredCommands::bytes() const {
  std::size_t bytes = sizeof(*this);
  for (const auto& each : scatters_) bytes += each->bytes();
  return bytes;
}

Step ScatteredCommands::run(Request& request) {
  return request.facts->fan_out->fan_out == FanOut::kCursor ? scan(request) : scatter(request);
}

Step ScatteredCommands::scatter(Request& request) {
  if (const std::optional<Step> step = client_.before_parts(request)) return *step;
  const FanOutRow& row = *request.facts->fan_out;
  if (row.fan_out == FanOut::kByPair && request.args().size() % 2 == 0)
    return client_.reply_error("ERR wrong number of arguments for '" + request.command->name +
                               "' command");
  if (row.fan_out == FanOut::kByPair &&
      parts_.shared.options().cross_slot == policy::CrossSlot::kRefuse)
    return client_.reply_error("CROSSSLOT Keys in request don't hash to the same slot");
  std::vector<ScatterPart> parts;
  std::vector<Destination> destinations;
  if (row.fan_out == FanOut::kMasters) {
    // Other users may lack the right.
    const bool may = state_.user_ == ClientState::User::kShared;
    if (may && request.facts->scripts == ScriptUse::kFlush) parts_.shared.scripts.clear();
    if (may && request.facts->scripts == ScriptUse::kLoad && request.args().size() == 3)
      parts_.shared.scripts.learn(request.args()[2], nullptr);
    for (redis::UpstreamAddress* const master : client_.upstreams().all_masters()) {
      parts.push_back({std::string(request.raw), {}, {}});
      destinations.push_back(Destination::at(*master));
    }
  } else {
    std::vector<std::uint16_t> slots;
    parts = parts_by_slot(request, row.fan_out == FanOut::kByPair, slots);
    for (const std::uint16_t slot : slots) destinations.push_back(Destination::of_slot(slot));
  }
  if (parts.empty()) return client_.forward_whole(request);
  return send(request, row, std::move(parts), destinations);
}

Step ScatteredCommands::scan(Request& request) {
  Upstreams& upstreams = client_.upstreams();
  const std::shared_ptr<const topology::SlotMap> map = upstreams.slot_map();
  std::optional<ScanCursor> cursor = request.has_right_arity() && map != nullptr
                                         ? ScanCursor::parse(request.args()[1])
                                         : std::nullopt;
  if (!cursor) return client_.forward_whole(request);  // for the server to refuse
  const std::optional<topology::NodeIndex> node = cursor->go_on(*map, upstreams.map_version());
  if (!node) return client_.forward_whole(request);
  if (client_.is_owed_replies() || !scatters_.empty()) return client_.stall_for(Awaited::kDrain);
  std::vector<std::string_view> args = request.args();
  const std::string inner = std::to_string(cursor->inner);
  args[1] = inner;
  std::vector<ScatterPart> parts;
  parts.push_back({wire_of(args), {}, {}});
  const std::vector<Destination> to = {Destination::at(parts_.shared.cluster.node(*node))};
  const Step step = send(request, *request.facts->fan_out, std::move(parts), to);
  if (step == Step::kDone && !scatters_.empty()) {
    scan_ = {*cursor, map};
    client_.stall_for(Awaited::kAnswer);  // the pass may end with a question
  }
  return step;
}

// The whole scan's cursor after the node's reply; "": the pass has ended. nullopt: an error, or no
// cursor that can be passed on.
std::optional<std::string> ScatteredCommands::next_scan_cursor() const {
  const std::vector<std::string_view> elements = elements_of(scan_.wire);
  resp::Value inner;
  std::size_t used = 0;
  if (elements.size() != 2 || scan_.map == nullptr ||
      resp::parse_value(elements[0], inner, used) != resp::ValueStatus::kValue)
    return std::nullopt;
  std::uint64_t number = 0;
  const auto [end, error] =
      std::from_chars(inner.text.data(), inner.text.data() + inner.text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  return scan_.cursor.after(number, *scan_.map);
}

std::string ScatteredCommands::scan_reply(std::string_view cursor) const {
  return "*2\r\n$" + std::to_string(cursor.size()) + "\r\n" + std::string(cursor) + "\r\n" +
         std::string(elements_of(scan_.wire)[1]);
}

// At the end of a pass the masters are asked for their slots: a slot that moved without a request
// having noticed it is in no map of the proxy. False: not needed, or a master is not reachable.
bool ScatteredCommands::asks_for_moves(Scatter& scan) {
  if (!scan_.cursor.asks_for_moves()) return false;
  std::vector<ScatterPart> parts;
  std::vector<Upstream*> connections;
  scan_.asked.clear();
  for (const topology::SlotMap::Shard& shard : scan_.map->shards) {
    const Destination to = Destination::at(parts_.shared.cluster.node(shard.master));
    // With the proxy's login: its user has the right, and the client sees nothing of the reply.
    Upstream* const connection = client_.proxys_upstreams().shared(state_.protocol_, to).connection;
    if (connection == nullptr) return false;
    connections.push_back(connection);
    parts.push_back({wire_of({"CLUSTER", "NODES"}), {}, {}});
    scan_.asked.push_back(shard.master);
  }
  Scatter& check = begin(kMovesRow, {scan.ticket(), scan.is_silent()}, std::move(parts));
  for (std::size_t i = 0; i < connections.size(); ++i) {
    Pending pending;
    pending.session = &check;
    pending.ticket = Scatter::ticket_of(i);
    pending.read_only = true;
    connections[i]->send(check.parts()[i].request, std::move(pending));
  }
  return true;
}

ScanCursor::Moves ScatteredCommands::moves_told(const Scatter& check) {
  ScanCursor::Moves moves = ScanCursor::Moves::kNone;
  for (std::size_t i = 0; i < scan_.asked.size() && i < check.parts().size(); ++i)
    moves = std::max(moves, moves_in(check.parts()[i].reply, scan_.asked[i], *scan_.map));
  if (moves == ScanCursor::Moves::kDone) parts_.shared.cluster.is_stale(std::nullopt);
  return moves;
}

Scatter& ScatteredCommands::begin(const FanOutRow& row, Client::Joined reply,
                                  std::vector<ScatterPart>&& parts) {
  client_.own_request_sent();
  scatters_.push_back(std::make_unique<Scatter>(
      client_.requester(), static_cast<Scatter::Owner&>(*this), row, reply.ticket, std::move(parts),
      static_cast<std::size_t>(parts_.shared.options().client_output_max.count)));
  if (reply.silent) scatters_.back()->silence();
  return *scatters_.back();
}

// All of the connections are ready, or nothing is sent.
Step ScatteredCommands::send(Request& request, const FanOutRow& row,
                             std::vector<ScatterPart>&& parts,
                             const std::vector<Destination>& destinations) {
  std::vector<Upstream*> connections;
  connections.reserve(destinations.size());
  for (const Destination& to : destinations) {
    Step step = Step::kDone;
    connections.push_back(client_.shared_at(to, request, step));
    if (connections.back() == nullptr) return step;
  }
  parts_.count(copies::Count::kCommands);
  parts_.count(copies::Count::kScattered);
  Pending noted;
  const Client::Joined reply = client_.expect_joined(request, noted);
  const bool reads = request.command->has(resp::kReadonly);
  Scatter& scatter = begin(row, reply, std::move(parts));
  for (std::size_t i = 0; i < connections.size(); ++i) {
    Pending pending = part_of(request, noted, scatter, i);
    parts_.count(copies::Count::kForwardedShared);
    if (!reads) client_.requester().note_written(connections[i]->server());
    connections[i]->send(scatter.parts()[i].request, std::move(pending));
  }
  client_.parts_sent();
  return Step::kDone;
}

// Each part carries the effects of its own keys, and those that have no key.
Pending ScatteredCommands::part_of(const Request& request, const Pending& noted, Scatter& scatter,
                                   std::size_t part) {
  const FanOutRow& row = scatter.row();
  Pending pending;
  pending.session = &scatter;
  pending.ticket = Scatter::ticket_of(part);
  pending.read_only = request.command->has(resp::kReadonly);
  pending.unknown_keys = noted.unknown_keys;
  pending.flush = noted.flush;
  pending.changes_access = noted.changes_access;
  const std::size_t step = row.fan_out == FanOut::kByPair ? 2 : 1;
  for (const std::uint32_t position : scatter.parts()[part].positions) {
    const std::string_view key = request.args()[1 + position * step];
    const NameHash name = hash_name_inline(key, parts_.shared.seed);
    pending.keys.add({name, in_db(name, state_.db_), !pending.read_only || state_.no_local_reads_});
    if (!pending.read_only) client_.note_write(key, name, pending);
  }
  parts_.copies.begin_writes(pending);
  return pending;
}

void ScatteredCommands::scatter_ended(Scatter& scatter) {
  const auto found =
      std::ranges::find_if(scatters_, [&](const auto& each) { return each.get() == &scatter; });
  ended_.push_back(std::move(*found));
  scatters_.erase(found);
  client_.parts_ended(scatter);
}

void ScatteredCommands::finish(Scatter& scatter) {
  const bool is_scan = scatter.row().fan_out == FanOut::kCursor;
  const bool checks_moves = !is_scan && !scan_.wire.empty();  // the nodes' replies are kept
  if (scatter.is_lost() && !checks_moves && client_.closes_for_loss()) return;
  std::string wire;
  if (is_scan) {
    scan_.wire = scatter.reply(parts_.shared.next_random());
    std::optional<std::string> next = next_scan_cursor();
    if (next && next->empty() && asks_for_moves(scatter)) return;
    if (next && next->empty()) next = scan_.cursor.end_pass(ScanCursor::Moves::kNone, *scan_.map);
    wire = next ? scan_reply(*next) : scan_.wire;
    if (!next && !wire.starts_with('-'))
      wire = "-ERR heatsink: the node's cursor is too large to be passed on\r\n";
  } else if (checks_moves) {
    wire = scan_reply(scan_.cursor.end_pass(moves_told(scatter), *scan_.map));
  } else {
    wire = scatter.reply(parts_.shared.next_random());
  }
  scan_.wire.clear();
  client_.give_rest(scatter.ticket(), scatter.is_silent() ? std::string_view() : wire);
}

std::size_t ScatteredCommands::parts_of_counter(const Request& request, std::uint32_t db,
                                                const WorkerParts& parts) {
  const copies::PolicySnapshot& policy = parts.shared.current();
  if (policy.spreads.empty() || request.command == nullptr || !request.has_right_arity()) return 0;
  if (db != 0) return 0;  // the parts are in database 0
  std::vector<resp::KeyRef>& refs = parts.key_refs;
  refs.clear();
  resp::find_keys(*request.command, request.args(), refs);
  for (const resp::KeyRef& ref : refs) {
    const policy::SpreadPolicy* const spread = policy.spread_of(request.args()[ref.arg]);
    if (spread != nullptr && spread->parts > 0) return spread->parts;
  }
  return 0;
}

Step ScatteredCommands::run_counter(Request& request, std::size_t parts) {
  const auto refuse = [&](const std::string& why) {
    return client_.refuse_in_any_state("ERR heatsink: " + why);
  };
  if (const std::string why = refusal(request); !why.empty()) return refuse(why);
  if (state_.in_multi_ || state_.watching_)
    return refuse("MULTI and WATCH are for keys of one node, but '" +
                  printable(request.args()[1], 128) + "' is a counter in parts");
  if (state_.user_ != ClientState::User::kShared || state_.no_local_reads_)
    return refuse("'" + printable(request.args()[1], 128) +
                  "' is a counter in parts, which is for clients with the proxy's own user and "
                  "without CLIENT TRACKING");
  if (const std::optional<Step> step = client_.before_parts(request)) return *step;
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
  return send(request, row_of(verb), std::move(sent), destinations);
}

}  // namespace heatsink::proxy
