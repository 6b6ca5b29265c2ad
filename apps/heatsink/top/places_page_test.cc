// SPDX-License-Identifier: Apache-2.0
// The nodes and slots of a cluster behind a proxy, with what the servers count.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/heatsink/top/pages.h"
#include "apps/heatsink/top/sample_for_test.h"

namespace heatsink::app {
namespace {

using testing::HasSubstr;
using testing::Not;

HotkeysView behind_a_proxy() {
  HotkeysView view = sample_answer();
  view.cluster = true;
  view.nodes = {view.node, view.node};
  view.nodes[0].upstream = "10.0.0.1:6379";
  view.nodes[1].upstream = "10.0.0.2:6379";
  view.slots = {{.slot = 9, .node = "10.0.0.1:6379", .rate = 900},
                {.slot = 7, .node = "10.0.0.2:6379", .rate = 1}};
  view.slot_advice = {"judged by the commands of this proxy: node 10.0.0.1:6379 is old"};
  return view;
}

HotkeysView counted() {
  HotkeysView view = behind_a_proxy();
  view.nodes[0].cpu_cores = 0.05;
  view.nodes[0].bytes_rate = 1000;
  view.nodes[1].cpu_cores = 0.62;
  view.slots[0].cpu_share = 0.2;
  view.slots[0].bytes_rate = 800;
  view.slots[1].cpu_share = 0.9;
  view.slots_by_cpu = true;
  view.slot_advice = {"judged by the servers' CPU time, of all clients"};
  return view;
}

TEST(TopPlaces, WithoutTheServersCountsOnlyTheProxysAreShown) {
  const std::string nodes = draw_nodes_page(behind_a_proxy(), 80).text();
  EXPECT_THAT(nodes, HasSubstr("slots     judged by the commands of this proxy: node"));
  EXPECT_THAT(nodes, Not(HasSubstr("CPU")));
  const std::string slots = draw_slots_page(behind_a_proxy(), 80).text();
  EXPECT_THAT(slots, HasSubstr("RATE/s: what this proxy sends, busiest first; other clients"));
  EXPECT_LT(slots.find("\n   9"), slots.find("\n   7"));
}

TEST(TopPlaces, TheServersCpuTimeOrdersTheSlots) {
  const std::string nodes = draw_nodes_page(counted(), 100).text();
  EXPECT_THAT(nodes, HasSubstr("NODE          REQ/s  SHARE    CPU BYTES/s  RD/s WR/s"));
  EXPECT_THAT(nodes, HasSubstr(" 5.0 %    1.0k "));
  EXPECT_THAT(nodes, HasSubstr("62.0 %       - "));
  const std::string slots = draw_slots_page(counted(), 80).text();
  EXPECT_THAT(slots, HasSubstr("CPU: share of its node's CPU time, of\n          all clients"));
  EXPECT_THAT(slots, HasSubstr("RATE/s    CPU BYTES/s"));
  EXPECT_LT(slots.find("\n   7"), slots.find("\n   9"));
}

}  // namespace
}  // namespace heatsink::app
