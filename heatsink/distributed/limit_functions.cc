// SPDX-License-Identifier: Apache-2.0
#include "heatsink/distributed/limit_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace heatsink::distributed {
namespace {

constexpr std::string_view kServerClock = R"lua(
local function now_us()
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end)lua";

// Stores a level in tokens with its time, not one theoretical arrival time. A double holds the
// present time in microseconds only to a quarter of one, which is 25 tokens at 10^8/s; the level
// keeps 15 digits at any rate. Rounding never costs more than `slack` in total, because tokens that
// it lets pass are in the level.
constexpr std::string_view kTokenBucket = R"lua(
  local n, want, burst = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
  local per_us = ARGV[4] / ARGV[5]
  local slack = 0.000001
  local now = now_us()
  local at, level, is_set_back = now, 0, false
  local kept = redis.call('GET', KEYS[1])
  if kept then
    at, level = struct.unpack('<dd', kept)
    if at > now + standstill_us then
      at, is_set_back = now, true
    elseif now > at then
      level = math.max(0, level - (now - at) * per_us)
      at = now
    end
  end
  local room = burst - level + slack
  local granted, retry_us = 0, 0
  if n > room then
    retry_us = math.ceil((n + slack - room) / per_us) + at - now
  elseif n > 0 then
    granted = math.min(want, math.floor(room))
  end
  if granted > 0 or is_set_back then
    level = level + granted
    redis.call('SET', KEYS[1], struct.pack('<dd', at, level),
               'PX', math.ceil((level / per_us + at - now) / 1000) + 1)
  end
  return {granted, math.max(0, math.floor(burst - level + slack)), retry_us})lua";

// Stores the newest slot's number, the sum of earlier slots, and the counts, newest first. A call
// in the newest slot reads the first 20 bytes; a call in a later slot reads the slots that leave
// the window.
constexpr std::string_view kSlidingWindow = R"lua(
  local n, want, count = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
  local slots, slot_us = tonumber(ARGV[4]), tonumber(ARGV[5])
  local now = now_us()
  local slot = math.floor(now / slot_us)
  local before, this, older = 0, 0, string.rep('\0', 4 * slots)
  local kept = redis.call('GET', KEYS[1])
  if kept and #kept == 20 + 4 * slots then
    local newest, sum, last = struct.unpack('<ddI4', kept)
    local gone = slot - newest
    if gone <= 0 and -gone <= slots + standstill_us / slot_us + 1 then
      slot, before, this, older = newest, sum, last, string.sub(kept, 21)
    elseif gone > 0 and gone <= slots then
      before = sum + last
      for i = slots - gone, slots - 1 do
        before = before - struct.unpack('<I4', kept, 21 + 4 * i)
      end
      older = string.rep('\0', 4 * (gone - 1)) .. string.sub(kept, 17, 20 + 4 * (slots - gone))
    end
  end
  local passed = before + this
  local granted, retry_us = 0, 0
  if passed + n > count then
    local left, i = passed, slots
    while i > 0 do
      left = left - struct.unpack('<I4', older, 4 * i - 3)
      if left + n <= count then break end
      i = i - 1
    end
    retry_us = (slot - i + slots + 1) * slot_us - now
  elseif n > 0 then
    granted = math.min(want, count - passed)
    redis.call('SET', KEYS[1], struct.pack('<ddI4', slot, before, this + granted) .. older,
               'PX', math.ceil((slots + 1) * slot_us / 1000) + standstill_us / 1000)
  end
  return {granted, math.max(0, count - passed - granted), retry_us})lua";

std::int64_t microseconds(Nanos time) {
  return std::chrono::duration_cast<std::chrono::microseconds>(time).count();
}

bool is_window(const limit::LimiterOptions& options) {
  return options.algorithm == limit::Algorithm::kSlidingWindow;
}

std::int64_t slot_us(const limit::LimiterOptions& options) {
  const std::int64_t slots = options.slots;
  return (microseconds(options.rate.per) + slots - 1) / slots;
}

}  // namespace

FunctionLibrary limit_library(std::string_view clock) {
  const std::string prelude = fmt::format("{}\nlocal standstill_us = {}\n", clock,
                                          microseconds(limit::Limiter::kStandstill));
  return {"heatsink_limit",
          prelude,
          {{"token_bucket", kTokenBucket}, {"sliding_window", kSlidingWindow}}};
}

const FunctionLibrary& limit_library() {
  static const FunctionLibrary library = limit_library(kServerClock);
  return library;
}

FunctionCall limit_call(const FunctionLibrary& library, const limit::LimiterOptions& options,
                        std::string key, const LimitQuestion& question) {
  FunctionCall call;
  call.function = &library.function(is_window(options) ? "sliding_window" : "token_bucket");
  call.keys.push_back(std::move(key));
  call.args = {std::to_string(question.n), std::to_string(question.want),
               std::to_string(capacity_of(options))};
  if (is_window(options)) {
    call.args.push_back(std::to_string(options.slots));
    call.args.push_back(std::to_string(slot_us(options)));
  } else {
    call.args.push_back(std::to_string(options.rate.count));
    call.args.push_back(std::to_string(microseconds(options.rate.per)));
  }
  return call;
}

Result<LimitAnswer> limit_answer(const resp::Value& reply) {
  const auto is_count = [](const resp::Value& each) {
    return each.type == resp::Value::Type::kInteger && each.integer >= 0;
  };
  if (reply.type != resp::Value::Type::kArray || reply.items.size() != 3 ||
      !std::all_of(reply.items.begin(), reply.items.end(), is_count))
    return Error{ErrorCode::kProtocol, "the server's function sent an unexpected reply"};
  return LimitAnswer{.granted = static_cast<std::uint64_t>(reply.items[0].integer),
                     .remaining = static_cast<std::uint64_t>(reply.items[1].integer),
                     .retry_after = std::chrono::microseconds(reply.items[2].integer)};
}

std::uint64_t capacity_of(const limit::LimiterOptions& options) {
  if (is_window(options)) return options.rate.count;
  if (options.burst != 0) return options.burst;
  return std::max<std::uint64_t>(static_cast<std::uint64_t>(options.rate.per_second()), 1);
}

Status check_distributed(const limit::LimiterOptions& options) {
  if (!is_window(options) && options.algorithm != limit::Algorithm::kTokenBucket)
    return invalid_argument(fmt::format("limits across processes support {} and {}, not {}",
                                        to_string(limit::Algorithm::kTokenBucket),
                                        to_string(limit::Algorithm::kSlidingWindow),
                                        to_string(options.algorithm)));
  const auto made = limit::make_limiter(options);
  if (!made.ok()) return made.error();
  return Unit{};
}

}  // namespace heatsink::distributed
