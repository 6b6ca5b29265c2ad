// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/slots_source.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heatsink/observe/scripted_server_for_test.h"

namespace heatsink::observe {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

std::string entry(int slot, double cpu_us, bool work = true) {
  std::vector<std::string> counters = {bulk("key-count"), ":7\r\n"};
  if (work) {
    counters.push_back(bulk("cpu-usec"));
    counters.push_back(fmt::format(":{:.0f}\r\n", cpu_us));
    counters.push_back(bulk("network-bytes-in"));
    counters.push_back(fmt::format(":{:.0f}\r\n", cpu_us * 10));
  }
  return list({fmt::format(":{}\r\n", slot), list(counters)});
}

// Slot of "hot" has 60 % of the CPU time; MONITOR is refused unless a test allows it.
class SlotsSourceTest : public testing::Test {
 protected:
  static MonitorSourceOptions options() {
    MonitorSourceOptions options;
    options.server = "here:6379";
    return options;
  }
  double seconds_now() const {
    return std::chrono::duration<double>(server_.now().time_since_epoch()).count();
  }
  std::string answer(const ScriptedServer::Args& args) {
    if (args[0] == "PING") return "+PONG\r\n";
    if (args[0] == "INFO") return bulk("");
    if (args[0] == "MONITOR") return "-NOPERM no\r\n";
    if (args[0] == "ECHO") return bulk(args[1]);
    if (args[0] == "CONFIG") return list({bulk(args[2]), bulk("1")});
    if (args[0] == "OBJECT")
      return args[2] == "hot" ? freq_ : "-ERR An LFU maxmemory policy is not selected\r\n";
    EXPECT_EQ(args[0], "CLUSTER");
    if (args[1] == "GETKEYSINSLOT") {
      EXPECT_EQ(args[2], std::to_string(resp::key_slot("hot")));
      return keys_.empty() ? list({bulk("{hot}2"), bulk("hot")}) : keys_;
    }
    if (!error_.empty()) return error_;
    const double us = (seconds_now() - 99) * 1e5;
    return list({entry(1, us * 0.4, work_), entry(resp::key_slot("hot"), us * 0.6, work_)});
  }
  Observation after(Nanos duration) {
    server_.run_for(duration);
    return source_.observe(server_.now());
  }

  std::string error_, keys_, freq_ = ":120\r\n";
  bool work_ = true;
  SlotsSource source_{options()};
  ScriptedServer server_{
      source_, [this](std::size_t, const ScriptedServer::Args& args) { return answer(args); }};
};

TEST_F(SlotsSourceTest, TheHottestSlotAndItsKeysWhereMonitorIsForbidden) {
  const Observation seen = after(seconds(5));
  EXPECT_EQ(seen.state, SourceState::kRunning);
  EXPECT_THAT(seen.note, HasSubstr(fmt::format("slots by CPU time: {} 60.0 % (7 keys), 1 40.0 %",
                                               resp::key_slot("hot"))));
  ASSERT_EQ(seen.report.keys.size(), 2u);
  EXPECT_EQ(seen.report.keys[0].verdict.count.key, "hot");
  EXPECT_THAT(seen.report.keys[0].verdict.reason, HasSubstr("counter 120 of 255"));
  // Its counter, with a log factor and a decay time of 1.
  EXPECT_NEAR(seen.report.keys[0].verdict.rate, 116.0 / 60, 0.01);
  EXPECT_EQ(seen.report.keys[1].verdict.rate, 0);
}

TEST_F(SlotsSourceTest, TheSlotsAreToldAsFigures) {
  const Observation seen = after(seconds(3));
  ASSERT_EQ(seen.slots.size(), 2u);
  EXPECT_EQ(seen.slots[0].slot, resp::key_slot("hot"));
  EXPECT_NEAR(seen.slots[0].cpu_share, 0.6, 0.01);
  EXPECT_EQ(seen.slots[0].keys, 7);
  EXPECT_GT(seen.slots[0].bytes_rate, 0);
}

TEST_F(SlotsSourceTest, WhereKeysMayNotBeListedThatIsToldWithTheSlots) {
  keys_ = "-NOPERM no\r\n";
  const Observation seen = after(seconds(5));
  EXPECT_TRUE(seen.report.keys.empty());
  EXPECT_EQ(seen.slots.size(), 2u);
  EXPECT_THAT(seen.note, HasSubstr("no keys: the server refuses CLUSTER GETKEYSINSLOT"));
}

TEST_F(SlotsSourceTest, WithoutCountersWhatToSetIsSaid) {
  work_ = false;
  EXPECT_THAT(after(seconds(1)).note, HasSubstr("cluster-slot-stats-enabled yes"));
}

TEST_F(SlotsSourceTest, WhereThereIsNoneThatIsTold) {
  error_ = "-ERR unknown subcommand 'SLOT-STATS'. Try CLUSTER HELP.\r\n";
  const Observation seen = after(seconds(1));
  EXPECT_EQ(seen.state, SourceState::kFailed);
  EXPECT_THAT(seen.note, HasSubstr("Valkey has it since 8.0, Redis since 8.2"));
}

TEST_F(SlotsSourceTest, OutsideOfAClusterThatIsTold) {
  error_ = "-ERR This instance has cluster support disabled\r\n";
  EXPECT_THAT(after(seconds(1)).note, HasSubstr("not a cluster node"));
}

}  // namespace
}  // namespace heatsink::observe
