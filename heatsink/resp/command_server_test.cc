// SPDX-License-Identifier: Apache-2.0
// The built-in table and the key finder against a real redis-server 7.0.15: a command is data, and
// the data is compared with its source.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "heatsink/resp/command_table.h"
#include "heatsink/resp/folded_name.h"
#include "heatsink/resp/redis_for_test.h"
#include "heatsink/resp/testing/redis_connection.h"

namespace heatsink::resp {
namespace {

using Call = std::vector<std::string>;
using NamedKeys = std::vector<std::pair<std::string, bool>>;  // key, write; sorted

// One reply per request, all on one fresh connection.
std::vector<Value> ask(const std::vector<Call>& requests) {
  return testing::RedisConnection(redis().socket_path()).ask(requests);
}

std::string server_version() {
  constexpr std::string_view kField = "redis_version:";
  const std::string info = ask({{"INFO", "server"}}).front().text;
  const std::size_t at = info.find(kField) + kField.size();
  return info.substr(at, info.find('\r', at) - at);
}

class AgainstServer : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!redis().running()) GTEST_SKIP() << "no redis-server in PATH";
    if (server_version() != "7.0.15")
      GTEST_SKIP() << "redis-server is " << server_version() << ", not 7.0.15";
  }
};

std::string shown(const KeySpec& spec) {
  std::string out = spec.keyword;
  for (const int field :
       {static_cast<int>(spec.begin), spec.index, static_cast<int>(spec.find), spec.last_key,
        spec.key_step, spec.limit, spec.keynum_index, spec.first_key, spec.keynum_step,
        int{spec.reads}, int{spec.writes}, int{spec.not_key}, int{spec.incomplete}}) {
    out += " " + std::to_string(field);
  }
  return out;
}

std::string shown(const Command& command) {
  std::string out = command.name;
  for (const std::int64_t field : std::initializer_list<std::int64_t>{
           command.arity, command.flags, command.first_key, command.last_key, command.key_step,
           command.is_container, static_cast<int>(command.key_positions)}) {
    out += " " + std::to_string(field);
  }
  for (const KeySpec& spec : command.key_specs) out += " [" + shown(spec) + "]";
  return out;
}

std::vector<std::string> shown(const CommandTable& table) {
  std::vector<std::string> out;
  for (const Command& command : table.commands()) out.push_back(shown(command));
  std::sort(out.begin(), out.end());
  return out;
}

TEST_F(AgainstServer, BuiltInTableIsTheServers) {
  const Result<CommandTable> table = CommandTable::from_reply(ask({{"COMMAND"}}).front());
  ASSERT_TRUE(table.ok()) << table.error().message;
  EXPECT_EQ(shown(CommandTable::built_in()), shown(*table)) << "run spec/commands/generate.py";
}

TEST_F(AgainstServer, TheTableIsTheSameByResp3) {
  const Result<CommandTable> table =
      CommandTable::from_reply(ask({{"HELLO", "3"}, {"COMMAND"}}).back());
  ASSERT_TRUE(table.ok()) << table.error().message;
  EXPECT_EQ(shown(CommandTable::built_in()), shown(*table));
}

// The documented differences: the server says "read" of XREADGROUP's keys, which changes their
// groups, ...
bool counts_as_read_there(const Command& command) { return command.name == "xreadgroup"; }

// ... takes SORT's destination for an option if it is called like one, ...
bool is_sort_misread_there(const Call& call) {
  for (std::size_t i = 0; i + 1 < call.size(); ++i) {
    if (!is_word(call[i], "store")) continue;
    for (const std::string_view option : {"store", "by", "get", "limit"}) {
      if (is_word(call[i + 1], option)) return true;
    }
  }
  return false;
}

// ... and of several STOREs of GEORADIUS names the first, although it obeys the last. (The other
// calls that are left out here, with such a word in the place of the unit or of a destination, are
// none that it would run.)
bool is_geo_misread_there(const Call& call) {
  const auto is_store = [](const std::string& arg) {
    return is_word(arg, "store") || is_word(arg, "storedist");
  };
  const bool unit_is_store = is_word(call[0], "georadius") && is_store(call[5]);
  return unit_is_store || std::count_if(call.begin(), call.end(), is_store) > 1;
}

// ... and takes the first "streams" for XREAD's word, also where it is a group's name or another
// option's argument.
bool are_streams_misread_there(const Call& call) {
  const auto is_streams = [](const std::string& arg) { return is_word(arg, "streams"); };
  const auto at = std::find_if(call.begin(), call.end(), is_streams);
  if (at == call.end()) return false;
  const bool behind_option = std::any_of(
      at - std::min<std::ptrdiff_t>(at - call.begin(), 2), at, [](const std::string& arg) {
        return is_word(arg, "count") || is_word(arg, "block") || is_word(arg, "group");
      });
  const bool too_early = is_word(call[0], "xreadgroup") && at - call.begin() < 4;
  return behind_option || too_early || std::count_if(call.begin(), call.end(), is_streams) > 1;
}

bool misread_there(const Command& command, const Call& call) {
  if (command.key_positions == KeyPositions::kGeoRadius) return is_geo_misread_there(call);
  if (command.key_positions == KeyPositions::kStreams) return are_streams_misread_there(call);
  return command.name == "sort" && is_sort_misread_there(call);
}

struct Found {
  NamedKeys keys;
  Keys certainty;
};

Found found_here(const Command& command, const Call& call) {
  const std::vector<std::string_view> args(call.begin(), call.end());
  std::vector<KeyRef> refs;
  Found found;
  found.certainty = find_keys(command, args, refs);
  for (const KeyRef& ref : refs)
    found.keys.emplace_back(call[ref.arg], ref.write && !counts_as_read_there(command));
  std::sort(found.keys.begin(), found.keys.end());
  return found;
}

// From the reply to COMMAND GETKEYSANDFLAGS: a list of [key, [flag ...]].
NamedKeys found_there(const Value& reply) {
  NamedKeys keys;
  for (const Value& item : reply.items) {
    bool write = false;
    for (const Value& flag : item.items[1].items)
      write |= flag.text == "RW" || flag.text == "OW" || flag.text == "RM";
    keys.emplace_back(item.items[0].text, write);
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

std::string line(const Call& call) {
  std::string out;
  for (const std::string& arg : call) out += arg.empty() ? "'' " : arg + " ";
  return out;
}

// Compares one call; false if it says nothing: the server refuses the arguments, by an error or
// (EVAL with a number of keys that is not there) by no keys, and nothing is promised here either.
bool compare(const Command& command, const Call& call, const Value& reply) {
  const Found here = found_here(command, call);
  const bool has_none =
      reply.is_error() && reply.text.find("no key arguments") != std::string::npos;
  if (reply.is_error() && !has_none) return false;
  const NamedKeys there = found_there(reply);
  if (there.empty() && here.certainty != Keys::kKnown) return has_none;
  EXPECT_EQ(here.keys, there) << line(call);
  return true;
}

constexpr std::string_view kOptionWords[] = {"STORE", "storedist", "KEYS",  "STREAMS", "GROUP",
                                             "BY",    "get",       "LIMIT", "AUTH",    "AUTH2",
                                             "COUNT", "BLOCK",     "SET",   "NOACK",   "INCRBY",
                                             "COPY",  "REPLACE",   "ASC",   "",        "OVERFLOW"};

// One of the arguments a command could have: mostly names that tell where they stood, small
// numbers, option words.
std::string some_arg(std::size_t position, std::mt19937& random) {
  switch (random() % 4) {
    case 0:
      return std::to_string(random() % 4);
    case 1:
      return std::string(kOptionWords[random() % std::size(kOptionWords)]);
    default:
      return "arg" + std::to_string(position);
  }
}

Call some_call(const Command& command, std::mt19937& random) {
  const std::size_t bar = command.name.find('|');
  Call call = {command.name.substr(0, bar)};
  if (bar != std::string::npos) call.push_back(command.name.substr(bar + 1));
  const auto least = static_cast<std::size_t>(std::abs(command.arity));
  const std::size_t size = command.arity > 0 ? least : least + random() % 8;
  while (call.size() < size) call.push_back(some_arg(call.size(), random));
  return call;
}

TEST_F(AgainstServer, KeysOfRandomCallsAreTheServers) {
  constexpr int kRounds = 150, kRoundsOfSpecial = 1500;
  std::mt19937 random(42);
  for (const Command& command : CommandTable::built_in().commands()) {
    if (command.is_container || command.arity == 1)
      continue;  // GETKEYSANDFLAGS wants an argument behind the name
    std::vector<Call> calls, requests;
    const bool special = command.key_positions != KeyPositions::kOneRead &&
                         command.key_positions != KeyPositions::kOneWrite &&
                         !command.key_specs.empty();
    for (int i = 0; i < (special ? kRoundsOfSpecial : kRounds); ++i) {
      Call call = some_call(command, random);
      if (misread_there(command, call)) continue;
      requests.push_back({"COMMAND", "GETKEYSANDFLAGS"});
      requests.back().insert(requests.back().end(), call.begin(), call.end());
      calls.push_back(std::move(call));
    }
    const std::vector<Value> replies = ask(requests);
    int compared = 0;
    for (std::size_t i = 0; i < calls.size(); ++i)
      compared += compare(command, calls[i], replies[i]);
    EXPECT_GE(compared, 10) << command.name << ": nearly every call was refused";
  }
}

// One well-formed call or more of every grammar that has a shape of its own.
TEST_F(AgainstServer, KeysOfWellFormedCallsAreTheServers) {
  const std::vector<Call> calls = {
      {"SORT", "k", "BY", "w_*", "LIMIT", "0", "5", "GET", "#", "GET", "o_*", "ASC", "ALPHA",
       "STORE", "d"},
      {"SORT_RO", "k", "BY", "w_*", "GET", "#"},
      {"MIGRATE", "h", "1", "k", "0", "10", "COPY", "REPLACE", "AUTH", "pw"},
      {"MIGRATE", "h", "1", "", "0", "10", "COPY", "AUTH2", "keys", "keys", "KEYS", "a", "b"},
      {"GEORADIUS", "k", "1", "2", "3", "m", "COUNT", "3", "ANY", "STORE", "d"},
      {"GEORADIUS", "k", "1", "2", "3", "m", "STOREDIST", "d"},
      {"GEORADIUSBYMEMBER", "k", "m", "3", "km", "STORE", "d", "STOREDIST", "e"},
      {"GEOSEARCHSTORE", "d", "k", "FROMMEMBER", "m", "BYBOX", "1", "1", "m"},
      {"EVAL", "s", "2", "a", "b", "x"},
      {"EVALSHA", "s", "1", "a"},
      {"EVAL_RO", "s", "1", "a", "x"},
      {"EVALSHA_RO", "s", "1", "a"},
      {"FCALL", "f", "2", "a", "b"},
      {"FCALL_RO", "f", "1", "a"},
      {"XREAD", "COUNT", "1", "BLOCK", "0", "STREAMS", "a", "b", "0", "$"},
      {"XREADGROUP", "GROUP", "streams", "c", "NOACK", "STREAMS", "a", "b", ">", ">"},
      {"BITFIELD", "k", "GET", "u8", "0"},
      {"BITFIELD", "k", "OVERFLOW", "FAIL", "SET", "u8", "0", "1"},
      {"BITOP", "AND", "d", "a", "b"},
      {"COPY", "a", "b", "DB", "1"},
      {"RENAMENX", "a", "b"},
      {"ZUNIONSTORE", "d", "2", "a", "b", "WEIGHTS", "1", "2"},
      {"ZINTERSTORE", "d", "1", "a"},
      {"ZDIFFSTORE", "d", "2", "a", "b"},
      {"LMPOP", "2", "a", "b", "LEFT"},
      {"BLMPOP", "0", "1", "a", "LEFT"},
      {"ZMPOP", "1", "a", "MIN"},
      {"BZMPOP", "0", "2", "a", "b", "MAX"},
      {"SINTERCARD", "2", "a", "b"},
      {"MEMORY", "USAGE", "k"},
      {"OBJECT", "FREQ", "k"},
      {"PFCOUNT", "a", "b"},
      {"PFMERGE", "d", "a"},
      {"MSETNX", "a", "1", "b", "2"},
      {"BLPOP", "a", "b", "0"},
      {"SMOVE", "a", "b", "m"},
      {"WATCH", "a", "b"},
      {"LMOVE", "a", "b", "LEFT", "LEFT"},
      {"XGROUP", "CREATE", "k", "g", "$"},
      {"SPUBLISH", "c", "m"},
      {"PING", "x"}};
  for (const Call& call : calls) {
    const std::vector<std::string_view> args(call.begin(), call.end());
    const Command* command = CommandTable::built_in().find(args);
    ASSERT_NE(command, nullptr) << line(call);
    Call request = {"COMMAND", "GETKEYSANDFLAGS"};
    request.insert(request.end(), call.begin(), call.end());
    EXPECT_TRUE(compare(*command, call, ask({request}).front())) << line(call);
  }
}

}  // namespace
}  // namespace heatsink::resp
