// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/fan_out.h"

#include <algorithm>
#include <array>

namespace heatsink::proxy {
namespace {

constexpr std::array<FanOutRow, 23> kFanOutRows{{
    {"mget", FanOut::kByKey, Join::kPositions},
    {"exists", FanOut::kByKey, Join::kSum},
    {"touch", FanOut::kByKey, Join::kSum},
    {"del", FanOut::kByKey, Join::kSum},
    {"unlink", FanOut::kByKey, Join::kSum},
    {"mset", FanOut::kByPair, Join::kOk},
    {"dbsize", FanOut::kMasters, Join::kSum},
    {"keys", FanOut::kMasters, Join::kConcat},
    {"flushall", FanOut::kMasters, Join::kOk},
    {"flushdb", FanOut::kMasters, Join::kOk},
    {"randomkey", FanOut::kMasters, Join::kRandomOne},
    {"script|load", FanOut::kMasters, Join::kOk},
    {"script|flush", FanOut::kMasters, Join::kOk},
    {"script|exists", FanOut::kMasters, Join::kAll},
    {"script|kill", FanOut::kMasters, Join::kAnyOk},
    {"function|load", FanOut::kMasters, Join::kOk},
    {"function|delete", FanOut::kMasters, Join::kOk},
    {"function|flush", FanOut::kMasters, Join::kOk},
    {"function|restore", FanOut::kMasters, Join::kOk},
    {"function|kill", FanOut::kMasters, Join::kAnyOk},
    {"scan", FanOut::kCursor, Join::kOk},
    {"pubsub|shardchannels", FanOut::kMasters, Join::kConcat},
    {"config|resetstat", FanOut::kMasters, Join::kOk},
}};

}  // namespace

const FanOutRow* fan_out_of(std::string_view command) {
  const auto* const found = std::find_if(kFanOutRows.begin(), kFanOutRows.end(),
                                         [&](const FanOutRow& row) { return row.name == command; });
  return found == kFanOutRows.end() ? nullptr : found;
}

}  // namespace heatsink::proxy
