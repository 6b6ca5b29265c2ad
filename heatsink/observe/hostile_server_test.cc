// SPDX-License-Identifier: Apache-2.0
// Each source against a server that forbids, hangs, breaks off or answers nonsense: its message,
// and that it keeps its earlier rows.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>

#include "heatsink/observe/make_source.h"
#include "heatsink/observe/scripted_server_for_test.h"

namespace heatsink::observe {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using Args = ScriptedServer::Args;

// A server that knows everything, with one key that is always read; but for `command` it answers
// `instead` ("": nothing).
class HostileServer {
 public:
  explicit HostileServer(const std::string& source) {
    SourceOptions options;
    options.server = "here:6379";
    options.latency_max = std::chrono::hours(1);
    source_ = make_source(source, options).value();
    server_ =
        std::make_unique<ScriptedServer>(*source_, [this](std::size_t protocol, const Args& args) {
          if (command.empty()) silent_.clear();
          return silent_.contains(protocol) ? "" : answer(protocol, args);
        });
  }

  Observation after(Nanos duration) {
    server_->run_for(duration);
    return source_->observe(server_->now());
  }
  void cut() {
    for (std::size_t i = 0; i < source_->protocols().size(); ++i) server_->cut(i);
  }

  std::string command, instead;

 private:
  // After a missing or nonsensical answer the server sends nothing more.
  std::string answer(std::size_t protocol, const Args& args) {
    const std::string name = args[0] + (args.size() > 1 ? " " + args[1] : "");
    if (!command.empty() && (args[0] == command || name == command)) {
      if (!instead.starts_with('-')) silent_.insert(protocol);
      return instead;
    }
    const double s = std::chrono::duration<double>(server_->now().time_since_epoch()).count();
    const std::string calls = fmt::format("{:.0f}", 1000 * s);
    if (args[0] == "MONITOR") return "+OK\r\n";
    if (args[0] == "ECHO")
      return line(s, R"("get" "hot")") + line(s, "\"ECHO\" \"" + args[1] + "\"") + bulk(args[1]);
    if (args[0] == "PING") return "+PONG\r\n";
    if (args[0] == "SELECT") return "+OK\r\n";
    if (name == "INFO keyspace") return bulk("db0:keys=2,expires=0\r\n");
    if (args[0] == "INFO")
      return bulk("total_commands_processed:" + calls +
                  "\r\nused_cpu_user:1\r\nused_cpu_sys:1\r\n");
    if (args[0] == "CONFIG")
      return list({bulk(args[2]), bulk(args[2] == "maxmemory-policy" ? "allkeys-lfu" : "1")});
    if (args[0] == "SCAN") return list({bulk("0"), list({bulk("hot"), bulk("cold")})});
    if (name == "OBJECT FREQ") return args[2] == "hot" ? ":200\r\n" : ":5\r\n";
    if (name == "HOTKEYS GET")
      return list(
          {list({bulk("key"), bulk("hot"), bulk("db"), ":0\r\n", bulk("qps"), ":900\r\n"})});
    if (name == "CLUSTER GETKEYSINSLOT") return list({bulk("hot")});
    if (name == "CLUSTER SLOT-STATS")
      return list(
          {list({fmt::format(":{}\r\n", resp::key_slot("hot")),
                 list({bulk("key-count"), ":1\r\n", bulk("cpu-usec"), ":" + calls + "\r\n"})})});
    return "-ERR unknown command\r\n";
  }
  static std::string line(double s, const std::string& arguments) {
    return fmt::format("+{:.6f} [0 10.0.0.1:5] {}\r\n", s, arguments);
  }

  std::set<std::size_t> silent_;  // protocols
  std::unique_ptr<Source> source_;
  std::unique_ptr<ScriptedServer> server_;
};

// How each source behaves without a command. kRunning and kFinished: with its rows.
constexpr const char* kNothing = nullptr;
struct Refusal {
  const char *source, *command;
  SourceState state;
  const char* said;  // in the note; kNothing: there is no note, the command is dispensable
};
constexpr Refusal kRefusals[] = {
    {"monitor", "MONITOR", SourceState::kFailed, "refuses MONITOR"},
    {"monitor", "INFO", SourceState::kRunning, kNothing},
    {"monitor", "PING", SourceState::kRunning, kNothing},
    {"monitor", "ECHO", SourceState::kRunning, kNothing},
    {"lfu", "SCAN", SourceState::kFailed, "refuses SCAN"},
    {"lfu", "OBJECT", SourceState::kFinished, "refuses OBJECT FREQ of some keys"},
    {"lfu", "CONFIG", SourceState::kFinished, kNothing},
    {"lfu", "INFO", SourceState::kFinished, kNothing},
    {"lfu", "SELECT", SourceState::kFinished, kNothing},
    {"slots", "CLUSTER SLOT-STATS", SourceState::kFailed, "refuses CLUSTER SLOT-STATS"},
    {"slots", "MONITOR", SourceState::kRunning, "slots by CPU time"},
    {"hotkeys", "HOTKEYS", SourceState::kFailed, "refuses HOTKEYS"},
    {"hotkeys", "CONFIG", SourceState::kRunning, kNothing},
    {"auto", "HOTKEYS", SourceState::kRunning, "not hotkeys: the server refuses HOTKEYS"},
};

TEST(HostileServer, WhatIsForbiddenIsToldAndTheRestIsDone) {
  for (const Refusal& row : kRefusals) {
    HostileServer server(row.source);
    server.command = row.command;
    server.instead = "-NOPERM this user has no permissions to run it\r\n";
    const Observation seen = server.after(seconds(12));
    const std::string which = std::string(row.source) + " without " + row.command;
    EXPECT_EQ(seen.state, row.state) << which << ": " << seen.note;
    if (row.said == kNothing) {
      EXPECT_EQ(seen.note, "") << which;
    } else {
      EXPECT_THAT(seen.note, HasSubstr(row.said)) << which;
      if (std::string_view(row.said).starts_with("refuses")) {
        EXPECT_THAT(seen.note, HasSubstr("grant it with ACL SETUSER")) << which;
      }
    }
    const bool has_none = row.state == SourceState::kFailed ||
                          row.command == std::string("OBJECT") ||
                          row.command == std::string("ECHO");  // with which this server says it
    EXPECT_EQ(seen.report.keys.empty(), has_none) << which;
  }
}

// The command without which a source has nothing.
struct Need {
  const char *source, *command;
};
constexpr Need kNeeds[] = {{"monitor", "MONITOR"},
                           {"lfu", "SCAN"},
                           {"slots", "CLUSTER SLOT-STATS"},
                           {"hotkeys", "HOTKEYS GET"}};

TEST(HostileServer, IsPlayedToEachSource) {
  for (const std::string& name : source_names()) {
    if (name == "auto" || name == "capture") continue;  // one of the others; asks no server
    EXPECT_TRUE(std::ranges::any_of(kNeeds, [&](const Need& row) { return row.source == name; }))
        << name;
  }
}

TEST(HostileServer, OneThatHangsIsTold) {
  for (const Need& row : kNeeds) {
    HostileServer server(row.source);
    server.command = row.command;
    const Observation seen = server.after(seconds(7));
    EXPECT_THAT(seen.note, HasSubstr("not answer")) << row.source;
    EXPECT_NE(seen.state, SourceState::kFinished) << row.source;
    server.command.clear();  // and gets well again
    const Observation well = server.after(seconds(20));
    EXPECT_FALSE(well.report.keys.empty()) << row.source << ": " << well.note;
  }
}

TEST(HostileServer, OneThatBreaksOffLeavesWhatWasSeen) {
  for (const Need& row : kNeeds) {
    HostileServer server(row.source);
    const std::size_t before = server.after(seconds(12)).report.keys.size();
    EXPECT_GT(before, 0U) << row.source;
    server.cut();
    server.command = row.command;
    EXPECT_GE(server.after(seconds(2)).report.keys.size(), before) << row.source;
  }
}

TEST(HostileServer, NonsenseIsToldAndNothingIsMadeOfIt) {
  const std::string deep = [] {
    std::string out;
    for (int i = 0; i < 100'000; ++i) out += "*1\r\n";
    return out;
  }();
  const std::string absurd[] = {":abc\r\n",
                                "*-7\r\n",
                                "$99999999999999999999\r\n",
                                "*2147483647\r\n:1\r\n",
                                "HTTP/1.1 400 Bad Request\r\n\r\n",
                                "*1\r\n*1\r\n*0\r\n",
                                ":-1\r\n",
                                "*2\r\n$1\r\n0\r\n:7\r\n",
                                "$5\r\nhello\r\n",
                                deep};
  for (const Need& row : kNeeds) {
    for (const std::string& reply : absurd) {
      HostileServer server(row.source);
      server.command = row.command;
      server.instead = reply;
      const Observation seen = server.after(seconds(8));
      const std::string which = std::string(row.source) + ": " + reply.substr(0, 30);
      EXPECT_TRUE(seen.report.keys.empty()) << which;
      const bool told = !seen.note.empty() || seen.state == SourceState::kFinished;
      EXPECT_TRUE(told) << which;
    }
  }
}

}  // namespace
}  // namespace heatsink::observe
