// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/route.h"

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
      {"eval", Route::kEval},           {"script|debug", Route::kDebug},
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
