// SPDX-License-Identifier: Apache-2.0
// The checks of tracking, settings and this machine, with recorded facts.
#include "heatsink/doctor/setting_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heatsink/doctor/facts_for_test.h"
#include "heatsink/doctor/machine_facts.h"

namespace heatsink::doctor {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

Finding first(const Facts& facts, std::string_view code) {
  const Findings all = found(facts, code);
  EXPECT_FALSE(all.empty()) << code;
  return all.empty() ? Finding{} : all.front();
}

TEST(TrackingChecks, APushIsProvenOnlyByItsArrival) {
  Facts facts = healthy();
  EXPECT_THAT(first(facts, "tracking").what, HasSubstr("--write-test"));
  facts.server.push_test = PushTest::kArrived;
  facts.server.push_delay = Nanos(230'000);
  EXPECT_THAT(first(facts, "tracking").what, HasSubstr("came after 0.23 ms"));
  facts.server.push_test = PushTest::kMissing;
  EXPECT_EQ(first(facts, "tracking").level, Level::kError);
  facts.server.push_test = PushTest::kRefused;
  EXPECT_EQ(first(facts, "tracking").level, Level::kNote);
  facts.server.replies["CLIENT TRACKING ON"] = error_value("ERR unknown subcommand 'TRACKING'");
  EXPECT_EQ(first(facts, "tracking").level, Level::kError);
}

TEST(TrackingChecks, TheTableHasToHoldTheKeysOfAllProxies) {
  Facts facts = healthy();
  set_config(facts.server, "tracking-table-max-keys", "150000");
  EXPECT_EQ(first(facts, "tracking-table").level, Level::kOk);
  facts.server.replies["CLIENT LIST"].text +=
      "id=5 name=heatsink-tracker flags=t\nid=6 name=heatsink-doctor flags=t\nid=7 name=x "
      "flags=t\n";
  EXPECT_EQ(first(facts, "tracking-table").paste, "CONFIG SET tracking-table-max-keys 200000");
  EXPECT_THAT(first(facts, "other-proxies").what,
              HasSubstr("for 2 of heatsink and 1 other client"));
  set_config(facts.server, "tracking-table-max-keys", "0");
  EXPECT_EQ(first(facts, "tracking-table").level, Level::kOk);
}

TEST(TrackingChecks, OnlyTheFieldsOfAClientCount) {
  Facts facts = healthy();
  facts.server.replies["CLIENT LIST"].text =
      "id=1 name=flags=t flags=N\nid=2 lib-name=heatsink- flags=tb";
  EXPECT_THAT(first(facts, "other-proxies").what,
              HasSubstr("for 0 of heatsink and 1 other client"));
}

TEST(TrackingChecks, LatencyAgainstTheProofs) {
  Facts facts = healthy();
  facts.server.round_trips = {Millis(1), Millis(120), Millis(120), 50};
  EXPECT_EQ(first(facts, "latency").level, Level::kNote);
  facts.server.round_trips = {Millis(1), Millis(950), Millis(950), 50};
  EXPECT_EQ(first(facts, "latency").level, Level::kWarning);
  facts.server.round_trips = {Millis(950), Millis(990), Millis(990), 2};
  EXPECT_EQ(first(facts, "latency").level, Level::kError);
  facts.options.cache_enabled = false;
  EXPECT_EQ(first(facts, "latency").level, Level::kOk);
}

TEST(TrackingChecks, TheServersClock) {
  Facts facts = healthy();
  facts.server.clock_ahead = std::chrono::seconds(-90);
  EXPECT_THAT(first(facts, "server-clock").what, HasSubstr("90.0 s behind ours"));
}

TEST(SettingChecks, Eviction) {
  Facts facts = healthy();
  set_info(facts.server, "maxmemory", "1000000");
  set_info(facts.server, "used_memory", "950000");
  EXPECT_EQ(first(facts, "eviction").level, Level::kWarning);
  set_info(facts.server, "maxmemory_policy", "allkeys-lfu");
  EXPECT_EQ(first(facts, "eviction").level, Level::kOk);
  set_info(facts.server, "maxmemory_policy", "volatile-ttl");
  EXPECT_EQ(first(facts, "eviction").paste, "CONFIG SET maxmemory-policy volatile-lru");
}

TEST(SettingChecks, OutputBuffers) {
  Facts facts = healthy();
  set_config(facts.server, "client-output-buffer-limit",
             "normal 1048576 0 0 slave 0 0 0 pubsub 100 0 0");
  EXPECT_THAT(found(facts, "output-buffers"), SizeIs(2));
  EXPECT_EQ(first(facts, "output-buffers").level, Level::kWarning);
  set_config(facts.server, "client-output-buffer-limit", "normal x");
  EXPECT_EQ(first(facts, "output-buffers").level, Level::kOk);
}

TEST(SettingChecks, IdleConnectionsAndClients) {
  Facts facts = healthy();
  set_config(facts.server, "timeout", "30");
  set_config(facts.server, "tcp-keepalive", "0");
  EXPECT_THAT(found(facts, "idle-connections"), SizeIs(2));
  set_info(facts.server, "connected_clients", "9500");
  EXPECT_EQ(first(facts, "server-clients").level, Level::kWarning);
  set_info(facts.server, "connected_clients", "5");
  facts.options.private_connections_max = 20'000;
  EXPECT_EQ(first(facts, "server-clients").level, Level::kNote);
  set_config(facts.server, "maxmemory-clients", "5%");
  EXPECT_EQ(first(facts, "client-eviction").level, Level::kNote);
}

TEST(SettingChecks, WhatMakesAServerRefuseWrites) {
  Facts facts = healthy();
  set_info(facts.server, "connected_slaves", "2");
  EXPECT_EQ(first(facts, "writes").level, Level::kNote);
  set_config(facts.server, "min-replicas-to-write", "2");
  set_info(facts.server, "min_slaves_good_slaves", "1");
  EXPECT_THAT(first(facts, "writes").cost, HasSubstr("NOREPLICAS"));
  set_info(facts.server, "rdb_last_bgsave_status", "err");
  EXPECT_THAT(first(facts, "writes").cost, HasSubstr("MISCONF"));
  EXPECT_THAT(found(facts, "writes"), SizeIs(2));
}

TEST(SettingChecks, RenamedCommands) {
  Facts facts = healthy();
  resp::Value known = list_value({});
  for (std::size_t i = 0; i < named_commands().size(); ++i)
    known.items.push_back(i == 1 ? resp::Value{} : list_value({text_value("x")}));
  facts.server.replies["COMMAND INFO"] = known;
  EXPECT_THAT(first(facts, "commands").what, HasSubstr("disabled on the server: set"));
}

TEST(MachineChecks, Limits) {
  Facts facts = healthy();
  facts.machine.open_files_max = 1024;
  EXPECT_EQ(first(facts, "open-files").level, Level::kWarning);
  facts.machine.open_files_max = 20'000;
  EXPECT_EQ(first(facts, "open-files").level, Level::kNote);
  facts.machine.somaxconn = 128;
  EXPECT_EQ(first(facts, "backlog").level, Level::kNote);
  facts.machine.local_ports = 5000;
  EXPECT_EQ(first(facts, "local-ports").level, Level::kNote);
  facts.machine.memory.control_group = 64ULL << 20U;
  EXPECT_EQ(first(facts, "memory").level, Level::kWarning);
  facts.machine.cpus = 0.5;
  EXPECT_EQ(first(facts, "cpus").level, Level::kWarning);
  facts.options.workers = 8;
  EXPECT_EQ(first(facts, "cpus").about, "workers");
}

TEST(MachineChecks, Clock) {
  Facts facts = healthy();
  facts.machine.clock.longest_stop = Millis(600);
  facts.machine.clock.stolen_share = 0.2;
  facts.machine.clock.throttled_share = 0.3;
  EXPECT_THAT(found(facts, "stops"), SizeIs(3));
  facts.machine.clock.reading_cost = Nanos(900);
  EXPECT_EQ(first(facts, "clock").level, Level::kNote);
  facts.machine.clock.went_back = true;
  EXPECT_EQ(first(facts, "clock").level, Level::kError);
}

TEST(MachineChecks, TheServersHost) {
  Facts facts = healthy();
  facts.machine.overcommit = "0";
  facts.machine.huge_pages = "always";
  EXPECT_EQ(first(facts, "server-host").level, Level::kOk) << "it writes no snapshots";
  set_config(facts.server, "save", "3600 1");
  EXPECT_THAT(found(facts, "server-host"), SizeIs(2));
}

TEST(MachineChecks, Files) {
  Facts facts = healthy();
  facts.machine.files = {{"proxy.tls-key", "/k", true, "", 0644},
                         {"admin.token-file", "/t", true, "No such file or directory"},
                         {"upstream.tls-ca", "/c", false, "", 0644}};
  const Findings files = found(facts, "files");
  ASSERT_THAT(files, SizeIs(2));
  EXPECT_EQ(files[0].paste, "chmod 600 /k");
  EXPECT_EQ(files[1].level, Level::kError);
}

TEST(Machine, SharesOfStolenAndThrottledTime) {
  EXPECT_DOUBLE_EQ(stolen_share("cpu  50 0 20 10 0 0 0 20 0 0\ncpu0 1 1"), 0.2);
  EXPECT_EQ(stolen_share("cpu 1 2"), 0);
  EXPECT_EQ(stolen_share(""), 0);
  EXPECT_DOUBLE_EQ(throttled_share("nr_periods 10\nnr_throttled 3\nthrottled_usec 9\n"), 0.3);
  EXPECT_EQ(throttled_share("max"), 0);
}

}  // namespace
}  // namespace heatsink::doctor
