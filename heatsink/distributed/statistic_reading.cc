// SPDX-License-Identifier: Apache-2.0
#include "heatsink/distributed/statistic_reading.h"

#include <algorithm>
#include <future>
#include <memory>
#include <set>
#include <utility>

#include "heatsink/base/printable.h"
#include "heatsink/distributed/statistic_form.h"
#include "heatsink/distributed/statistic_functions.h"
#include "heatsink/distributed/statistic_key.h"

namespace heatsink::distributed {
namespace {

using resp::Value;
using Reply = Result<Value>;
using Shard = Result<std::optional<StatisticReading>>;

constexpr std::size_t kHeadItems = 5;
// This many slots of this many shards have a sum that fits into its type, whatever they contain.
constexpr std::int64_t kSlotsMax = 240;

bool are_integers(const Value& reply, std::size_t count) {
  return reply.items.size() >= count &&
         std::all_of(reply.items.begin(), reply.items.begin() + static_cast<std::ptrdiff_t>(count),
                     [](const Value& each) { return each.type == Value::Type::kInteger; });
}

// Adds up the slots that are not older than wanted.
Status add_slots(const Value& reply, std::int64_t now_slot, std::int64_t wanted,
                 stats::Summary& sum) {
  for (std::size_t i = kHeadItems; i < reply.items.size(); ++i) {
    const Result<Slot> slot = decode_slot(reply.items[i].text);
    if (!slot.ok()) return slot.error();
    if (slot->number <= now_slot && slot->number > now_slot - wanted) sum.merge(slot->summary);
  }
  return Unit{};
}

FunctionCall call_of(std::string_view function, std::string key, std::vector<std::string> args) {
  return {&statistic_functions().function(function), {std::move(key)}, std::move(args)};
}

// Adds a shard to the shards read before.
void merge(const StatisticReading& shard, std::optional<StatisticReading>& all) {
  if (!all) {
    all = shard;
    return;
  }
  all->summary.merge(shard.summary);
  all->covered = std::min(all->covered, shard.covered);
}

}  // namespace

Shard parse_reading(const Value& reply) {
  if (reply.type != Value::Type::kArray || !are_integers(reply, 1))
    return malformed_statistic("unexpected reply of the function");
  if (reply.items.size() == 1) return std::optional<StatisticReading>();
  if (!are_integers(reply, kHeadItems))
    return malformed_statistic("unexpected reply of the function");
  const std::int64_t now_ms = reply.items[0].integer, slot_ms = reply.items[1].integer;
  const std::int64_t slots = reply.items[2].integer, now_slot = reply.items[3].integer;
  const std::int64_t wanted = reply.items[4].integer;
  constexpr std::int64_t kLargest = std::int64_t{1} << 53;
  if (slot_ms <= 0 || slots <= 0 || slots > kSlotsMax || slot_ms > kLargest / slots ||
      now_slot < 0 || now_slot > kLargest / slot_ms || wanted <= 0 || wanted > slots || now_ms < 0)
    return malformed_statistic("its times cannot be right");
  if (reply.items.size() > kHeadItems + static_cast<std::size_t>(wanted))
    return malformed_statistic("it has more slots than requested");
  StatisticReading reading;
  reading.slot = Millis(slot_ms);
  reading.length = Millis(slot_ms * slots);
  const std::int64_t into_slot = std::clamp<std::int64_t>(now_ms - now_slot * slot_ms, 0, slot_ms);
  reading.covered = Millis((wanted - 1) * slot_ms + into_slot);
  if (const Status added = add_slots(reply, now_slot, wanted, reading.summary); !added.ok())
    return added.error();
  return std::optional<StatisticReading>(std::move(reading));
}

Result<StatisticReading> read_statistic(Server& server, std::string_view name, Millis window,
                                        TimePoint deadline) {
  std::vector<std::future<Reply>> replies;
  for (std::uint32_t shard = 0; shard < kStatisticShards; ++shard) {
    auto promise = std::make_shared<std::promise<Reply>>();
    replies.push_back(promise->get_future());
    server.call(call_of("read", statistic_key(name, shard), {std::to_string(window.count())}),
                deadline, [promise](Reply reply) { promise->set_value(std::move(reply)); });
  }
  std::optional<StatisticReading> all;
  std::uint32_t missing = 0;
  std::optional<Error> problem;
  for (std::future<Reply>& each : replies) {
    const Reply reply = each.get();
    const auto shard = reply.ok() ? parse_reading(*reply) : Shard(reply.error());
    if (shard.ok()) {
      if (shard.value()) merge(*shard.value(), all);
      continue;
    }
    ++missing;
    problem = shard.error();
  }
  if (!all && problem) return *problem;
  if (!all)
    return Error{ErrorCode::kNotFound,
                 "no statistic \"" + printable(name) + "\": no process wrote it within its window"};
  all->shards_missing = missing;
  if (problem) all->problem = problem->message;
  return *std::move(all);
}

Result<std::vector<std::string>> list_statistics(Server& server, std::string_view pattern,
                                                 TimePoint deadline) {
  std::set<std::string> names;
  std::string cursor = "0";
  do {
    const Reply reply = server.call_and_wait(
        call_of("list", statistic_key("", 0), {cursor, statistic_key_pattern(pattern)}), deadline);
    if (!reply.ok()) return reply.error();
    if (reply->items.size() != 2 || !reply->items[0].is_text())
      return malformed_statistic("unexpected reply of the function");
    for (const Value& key : reply->items[1].items)
      if (const auto name = statistic_of_key(key.text)) names.emplace(*name);
    if (names.size() > kStatisticNamesMax)
      return Error{ErrorCode::kOutOfRange,
                   "more than 10000 statistics match: use a narrower pattern"};
    cursor = reply->items[0].text;
  } while (cursor != "0");
  return std::vector<std::string>(names.begin(), names.end());
}

}  // namespace heatsink::distributed
