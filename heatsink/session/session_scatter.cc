// SPDX-License-Identifier: Apache-2.0
// Executes commands in parts on several nodes of a cluster (fan_out.h, scatter.h).
#include <algorithm>
#include <charconv>
#include <utility>

#include "heatsink/base/hash_inline.h"
#include "heatsink/command/joined_reply.h"
#include "heatsink/session/session.h"

namespace heatsink::proxy {
namespace {

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

}  // namespace

bool Session::is_scattered(const Request& request) {
  const FanOutRow* const row = request.facts->fan_out;
  if (row == nullptr || !queues_transactions() || is_bound()) return false;
  if (row->fan_out == FanOut::kMasters)
    return request.command->name != "config|set" || !sets_one_node(request.args());
  if (row->fan_out == FanOut::kCursor) return true;
  const std::vector<std::string_view>& args = request.args();
  const std::size_t step = row->fan_out == FanOut::kByPair ? 2 : 1;
  if ((args.size() - 1) % step != 0) return true;  // scatter() refuses it
  const std::uint16_t first = resp::key_slot(args[1]);
  for (std::size_t i = 1 + step; i < args.size(); i += step)
    if (resp::key_slot(args[i]) != first) return true;
  return false;
}

// nullopt: the parts may be sent now.
std::optional<Session::Step> Session::before_parts(Request& request) {
  const Outcome outcome = reliefs_.departs(request);
  if (outcome != Outcome::kPass) return step_of(outcome);
  const bool has_shared_only = !private_ || may_leave_private();
  if (must_drain_first() || (!has_shared_only && in_flight() > 0)) return stall(Awaited::kDrain);
  if (private_ && may_leave_private()) give_back(true);
  return std::nullopt;
}

Session::Step Session::scatter(Request& request) {
  if (const std::optional<Step> step = before_parts(request)) return *step;
  const FanOutRow& row = *request.facts->fan_out;
  if (row.fan_out == FanOut::kByPair && request.args().size() % 2 == 0)
    return reply_error("ERR wrong number of arguments for '" + request.command->name + "' command");
  if (row.fan_out == FanOut::kByPair && parts_.shared.options().cross_slot == "refuse")
    return reply_error("CROSSSLOT Keys in request don't hash to the same slot");
  std::vector<ScatterPart> parts;
  std::vector<Destination> destinations;
  if (row.fan_out == FanOut::kMasters) {
    // Other users may lack the right.
    const bool may = user_ == User::kShared;
    if (may && request.facts->scripts == ScriptUse::kFlush) parts_.shared.scripts.clear();
    if (may && request.facts->scripts == ScriptUse::kLoad && request.args().size() == 3)
      parts_.shared.scripts.learn(request.args()[2], nullptr);
    for (redis::UpstreamAddress* const master : upstreams_->all_masters()) {
      parts.push_back({std::string(request.raw), {}, {}});
      destinations.push_back(Destination::at(*master));
    }
  } else {
    std::vector<std::uint16_t> slots;
    parts = parts_by_slot(request, row.fan_out == FanOut::kByPair, slots);
    for (const std::uint16_t slot : slots) destinations.push_back(Destination::of_slot(slot));
  }
  if (parts.empty()) return forward(request, false);
  return send_parts(request, row, std::move(parts), destinations);
}

Session::Step Session::scan(Request& request) {
  const std::shared_ptr<const topology::SlotMap> map = upstreams_->slot_map();
  std::optional<ScanCursor> cursor = request.has_right_arity() && map != nullptr
                                         ? ScanCursor::parse(request.args()[1])
                                         : std::nullopt;
  if (!cursor) return forward(request, false);  // for the server to refuse
  const std::optional<topology::NodeIndex> node = cursor->go_on(*map, upstreams_->map_version());
  if (!node) return forward(request, false);
  if (!replies_.empty() || !scatters_.empty()) return stall(Awaited::kDrain);
  std::vector<std::string_view> args = request.args();
  const std::string inner = std::to_string(cursor->inner);
  args[1] = inner;
  std::vector<ScatterPart> parts;
  parts.push_back({wire_of(args), {}, {}});
  const std::vector<Destination> to = {Destination::at(parts_.shared.cluster.node(*node))};
  const Step step = send_parts(request, *request.facts->fan_out, std::move(parts), to);
  if (step == Step::kDone && !scatters_.empty()) {
    scan_ = {*cursor, map};
    if (stall_ == Awaited::kNothing) stall(Awaited::kAnswer);  // the pass may end with a question
  }
  return step;
}

// The whole scan's cursor after the node's reply; "": the pass has ended. nullopt: an error, or no
// cursor that can be passed on.
std::optional<std::string> Session::next_scan_cursor() const {
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

std::string Session::scan_reply(std::string_view cursor) const {
  return "*2\r\n$" + std::to_string(cursor.size()) + "\r\n" + std::string(cursor) + "\r\n" +
         std::string(elements_of(scan_.wire)[1]);
}

// At the end of a pass the masters are asked for their slots: a slot that moved without a request
// having noticed it is in no map of the proxy. False: not needed, or a master is not reachable.
bool Session::asks_for_moves(Scatter& scan) {
  static constexpr FanOutRow kRow{"cluster|nodes", FanOut::kMasters, Join::kOk};
  if (!scan_.cursor.asks_for_moves()) return false;
  std::vector<ScatterPart> parts;
  std::vector<Upstream*> connections;
  scan_.asked.clear();
  for (const topology::SlotMap::Shard& shard : scan_.map->shards) {
    const Destination to = Destination::at(parts_.shared.cluster.node(shard.master));
    // With the proxy's login: its user has the right, and the client sees nothing of the reply.
    Upstream* const connection = parts_.upstreams.shared(protocol_, to).connection;
    if (connection == nullptr) return false;
    connections.push_back(connection);
    parts.push_back({wire_of({"CLUSTER", "NODES"}), {}, {}});
    scan_.asked.push_back(shard.master);
  }
  Scatter& check = begin_scatter(kRow, scan.ticket(), std::move(parts));
  if (scan.is_silent()) check.silence();
  for (std::size_t i = 0; i < connections.size(); ++i) {
    Pending pending;
    pending.session = &check;
    pending.ticket = Scatter::ticket_of(i);
    pending.read_only = true;
    connections[i]->send(check.parts()[i].request, std::move(pending));
  }
  return true;
}

ScanCursor::Moves Session::moves_told(const Scatter& check) {
  ScanCursor::Moves moves = ScanCursor::Moves::kNone;
  for (std::size_t i = 0; i < scan_.asked.size() && i < check.parts().size(); ++i)
    moves = std::max(moves, moves_in(check.parts()[i].reply, scan_.asked[i], *scan_.map));
  if (moves == ScanCursor::Moves::kDone) parts_.shared.cluster.is_stale(std::nullopt);
  return moves;
}

Scatter& Session::begin_scatter(const FanOutRow& row, ReplyQueue::Ticket ticket,
                                std::vector<ScatterPart>&& parts) {
  ++traffic_.sent;
  scatters_.push_back(std::make_unique<Scatter>(
      *this, static_cast<Scatter::Owner&>(*this), row, ticket, std::move(parts),
      static_cast<std::size_t>(parts_.shared.options().client_output_max.count)));
  return *scatters_.back();
}

// All of the connections are ready, or nothing is sent.
Session::Step Session::send_parts(Request& request, const FanOutRow& row,
                                  std::vector<ScatterPart>&& parts,
                                  const std::vector<Destination>& destinations) {
  std::vector<Upstream*> connections;
  connections.reserve(destinations.size());
  for (const Destination& to : destinations) {
    const Upstreams::Shared shared = upstreams_->shared(protocol_, to);
    Step step = Step::kDone;
    if (shared.connection == nullptr || shared.connection->is_read_slowly()) {
      without_shared(request, protocol_, to, shared, step);
      return no_connection(request, step);
    }
    if (in_right_db(*shared.connection, request, step) == nullptr)
      return no_connection(request, step);
    connections.push_back(shared.connection);
  }
  parts_.count(copies::Count::kCommands);
  parts_.count(copies::Count::kScattered);
  Pending noted;
  note_keys(request, noted);
  const bool reads = request.command->has(resp::kReadonly);
  const ReplyQueue::Ticket ticket = replies_.expect();
  if (!reads && !request.facts->reveals_no_key) last_effect_ = ticket;
  Scatter& scatter = begin_scatter(row, ticket, std::move(parts));
  if (take_silence()) scatter.silence();
  for (std::size_t i = 0; i < connections.size(); ++i) {
    Pending pending = part_of(request, noted, scatter, i);
    parts_.count(copies::Count::kForwardedShared);
    if (!reads) written_.note(connections[i]->server());
    connections[i]->send(scatter.parts()[i].request, std::move(pending));
  }
  if (private_) stall(Awaited::kAnswer);  // its next command goes there
  follow_alone();
  return Step::kDone;
}

// Each part carries the effects of its own keys, and those that have no key.
Pending Session::part_of(const Request& request, const Pending& noted, Scatter& scatter,
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
    pending.keys.add({name, in_db(name, db_), !pending.read_only || no_local_reads_});
    if (!pending.read_only) note_write(key, name, false, pending);
  }
  parts_.copies.begin_writes(pending);
  return pending;
}

void Session::scatter_ended(Scatter& scatter) {
  ++traffic_.received;
  const auto found =
      std::ranges::find_if(scatters_, [&](const auto& each) { return each.get() == &scatter; });
  // It is on the call stack.
  ended_scatters_.push_back(std::move(*found));
  scatters_.erase(found);
  flush_later();
  if (closed_) {
    if (in_flight() == 0) host_.destroy_at_end_of_turn(*this);
    return;
  }
  within_memory([&] { end_scatter(scatter); });
}

void Session::end_scatter(Scatter& scatter) {
  const bool checks_moves =
      scatter.row().fan_out != FanOut::kCursor && !scan_.wire.empty();  // the client has its reply
  if (scatter.is_lost() && !checks_moves) {
    parts_.count(copies::Count::kUpstreamErrors);
    if (closes_when_down()) return close_when_flushed();
  }
  std::string wire;
  if (scatter.row().fan_out == FanOut::kCursor) {
    scan_.wire = scatter.reply(parts_.shared.next_random());
    std::optional<std::string> next = next_scan_cursor();
    if (next && next->empty() && asks_for_moves(scatter)) return;
    if (next && next->empty()) next = scan_.cursor.end_pass(ScanCursor::Moves::kNone, *scan_.map);
    wire = next ? scan_reply(*next) : scan_.wire;
    if (!next && !wire.starts_with('-'))
      wire = "-ERR heatsink: the node's cursor is too large to be passed on\r\n";
  } else if (!scan_.wire.empty()) {
    wire = scan_reply(scan_.cursor.end_pass(moves_told(scatter), *scan_.map));
  } else {
    wire = scatter.reply(parts_.shared.next_random());
  }
  scan_.wire.clear();
  if (!scatter.is_silent()) put_reply(scatter.ticket(), wire);
  end_reply(scatter.ticket());
  after_reply();
}

}  // namespace heatsink::proxy
