// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/slots_seen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>

namespace heatsink::proxy {
namespace {

using testing::SizeIs;

// "a" has slot 15495, "b" 3300.
struct SlotsSeenTest : testing::Test {
  SlotsSeenTest() {
    map.shards.resize(2);
    map.shards[0].master = 3;
    map.shards[1].master = 1;
    for (std::size_t slot = 0; slot < resp::kSlots; ++slot)
      map.owners[slot] = slot < 8192 ? topology::NodeIndex{3} : topology::NodeIndex{1};
  }
  void add_key(const std::string& name, double rate, std::uint64_t reads, std::uint64_t hits) {
    report::KeyReport key;
    key.verdict.count.key = name;
    key.verdict.count.reads = reads;
    key.verdict.count.hits = hits;
    key.verdict.rate = rate;
    report.keys.push_back(key);
  }
  report::SlotsReport seen() const {
    return slots_seen(map, rates, usage ? &*usage : nullptr, names, report);
  }
  // Both nodes count; a:3 spends 0.5 cores on slot 7, of which the proxy sends nothing.
  void count_cpu() {
    usage.emplace();
    usage->executing.assign(resp::kSlots, 0);
    usage->bytes_rate.assign(resp::kSlots, 0);
    usage->executing[7] = 0.5F;
    usage->bytes_rate[7] = 4000;
    usage->nodes[3] = {topology::NodeUsage::State::kCounted, "", 0.8, 0.5, 4000, 90'000};
    usage->nodes[1] = {topology::NodeUsage::State::kCounted, "", 0, 0, 0, 10};
  }

  topology::SlotMap map;
  std::vector<float> rates = std::vector<float>(resp::kSlots);
  std::vector<std::string> names{"x:0", "b:1", "x:2", "a:3"};
  std::optional<topology::SlotUsage> usage;
  report::Report report;
};

TEST_F(SlotsSeenTest, LoadsAreSummedByNode) {
  rates[0] = 10;
  rates[3300] = 5;
  rates[15495] = 40;
  const report::SlotsReport out = seen();
  ASSERT_THAT(out.nodes, SizeIs(2));
  EXPECT_EQ(out.nodes[0].name, "a:3");
  EXPECT_EQ(out.nodes[0].load, 15);
  EXPECT_EQ(out.nodes[1].name, "b:1");
  EXPECT_EQ(out.nodes[1].load, 40);
  ASSERT_THAT(out.slots, SizeIs(3));
  EXPECT_EQ(out.slots[0].slot, 15495);
  EXPECT_EQ(out.slots[0].node, 1u);
}

TEST_F(SlotsSeenTest, HotKeysBelongToTheirSlots) {
  rates[15495] = 40;
  add_key("a", 100, 100, 70);  // 30/s reach the server
  add_key("{a}other", 20, 10, 0);
  const report::SlotsReport out = seen();
  ASSERT_THAT(out.slots, SizeIs(1));
  EXPECT_EQ(out.slots[0].key, "a");
  EXPECT_DOUBLE_EQ(out.slots[0].key_load, 30);
  EXPECT_EQ(out.slots[0].tag, "");  // not of all
  report.redacted = true;
  EXPECT_EQ(seen().slots[0].key, "");
}

TEST_F(SlotsSeenTest, ATagOfAllKeysIsNamed) {
  rates[15495] = 40;
  add_key("{a}1", 10, 10, 0);
  add_key("{a}2", 30, 10, 0);
  EXPECT_EQ(seen().slots[0].tag, "a");
  EXPECT_EQ(seen().slots[0].key, "{a}2");
}

TEST_F(SlotsSeenTest, OnlyTheBusiestSlotsOfANodeAreListed) {
  for (std::size_t slot = 0; slot < 100; ++slot) rates[slot] = 1 + static_cast<float>(slot);
  const report::SlotsReport out = seen();
  ASSERT_THAT(out.slots, SizeIs(kSlotsOfNodeMax));
  EXPECT_EQ(out.slots.front().slot, 99);
  EXPECT_EQ(out.nodes[0].load, 5050);
}

TEST_F(SlotsSeenTest, WhatOnlyTheNodesSeeIsListedFirst) {
  rates[0] = 30;
  EXPECT_FALSE(seen().by_cpu);
  EXPECT_EQ(seen().why_not,
            "node a:3 has been asked for its CPU time by slot: look again in some seconds");
  count_cpu();
  const report::SlotsReport out = seen();
  EXPECT_TRUE(out.by_cpu);
  EXPECT_EQ(out.why_not, "");
  EXPECT_EQ(out.nodes[0].cpu, 0.8);
  EXPECT_EQ(out.nodes[0].executing, 0.5);
  EXPECT_EQ(out.nodes[0].commands_rate, 90'000);
  ASSERT_THAT(out.slots, SizeIs(2));
  EXPECT_EQ(out.slots[0].slot, 7);
  EXPECT_EQ(out.slots[0].load, 0);
  EXPECT_EQ(out.slots[0].executing, 0.5);
  EXPECT_EQ(out.slots[0].bytes_rate, 4000);
}

TEST_F(SlotsSeenTest, TheNodesSpeakBeforeTheFirstWindowOfTheProxyEnds) {
  rates.clear();
  count_cpu();
  EXPECT_THAT(seen().slots, SizeIs(1));
}

TEST_F(SlotsSeenTest, OneNodeThatDoesNotCountDecidesForAll) {
  rates[0] = 30;
  count_cpu();
  usage->nodes[1] = {.state = topology::NodeUsage::State::kOff};
  const report::SlotsReport out = seen();
  EXPECT_FALSE(out.by_cpu);
  EXPECT_THAT(out.why_not, testing::HasSubstr("node b:1 counts no CPU time"));
  EXPECT_EQ(out.slots[0].slot, 0);  // by the proxy's own rate
  EXPECT_EQ(out.nodes[0].cpu, 0.8);
  EXPECT_TRUE(std::isnan(out.nodes[1].cpu));
}

TEST_F(SlotsSeenTest, MetricsOfTheNodesOwnFigures) {
  count_cpu();
  report.slots = seen();
  MetricSamples samples;
  append_slot_samples(samples, report);
  ASSERT_THAT(samples, SizeIs(8));
  EXPECT_EQ(samples[3].row->name, std::string("heatsink_node_cpu_cores"));
  EXPECT_EQ(samples[3].value, 0.8);
  EXPECT_EQ(samples[5].value, 4000);
  EXPECT_EQ(samples[7].row->name, std::string("heatsink_node_cpu_imbalance"));
  EXPECT_EQ(samples[7].value, 2);
}

TEST_F(SlotsSeenTest, MetricsNameTheNodes) {
  MetricSamples samples;
  append_slot_samples(samples, report);
  EXPECT_TRUE(samples.empty());
  rates[0] = 30;
  rates[15495] = 10;
  report.slots = seen();
  append_slot_samples(samples, report);
  ASSERT_THAT(samples, SizeIs(3));
  EXPECT_EQ(samples[0].labels, (MetricLabels{{"node", "a:3"}}));
  EXPECT_EQ(samples[0].value, 30);
  EXPECT_EQ(samples[2].value, 1.5);
}

}  // namespace
}  // namespace heatsink::proxy
