// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/model_generator.h"

#include <algorithm>
#include <utility>

namespace heatsink::simulation {
namespace {

constexpr std::array kPlayedKeys = {"a", "b", "c", "d", "l"};
constexpr std::array kPlayedFields = {"f", "g", "n"};
constexpr std::array kPlayedHashes = {"h", "h", "i", "a"};
constexpr std::size_t kTogetherMax = 5;

ModelRequest plus(ModelRequest left, const std::vector<std::string>& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

}  // namespace

std::vector<ModelStep> ModelGenerator::steps(std::size_t count) {
  std::vector<ModelStep> out;
  for (std::size_t i = 0; i < ModelStep::kClients; ++i) {
    if (i > 0) out.push_back({i, {{"HELLO", "3"}}, {}});
    if (i > 1) out.push_back({i, {{"CLIENT", "TRACKING", "ON"}}, {}});
  }
  while (out.size() < count) out.push_back(step());
  if (of_ == Of::kHashes) {
    for (ModelStep& each : out)
      if (each.then == ModelStep::Then::kExpireCycle) each.then = ModelStep::Then::kSleep;
  }
  for (std::size_t client = 0; client < ModelStep::kClients; ++client)
    out.push_back({client, {{"RESET"}}, {}});
  for (const char* db : {"0", "1", "2"}) {
    out.push_back({0, {{"SELECT", db}, {"DBSIZE"}}, {}});
    for (const char* key : kPlayedKeys)
      out.push_back(
          {0, {{"TYPE", key}, {"PTTL", key}, {"GET", key}, {"LRANGE", key, "0", "-1"}}, {}});
    for (const char* key : kPlayedHashes)
      out.push_back({0, {{"TYPE", key}, {"PTTL", key}, {"HLEN", key}, {"HGETALL", key}}, {}});
  }
  return out;
}

ModelStep ModelGenerator::step() {
  ModelStep out;
  out.client = dice_.below(ModelStep::kClients);
  Client& client = clients_[out.client];
  const std::size_t count = dice_.chance(0.5) ? 1 : 1 + dice_.below(kTogetherMax);
  while (out.requests.size() < count) {
    drew_short_ = false;
    const bool was_in_multi = client.in_multi;
    out.requests.push_back(request(client));
    client.queued_short |= drew_short_ && client.in_multi;
    const bool begins = was_in_multi && !client.in_multi && client.queued_short;
    // Also while it waits for EXEC: without its MULTI the step must still be no race.
    if (begins || drew_short_) {
      client.queued_short &= client.in_multi;
      out.then = dice_.chance(0.3) ? ModelStep::Then::kExpireCycle : ModelStep::Then::kSleep;
      return out;
    }
    if (out.requests.back()[0] == "QUIT") break;
  }
  if (dice_.chance(0.01)) out.then = ModelStep::Then::kExpireCycle;
  return out;
}

ModelRequest ModelGenerator::request(Client& client) {
  if (of_ == Of::kHashes && dice_.chance(0.7)) return of_hash();
  const std::uint64_t dice = dice_.below(100);
  if (dice < 32) return read();
  if (dice < 60) return write();
  if (dice < 70) return expiry();
  if (dice < 75) return move_or_flush();
  if (dice < 86) return transaction(client);
  if (dice < 93) return of_client(client);
  if (dice < 96) return script();
  return wrong();
}

ModelRequest ModelGenerator::of_hash() { return dice_.chance(0.5) ? read_hash() : write_hash(); }

ModelRequest ModelGenerator::read_hash() {
  switch (dice_.below(9)) {
    case 0:
      return plus({"HMGET", key()}, {"f", "g"});
    case 1:
      return {one_of(std::array{"HEXISTS", "HSTRLEN"}), key(), one_of(kPlayedFields)};
    case 2:
      return plus({"HPTTL", key()}, fields());
    case 3:
    case 4:
      return {one_of(std::array{"HGETALL", "HKEYS", "HVALS"}), key()};
    case 5:
    case 6:
      return {"HLEN", key()};
    default:
      return {"HGET", key(), one_of(kPlayedFields)};
  }
}

ModelRequest ModelGenerator::write_hash() {
  const std::string condition = one_of(std::array{"", "", "", "NX", "XX", "GT", "LT"});
  switch (dice_.below(11)) {
    case 0:
      return {"HDEL", key(), one_of(kPlayedFields)};
    case 1:
      return plus({"HGETDEL", key()}, fields());
    case 2:
      return plus({"HPERSIST", key()}, fields());
    case 3:
      return plus({"HPEXPIREAT", key(), "1"}, fields());
    case 4:
      return plus(plus({"HGETEX", key()}, time_option("PERSIST", true)), fields());
    case 5:
    case 6:
      return plus(plus({"HSETEX", key()}, time_option("KEEPTTL", true)), fields(true));
    case 7:
    case 8:
      return plus(plus({"HPEXPIRE", key(), ms()},
                       condition.empty() ? ModelRequest() : ModelRequest{condition}),
                  fields());
    case 9:
      return {"HSET", key(), "f", value(), "g", value()};
    default:
      return {"HSET", key(), one_of(kPlayedFields), value()};
  }
}

std::vector<std::string> ModelGenerator::fields(bool with_values) {
  std::vector<std::string> names =
      dice_.chance(0.3) ? std::vector<std::string>{"g", "f"} : std::vector{one_of(kPlayedFields)};
  std::vector<std::string> out = {"FIELDS", std::to_string(names.size())};
  for (std::string& name : names) {
    out.push_back(std::move(name));
    if (with_values) out.push_back(value());
  }
  return out;
}

ModelRequest ModelGenerator::read() {
  switch (dice_.below(14)) {
    case 0:
      return {"MGET", key(), key()};
    case 1:
      return {"STRLEN", key()};
    case 2:
      return {one_of(std::array{"GETRANGE", "SUBSTR"}), key(), number(), number()};
    case 3:
      return {"EXISTS", key(), key()};
    case 4:
      return {one_of(std::array{"LCS", "TOUCH"}), key(), key()};
    case 5:
      return {"PTTL", key()};
    case 6:
      return {"TTL", key()};
    case 7:
      return {"TYPE", key()};
    case 8:
      return {"LRANGE", key(), number(), number()};
    case 9:
      return {"LLEN", key()};
    case 10:
      return {"DBSIZE"};
    default:
      return {"GET", key()};
  }
}

ModelRequest ModelGenerator::write() {
  switch (dice_.below(12)) {
    case 0:
      return {one_of(std::array{"DEL", "UNLINK"}), key(), key()};
    case 1:
      return {"DEL", key()};
    case 2:
      return {one_of(std::array{"INCR", "DECR"}), key()};
    case 3:
      return {one_of(std::array{"INCRBY", "DECRBY"}), key(), number()};
    case 4:
      return {one_of(std::array{"RPUSH", "LPUSH"}), "l", value()};
    case 5:
      return {one_of(std::array{"RPOP", "LPOP"}), key()};
    case 6:
      return {"APPEND", key(), value()};
    case 7:
      return {"SETRANGE", key(), number(), value()};
    default:
      return write_string();
  }
}

std::vector<std::string> ModelGenerator::time_option(const std::string& without_end,
                                                     bool of_field) {
  switch (dice_.below(of_field ? 6 : 8)) {
    case 0:
      return {"EX", seconds()};
    case 1:
    case 2:
      return {"PX", ms()};
    case 3:
      return {"PXAT", of_field ? "1" : one_of(std::array{"1", "9000000000000", "-1"})};
    case 4:
      return {without_end};
    default:
      return {};
  }
}

ModelRequest ModelGenerator::write_string() {
  switch (dice_.below(12)) {
    case 0:
      return {"SETNX", key(), value()};
    case 1:
      return {"SETEX", key(), seconds(), value()};
    case 2:
      return {"PSETEX", key(), ms(), value()};
    case 3:
      return {"GETSET", key(), value()};
    case 4:
      return {"GETDEL", key()};
    case 5:
      return plus({"GETEX", key()}, time_option("PERSIST"));
    case 6:
      return {one_of(std::array{"MSET", "MSETNX"}), key(), value(), key(), value()};
    case 7:
      return plus({"SET", key(), value(), one_of(std::array{"NX", "XX", "GET"})},
                  time_option("KEEPTTL"));
    case 8:
      return plus({"SET", key(), value(), "GET", one_of(std::array{"NX", "XX"})},
                  time_option("KEEPTTL"));
    default:
      return plus({"SET", key(), value()}, time_option("KEEPTTL"));
  }
}

ModelRequest ModelGenerator::move_or_flush() {
  switch (dice_.below(9)) {
    case 0:
      return {one_of(std::array{"FLUSHALL", "FLUSHDB"})};
    case 1:
      return {one_of(std::array{"FLUSHALL", "FLUSHDB"}), one_of(std::array{"SYNC", "ASYNC", "x"})};
    case 2:
      return {"SWAPDB", database(), database()};
    case 3:
      return {"MOVE", key(), database()};
    case 4:
      return {"COPY", key(), key(), "DB", database()};
    case 5:
      return {"COPY", key(), key(), "REPLACE"};
    case 6:
      return {"SELECT", database()};
    default:
      return {one_of(std::array{"RENAME", "RENAMENX"}), key(), key()};
  }
}

ModelRequest ModelGenerator::expiry() {
  const std::string condition = one_of(std::array{"", "", "", "NX", "XX", "GT", "LT", "x"});
  switch (dice_.below(6)) {
    case 0:
      return {"PERSIST", key()};
    case 1:
      return {"EXPIRE", key(), one_of(std::array{"0", "-1", "9223372036854775807"})};
    case 2:
      return {one_of(std::array{"PEXPIREAT", "EXPIREAT"}), key(), one_of(std::array{"1", "x"})};
    case 3:
      return plus({"EXPIRE", key(), seconds()},
                  condition.empty() ? ModelRequest() : ModelRequest{condition});
    default:
      return plus({"PEXPIRE", key(), ms()},
                  condition.empty() ? ModelRequest() : ModelRequest{condition});
  }
}

ModelRequest ModelGenerator::of_client(Client& client) {
  switch (dice_.below(20)) {
    case 0:
      return {"HELLO", one_of(std::array{"2", "3", "3", "3"})};
    case 1:
      client = {};
      return {"RESET"};
    case 2:
      return {"CLIENT", "SETNAME", one_of(std::array{"x", "y", "", "a b"})};
    case 3:
      return {"CLIENT", one_of(std::array{"GETNAME", "ID", "LIST", "INFO", "GETREDIR"})};
    case 4:
      if (client.in_multi) return {"PING"};
      client.perhaps_silent = true;
      return {"CLIENT", "REPLY", one_of(std::array{"ON", "SKIP", "OFF", "ON", "x"})};
    case 5:
      if (client.in_multi) return {"PING"};
      if (dice_.chance(0.3)) {
        const std::uint64_t whom = dice_.below(ModelStep::kClients);
        clients_[whom] = {};
        return {"CLIENT", "KILL", "ID", "@" + std::to_string(whom)};
      }
      return {"CLIENT", "KILL", "ID", "99999999"};
    case 6:
      if (client.perhaps_silent || !dice_.chance(0.2)) return {"ECHO", value()};
      client = {};
      return {"QUIT"};
    case 7:
      return {"CLIENT", "SETINFO", one_of(std::array{"LIB-NAME", "LIB-VER", "x"}), "1.0"};
    case 8:
      return {"CLIENT", one_of(std::array{"NO-EVICT", "NO-TOUCH"}), one_of(std::array{"on", "x"})};
    case 9:
      return {"INFO", one_of(std::array{"memory", "replication"})};
    case 10:
      return {"CLIENT", "TRACKING", "OFF"};
    case 11:
      return {"CLIENT", "TRACKING", "ON", one_of(std::array{"NOLOOP", "OPTIN", "OPTOUT", "x"})};
    case 12:
    case 13:
      return {"CLIENT", "CACHING", one_of(std::array{"YES", "YES", "NO", "x"})};
    case 14:
      return {"ACL", one_of(std::array{"GETUSER", "DRYRUN"}), one_of(std::array{"default", "x"}),
              "get", "a"};
    case 15:
      return {"AUTH", "default", "x"};
    default:
      return {"CLIENT", "TRACKING", "ON"};
  }
}

ModelRequest ModelGenerator::transaction(Client& client) {
  switch (dice_.below(8)) {
    case 0:
    case 1:
      return {"WATCH", key()};
    case 2:
      return {"WATCH", key(), key()};
    case 3:
      return {"UNWATCH"};
    case 4:
      if (!client.in_multi) return {"GET", key()};
      client.in_multi = false;
      return {"DISCARD"};
    default:
      if (!client.in_multi) {
        client.in_multi = true;
        return {"MULTI"};
      }
      client.in_multi = false;
      return {"EXEC"};
  }
}

ModelRequest ModelGenerator::script() {
  switch (dice_.below(4)) {
    case 0:
      return {"EVAL", "return redis.call('strlen', KEYS[1])", "1", one_of(std::array{"e", "f"})};
    case 1:
      return {"EVAL", "return redis.call('exists', ARGV[1])", "0", key()};
    case 2:
      return {"EVAL", "return redis.call('set', KEYS[1], ARGV[1])", "1", key(), value()};
    default:
      return {"EVAL", "return redis.call('set', ARGV[1], ARGV[2])", "0", key(), value()};
  }
}

ModelRequest ModelGenerator::wrong() {
  switch (dice_.below(16)) {
    case 0:
      return {"GET"};
    case 1:
      return {"GET", "a", "b"};
    case 2:
      return {"NOSUCH", "a", "b c"};
    case 3:
      return {"CLIENT", "NOSUCH"};
    case 4:
      return {"CLIENT"};
    case 5:
      return {"SET", key(), value(), one_of(std::array{"x", "EX", "NX"}), "XX"};
    case 6:
      return {"SET", key(), value(), "PX", one_of(std::array{"0", "-1", "x", "1x"})};
    case 7:
      return {"SELECT", one_of(std::array{"99", "-1", "x"})};
    case 8:
      return {"SWAPDB", one_of(std::array{"99", "x", "0"}), one_of(std::array{"99", "x"})};
    case 9:
      return {"HELLO", one_of(std::array{"4", "x"})};
    case 10:
      return {"HELLO", "3", one_of(std::array{"SETNAME", "x"})};
    case 11:
      return {"PEXPIRE", key(), "1000000", "NX", one_of(std::array{"XX", "GT"})};
    case 12:
      return {"MSET", key(), value(), key()};
    case 13:
      return {"MOVE", key(), one_of(std::array{"99", "x"})};
    case 14:
      return {"EVAL", "return redis.call('get', KEYS[1])", one_of(std::array{"x", "-1", "9"})};
    default:
      return {"client", "setname"};
  }
}

std::string ModelGenerator::key() {
  return of_ == Of::kHashes ? one_of(kPlayedHashes) : one_of(kPlayedKeys);
}

std::string ModelGenerator::value() {
  return one_of(std::array{"1", "7", "-3", "abc", "", "abcabd", "9223372036854775807", "007"});
}

std::string ModelGenerator::number() {
  return one_of(std::array{"0", "1", "2", "-1", "-2", "5", "-9", "9", "x", "-9223372036854775808"});
}

std::string ModelGenerator::ms() {
  if (dice_.chance(0.5)) {
    drew_short_ = true;
    return std::to_string(ModelStep::kShortMs);
  }
  return seconds() + "000";
}

std::string ModelGenerator::seconds() {
  return std::to_string(std::uint64_t{2} * ModelPlay::kToleranceSeconds * (1 + ++ttls_));
}

}  // namespace heatsink::simulation
