// SPDX-License-Identifier: Apache-2.0
#include "heatsink/capture/command_traits.h"

#include <string_view>

namespace heatsink::capture {
namespace {

struct RoleRow {
  std::string_view command;
  CommandRole role;
};

constexpr RoleRow kRoles[] = {
    {"select", CommandRole::kSelect},
    {"hello", CommandRole::kHello},
    {"reset", CommandRole::kReset},
    {"subscribe", CommandRole::kSubscribe},
    {"psubscribe", CommandRole::kSubscribe},
    {"ssubscribe", CommandRole::kSubscribe},
    {"unsubscribe", CommandRole::kSubscribe},
    {"punsubscribe", CommandRole::kSubscribe},
    {"sunsubscribe", CommandRole::kSubscribe},
    {"monitor", CommandRole::kStream},
    {"sync", CommandRole::kStream},
    {"psync", CommandRole::kStream},
    {"client|reply", CommandRole::kStream},
};

struct ShapeRow {
  std::string_view command;
  std::string_view types;
};

// The reply types of the most common commands in RESP2 and RESP3, from the documentation of Redis
// 7.0. They suffice to notice that replies have shifted against requests.
constexpr ShapeRow kShapes[] = {
    {"get", "$_"},      {"set", "+$_"},    {"setex", "+"},     {"psetex", "+"},   {"mset", "+"},
    {"mget", "*"},      {"hget", "$_"},    {"hmget", "*"},     {"hgetall", "*%"}, {"hset", ":"},
    {"hdel", ":"},      {"del", ":"},      {"unlink", ":"},    {"exists", ":"},   {"expire", ":"},
    {"pexpire", ":"},   {"ttl", ":"},      {"pttl", ":"},      {"incr", ":"},     {"incrby", ":"},
    {"decr", ":"},      {"decrby", ":"},   {"setnx", ":"},     {"getset", "$_"},  {"strlen", ":"},
    {"lpush", ":"},     {"rpush", ":"},    {"llen", ":"},      {"lrange", "*"},   {"sadd", ":"},
    {"srem", ":"},      {"scard", ":"},    {"sismember", ":"}, {"zadd", ":,$_"},  {"zrem", ":"},
    {"zcard", ":"},     {"zrange", "*"},   {"publish", ":"},   {"exec", "*_"},    {"multi", "+"},
    {"discard", "+"},   {"watch", "+"},    {"select", "+"},    {"auth", "+"},     {"scan", "*"},
    {"smembers", "*~"}, {"zscore", "$,_"}, {"getrange", "$"},
};

}  // namespace

std::uint16_t shape_bit(char type) {
  constexpr std::string_view kTypes = "$:*_%~,#+";
  const std::size_t at = kTypes.find(type);
  return at == std::string_view::npos ? 0 : static_cast<std::uint16_t>(1U << at);
}

CommandTraitsOf::CommandTraitsOf(const resp::CommandTable& table)
    : commands_(table.commands()), traits_(commands_.size()) {
  const auto traits_of = [&](std::string_view name) -> CommandTraits* {
    const resp::Command* command = table.find_name(name);
    return command == nullptr ? nullptr
                              : &traits_[static_cast<std::size_t>(command - &commands_[0])];
  };
  for (std::size_t i = 0; i < commands_.size(); ++i)
    traits_[i].is_blocking = commands_[i].has(resp::kBlocking);
  for (const RoleRow& row : kRoles) {
    if (CommandTraits* traits = traits_of(row.command)) traits->role = row.role;
  }
  for (const ShapeRow& row : kShapes) {
    CommandTraits* traits = traits_of(row.command);
    if (traits == nullptr) continue;
    for (const char type : row.types)
      traits->shape = static_cast<std::uint16_t>(traits->shape | shape_bit(type));
  }
}

}  // namespace heatsink::capture
