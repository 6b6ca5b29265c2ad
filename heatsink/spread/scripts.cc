// SPDX-License-Identifier: Apache-2.0
#include "heatsink/spread/scripts.h"

namespace heatsink::spread {

// The time stands still while a script runs, so the end is that of the lease to the millisecond.
const std::string_view kFillScript = R"(
if redis.call('GETRANGE', KEYS[1], 0, 16) ~= ARGV[1] then return 0 end
local left, most = redis.call('PTTL', KEYS[1]), tonumber(ARGV[3])
if most >= 0 and most < left then left = most end
if left < 1 then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', left)
return 1)";

const std::string_view kLayoutScript = R"(
local old = redis.call('GET', KEYS[1]) or ''
if old ~= ARGV[1] then return old end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local made = tonumber(string.match(old, '^hs1 (%d+) ') or 0)
if now >= made and now - made < tonumber(ARGV[3]) then return old end
local new = 'hs1 ' .. string.format('%.0f', now) .. ' ' .. ARGV[2]
redis.call('SET', KEYS[1], new, 'PX', ARGV[4])
return new)";

}  // namespace heatsink::spread
