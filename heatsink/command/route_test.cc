// SPDX-License-Identifier: Apache-2.0
#include "heatsink/command/route.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

#include "heatsink/copies/local_reads.h"

namespace heatsink::proxy {
namespace {

using resp::Command;
using resp::CommandTable;

const Command& named(const char* name) {
  const Command* found = CommandTable::built_in().find_name(name);
  EXPECT_NE(found, nullptr) << name;
  return *found;
}

// Scripts may not run commands that depend on the connection, block, or report on the server. Such
// a command may use a shared connection only if it is listed here, with the reason.
const std::set<std::string> kHarmlessAlthoughNotForScripts = {
    // Scripts keep no state on their connection, and a SELECT within a script ends with it.
    "function|list",
    "function|flush",
    "function|restore",
    "function|delete",
    "function|dump",
    "function|load",
    "script|flush",
    "script|exists",
    "script|load",
    "role",
    "acl|cat",
    "acl|genpass",
    // All clients of a shared connection have the same user.
    "acl|whoami",
    // These do not turn the connection into a subscriber.
    "publish",
    "spublish",
    "pubsub|channels",
    "pubsub|numsub",
    "pubsub|numpat",
    "pubsub|shardchannels",
    "pubsub|shardnumsub",
};

TEST(Route, NothingWithConnectionStateSharesAConnection) {
  for (const Command& command : CommandTable::built_in().commands()) {
    const bool suspicious = command.has(resp::kNoScript | resp::kNoAuth | resp::kBlocking |
                                        resp::kAdmin | resp::kPubSub | resp::kModule);
    const bool shares = route_of(command) == Route::kShared;
    if (!suspicious || !shares) continue;
    EXPECT_TRUE(kHarmlessAlthoughNotForScripts.contains(command.name)) << command.name;
  }
}

TEST(Route, ASubcommandOfClientThatIsNewIsTakenToBeAboutTheConnection) {
  Command newer;
  newer.name = "client|maint_notifications";
  EXPECT_EQ(route_of(newer), Route::kPinned);
}

// A command as a server of tomorrow may announce it.
Command announced(const std::string& flags, int first_key) {
  const std::string name = "tomorrow";
  const std::string key = std::to_string(first_key);
  const std::string wire = "*1\r\n*10\r\n$8\r\n" + name + "\r\n:-2\r\n" + flags + ":" + key +
                           "\r\n:" + key + "\r\n:" + key + "\r\n*0\r\n*0\r\n*0\r\n*0\r\n";
  resp::Value reply;
  std::size_t used = 0;
  EXPECT_EQ(resp::parse_value(wire, reply, used), resp::ValueStatus::kValue);
  const Result<CommandTable> table = CommandTable::from_reply(reply);
  EXPECT_TRUE(table.ok());
  return *table->find_name(name);
}

struct FlagRow {
  const char* flag;
  Route keyless;     // of a command with this flag only
  Route with_a_key;  // ... that names a key
};

// All flags of COMMAND, and some that do not exist yet.
constexpr FlagRow kFlagRows[] = {
    {"write", Route::kPinned, Route::kShared},
    {"readonly", Route::kShared, Route::kShared},
    {"denyoom", Route::kPinned, Route::kShared},
    {"admin", Route::kPinned, Route::kPinned},
    {"pubsub", Route::kPinned, Route::kPinned},
    {"noscript", Route::kPinned, Route::kPinned},
    {"blocking", Route::kPinned, Route::kBlocking},
    {"loading", Route::kPinned, Route::kShared},
    {"stale", Route::kPinned, Route::kShared},
    {"skip_monitor", Route::kPinned, Route::kShared},
    {"asking", Route::kPinned, Route::kShared},
    {"fast", Route::kPinned, Route::kShared},
    {"no_auth", Route::kPinned, Route::kPinned},
    {"may_replicate", Route::kPinned, Route::kShared},
    {"movablekeys", Route::kShared, Route::kShared},
    {"allow_busy", Route::kPinned, Route::kPinned},
    {"no_async_loading", Route::kPinned, Route::kShared},
    {"no_multi", Route::kPinned, Route::kPinned},
    {"skip_slowlog", Route::kPinned, Route::kShared},
    {"no_mandatory_keys", Route::kPinned, Route::kPinned},
    {"module", Route::kPinned, Route::kPrivate},
    {"nondeterministic_output", Route::kPinned, Route::kShared},
    {"a_flag_of_tomorrow", Route::kPinned, Route::kShared},
};

TEST(Route, ACommandNewerThanTheReviewSharesOnlyIfItNamesKeysOrReads) {
  EXPECT_EQ(route_of(announced("*0\r\n", 0)), Route::kPinned);
  EXPECT_EQ(route_of(announced("*0\r\n", 1)), Route::kShared);
  std::uint32_t walked = 0;
  for (const FlagRow& row : kFlagRows) {
    const std::string flags = "*1\r\n+" + std::string(row.flag) + "\r\n";
    EXPECT_EQ(route_of(announced(flags, 0)), row.keyless) << row.flag;
    EXPECT_EQ(route_of(announced(flags, 1)), row.with_a_key) << row.flag;
    walked |= resp::command_flag(row.flag);
  }
  EXPECT_EQ(walked, resp::kNondeterministicOutput * 2 - 1);  // each flag has a row
}

// A read that asks for more than to read is pinned, too.
TEST(Route, ACommandNewerThanTheReviewThatReadsMayStillConcernTheConnection) {
  for (const char* flag :
       {"admin", "pubsub", "noscript", "no_auth", "allow_busy", "no_multi", "no_mandatory_keys"}) {
    const std::string flags = "*2\r\n+readonly\r\n+" + std::string(flag) + "\r\n";
    EXPECT_EQ(route_of(announced(flags, 0)), Route::kPinned) << flag;
  }
  EXPECT_EQ(route_of(announced("*2\r\n+readonly\r\n+module\r\n", 0)), Route::kPrivate);
}

// Redis 8.10: HIMPORT SET names a key, and writes fields that the connection remembers.
TEST(Route, TheFieldsOfHimportStayOnOneConnection) {
  Command container;
  container.name = "himport";
  container.is_container = true;
  EXPECT_EQ(route_of(container), Route::kPinned);
  for (const char* name : {"prepare", "set", "discard", "discardall", "of-tomorrow"}) {
    Command command;
    command.name = "himport|" + std::string(name);
    command.flags = resp::kWrite | resp::kDenyOom;
    command.first_key = 2;
    EXPECT_EQ(route_of(command), Route::kPinned) << name;
  }
}

// The built-in table does not have the subcommands of a newer server.
TEST(Route, ASubcommandThatTheTableDoesNotHaveIsPinned) {
  for (const char* name : {"client", "cluster", "xgroup", "config", "script"})
    EXPECT_EQ(route_of(named(name)), Route::kPinned) << name;
  EXPECT_EQ(route_of(named("command")), Route::kPrivate);
}

TEST(Route, NewerCommandsWithoutKeysThatWereReviewed) {
  const auto route = [](const char* name, std::uint32_t flags) {
    Command command;
    command.name = name;
    command.flags = flags;
    return route_of(command);
  };
  EXPECT_EQ(route("cluster|migration", resp::kAdmin | resp::kStale), Route::kPrivate);
  EXPECT_EQ(route("hotkeys|start", resp::kAdmin | resp::kNoScript), Route::kPrivate);
  EXPECT_EQ(route("commandlog|get", resp::kAdmin | resp::kLoading), Route::kPrivate);
  EXPECT_EQ(route("script|show", resp::kNoScript), Route::kShared);
  EXPECT_EQ(route("ft.create", resp::kWrite | resp::kModule), Route::kPrivate);
  EXPECT_EQ(route("cluster|syncslots", resp::kAdmin), Route::kPinned);
}

TEST(Route, WhatIsToStopAScriptDoesNotWaitBehindIt) {
  EXPECT_EQ(route_of(named("script|kill")), Route::kNoDb);
  EXPECT_EQ(route_of(named("function|kill")), Route::kNoDb);
  EXPECT_EQ(route_of(named("function|stats")), Route::kNoDb);
}

TEST(Route, WritesThatTheServerIsSilentAbout) {
  EXPECT_TRUE(hides_invalidations(named("swapdb")));
  EXPECT_TRUE(hides_invalidations(named("debug")));
  EXPECT_TRUE(hides_invalidations(named("replicaof")));
  EXPECT_FALSE(hides_invalidations(named("flushall")));
  EXPECT_FALSE(hides_invalidations(named("eval")));
}

TEST(Route, WhoseScriptsTheServerKeeps) {
  EXPECT_TRUE(uses_scripts(named("eval")));
  EXPECT_TRUE(uses_scripts(named("evalsha_ro")));
  EXPECT_TRUE(uses_scripts(named("script|load")));
  EXPECT_FALSE(uses_scripts(named("script|exists")));
  EXPECT_FALSE(uses_scripts(named("fcall")));
}

TEST(Route, RepliesThatSayNothingOfAKey) {
  for (const char* name : {"ping", "echo", "auth", "hello"})
    EXPECT_TRUE(reveals_no_key(named(name))) << name;
  for (const char* name : {"get", "set", "dbsize", "info", "select", "exec", "publish"})
    EXPECT_FALSE(reveals_no_key(named(name))) << name;
}

TEST(Route, OfEachKind) {
  const std::pair<const char*, Route> rows[] = {
      {"get", Route::kShared},          {"set", Route::kShared},
      {"mget", Route::kShared},         {"blpop", Route::kBlocking},
      {"xread", Route::kMaybeBlocking}, {"wait", Route::kWait},
      {"config|get", Route::kPrivate},  {"client|id", Route::kPinned},
      {"client|list", Route::kPrivate}, {"subscribe", Route::kSubscribe},
      {"monitor", Route::kRaw},         {"select", Route::kSelect},
      {"eval", Route::kPrivate},        {"script|debug", Route::kDebug},
  };
  for (const auto& [name, route] : rows) EXPECT_EQ(route_of(named(name)), route) << name;
}

TEST(Route, ListsNoCommandThatWouldNotShareAnyway) {
  for (const std::string& name : kHarmlessAlthoughNotForScripts)
    EXPECT_EQ(route_of(named(name.c_str())), Route::kShared) << name;
}

// A read without a copy is routed like any other command, and needs no private connection.
TEST(Route, EachLocalReadMayTravelOnASharedConnection) {
  for (const copies::LocalRead& read : copies::local_reads()) {
    const Command* command = CommandTable::built_in().find_name(read.name);
    ASSERT_NE(command, nullptr) << read.name;
    EXPECT_EQ(route_of(*command), Route::kShared) << read.name;
  }
}

}  // namespace
}  // namespace heatsink::proxy
