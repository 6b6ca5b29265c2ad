// SPDX-License-Identifier: Apache-2.0
#include "heatsink/distributed/statistic_functions.h"

#include <initializer_list>
#include <string>

namespace heatsink::distributed {
namespace {

// clang-format off
constexpr std::string_view kPrelude = R"lua(
local kPartsMax = 16
local kDigit = 4294967296

local function at_least(high, low, than_high, than_low)
  return high > than_high or (high == than_high and low >= than_low)
end

-- The sum and the extremes of `part` into those of `all`.
local function merge_head(all, part)
  for i = 1, 4 do all[i] = all[i] + part[i] end
  for i = 1, 3 do
    local carry = math.floor(all[i] / kDigit)
    all[i], all[i + 1] = all[i] - carry * kDigit, all[i + 1] + carry
  end
  if at_least(all[5], all[6], part[5], part[6]) then all[5], all[6] = part[5], part[6] end
  if at_least(part[7], part[8], all[7], all[8]) then all[7], all[8] = part[7], part[8] end
end

-- A slot with one part, which has what its parts have. Lua's numbers are exact up to 2^53.
local function merged(slot)
  local parts = {cmsgpack.unpack(slot)}
  local all, counts, first, last = nil, {}, math.huge, -1
  for p = 2, #parts do
    local part, place = parts[p], 0
    for i = 9, #part, 2 do
      place = place + part[i]
      counts[place] = (counts[place] or 0) + part[i + 1]
    end
    first, last = math.min(first, part[9]), math.max(last, place)
    if all then merge_head(all, part) else all = {unpack(part, 1, 8)} end
  end
  local size, before = 8, 0
  for place = first, last do
    local count = counts[place]
    if count then
      all[size + 1], all[size + 2] = place - before, count
      size, before = size + 2, place
    end
  end
  return cmsgpack.pack(parts[1]) .. cmsgpack.pack(all)
end

local function now_ms()
  local time = clock()
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

local function field_of(slot, slots) return string.format('%d', slot % slots) end
)lua";

constexpr std::string_view kAdd = R"lua(
local key, writer = KEYS[1], 'w' .. ARGV[1]
local sequence, slot_ms, slots = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local now = math.floor(now_ms() / slot_ms)
local held = redis.call('HMGET', key, 'head', writer)
local latest, parts = nil, 0
if held[1] then
  local kept_ms, kept_slots
  kept_ms, kept_slots, latest, parts = cmsgpack.unpack(held[1])
  if kept_ms ~= slot_ms or kept_slots ~= slots then
    return redis.error_reply(string.format(
      'HEATSINK other processes keep this statistic for %d ms, not for %d ms: '
      .. 'set the same statistics.length in all of them',
      kept_ms * kept_slots, slot_ms * slots))
  end
  if latest > now + slots then
    for place = 0, slots - 1 do redis.call('HDEL', key, string.format('%d', place)) end
    latest = nil
  elseif latest > now then
    now = latest
  end
end
if held[2] and sequence <= cmsgpack.unpack(held[2]) then return {0, now} end

local field = field_of(now, slots)
local slot
if latest == now then
  slot = redis.call('HGET', key, field) .. ARGV[5]
  parts = parts + 1
else
  if latest and parts > 1 then
    local over = field_of(latest, slots)
    redis.call('HSET', key, over, merged(redis.call('HGET', key, over)))
  end
  if latest and math.floor(latest / slots) ~= math.floor(now / slots) then
    for _, other in ipairs(redis.call('HKEYS', key)) do
      if other:sub(1, 1) == 'w' then
        local _, seen = cmsgpack.unpack(redis.call('HGET', key, other))
        if seen < now - slots then redis.call('HDEL', key, other) end
      end
    end
  end
  slot = cmsgpack.pack(now) .. ARGV[5]
  parts = 1
end
if parts >= kPartsMax then slot, parts = merged(slot), 1 end
redis.call('HSET', key, 'head', cmsgpack.pack(slot_ms, slots, now, parts), field, slot,
           writer, cmsgpack.pack(sequence, now))
if latest ~= now then redis.call('PEXPIRE', key, (slots + 1) * slot_ms) end
return {1, now}
)lua";

constexpr std::string_view kRead = R"lua(
local key = KEYS[1]
local time = now_ms()
local head = redis.call('HGET', key, 'head')
if not head then return {time} end
local slot_ms, slots, latest = cmsgpack.unpack(head)
local now = math.floor(time / slot_ms)
if latest > now and latest <= now + slots then now = latest end
local wanted = math.min(math.max(math.ceil(ARGV[1] / slot_ms), 1), slots)
local reply, fields = {time, slot_ms, slots, now, wanted}, {}
for slot = now - wanted + 1, now do fields[#fields + 1] = field_of(slot, slots) end
for _, bytes in ipairs(redis.call('HMGET', key, unpack(fields))) do
  if bytes then reply[#reply + 1] = bytes end
end
return reply
)lua";

constexpr std::string_view kList = R"lua(
return redis.call('SCAN', ARGV[1], 'MATCH', ARGV[2], 'COUNT', 1000)
)lua";
// clang-format on

}  // namespace

std::unique_ptr<FunctionLibrary> statistic_functions_by(std::string_view clock) {
  const std::string prelude =
      "local function clock() return " + std::string(clock) + " end\n" + std::string(kPrelude);
  using Sources = std::initializer_list<FunctionLibrary::Source>;
  const Sources all = {{"add", kAdd}, {"read", kRead, false}, {"list", kList, false}};
  return std::make_unique<FunctionLibrary>("heatsink_stats", prelude, all);
}

const FunctionLibrary& statistic_functions() {
  static const FunctionLibrary* const library =
      statistic_functions_by("redis.call('TIME')").release();
  return *library;
}

}  // namespace heatsink::distributed
