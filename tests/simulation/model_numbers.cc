// SPDX-License-Identifier: Apache-2.0
// Numbers of the model server: how it reads them, times, ranges, and the commands that count.
#include <algorithm>
#include <array>
#include <chrono>
#include <limits>

#include "tests/simulation/model_set_options.h"
#include "tests/simulation/model_state.h"

namespace heatsink::simulation {
namespace {

constexpr std::int64_t kInt64Max = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kInt64Min = std::numeric_limits<std::int64_t>::min();

void add_to(const ModelCall& call, std::int64_t amount) {
  ModelEntry* entry = call.server.keys.find(call.db(), call.args[1]);
  if (entry != nullptr && entry->text() == nullptr) return call.error(kModelWrongType);
  const std::optional<std::int64_t> before =
      entry == nullptr ? 0 : resp::parse_decimal(*entry->text());
  if (!before) return call.error(kModelNoInteger);
  std::int64_t after = 0;
  if (__builtin_add_overflow(*before, amount, &after))
    return call.error("ERR increment or decrement would overflow");
  if (entry == nullptr) {
    call.server.keys.put(call.db(), call.args[1], {std::to_string(after), std::nullopt});
  } else {
    entry->value = std::to_string(after);
  }
  call.integer(after);
  call.server.keys.changed(call.db(), call.args[1]);
}

void do_incr(const ModelCall& call) { add_to(call, 1); }
void do_decr(const ModelCall& call) { add_to(call, -1); }

void do_incrby(const ModelCall& call) {
  const std::optional<std::int64_t> amount = resp::parse_decimal(call.args[2]);
  amount ? add_to(call, *amount) : call.error(kModelNoInteger);
}

void do_decrby(const ModelCall& call) {
  const std::optional<std::int64_t> amount = resp::parse_decimal(call.args[2]);
  if (!amount) return call.error(kModelNoInteger);
  if (*amount == kInt64Min) return call.error("ERR decrement would overflow");
  add_to(call, -*amount);
}

constexpr std::array kNumberCommands = {
    ModelCommand{"incr", do_incr}, ModelCommand{"decr", do_decr}, ModelCommand{"incrby", do_incrby},
    ModelCommand{"decrby", do_decrby}};

}  // namespace

std::span<const ModelCommand> model_number_commands() { return kNumberCommands; }

ModelRange model_range(std::int64_t first, std::int64_t last, std::size_t size) {
  const auto count = static_cast<std::int64_t>(size);
  if (first < 0) first = std::max<std::int64_t>(first + count, 0);
  if (last < 0) last += count;
  last = std::min(last, count - 1);
  if (first > last) return {};
  return {static_cast<std::size_t>(first), static_cast<std::size_t>(last - first + 1)};
}

std::optional<TimePoint> model_moment(std::int64_t amount, bool in_seconds, TimePoint base) {
  if (in_seconds && (amount > kInt64Max / 1000 || amount < kInt64Min / 1000)) return std::nullopt;
  const std::int64_t ms = in_seconds ? amount * 1000 : amount;
  const std::int64_t base_ms = std::chrono::floor<Millis>(base.time_since_epoch()).count();
  std::int64_t sum = 0;
  if (__builtin_add_overflow(ms, base_ms, &sum)) return std::nullopt;
  constexpr std::int64_t kFar = kInt64Max / 1'000'000;
  return TimePoint(Millis(std::clamp(sum, -kFar, kFar)));
}

}  // namespace heatsink::simulation
