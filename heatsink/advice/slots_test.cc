// SPDX-License-Identifier: Apache-2.0
#include "heatsink/advice/slots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace heatsink::advice {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<SlotAdviceKind> kinds(const std::vector<SlotAdvice>& all) {
  std::vector<SlotAdviceKind> out;
  for (const SlotAdvice& each : all) out.push_back(each.kind);
  return out;
}

// Three nodes; A is the busiest.
ClusterLoad uneven() { return {{{"A", 6100}, {"B", 2000}, {"C", 1900}}, {}}; }

void add_slots(ClusterLoad& cluster, std::size_t node, std::uint16_t first, std::size_t count,
               double load) {
  for (std::size_t i = 0; i < count; ++i)
    cluster.slots.push_back({static_cast<std::uint16_t>(first + i), load, node});
}

// The loads after the moves.
std::vector<double> after(const ClusterLoad& cluster, const std::vector<SlotAdvice>& advice) {
  std::vector<double> loads;
  for (const NodeLoad& node : cluster.nodes) loads.push_back(node.load);
  for (const SlotAdvice& each : advice) {
    if (each.kind != SlotAdviceKind::kMove) continue;
    for (const std::uint16_t moved : each.slots) {
      for (const SlotLoad& slot : cluster.slots) {
        if (slot.slot != moved) continue;
        loads[*each.from] -= slot.load;
        loads[*each.to] += slot.load;
      }
    }
  }
  return loads;
}

TEST(Slots, ImbalanceIsMaxToMeanAndVariation) {
  const Imbalance even = imbalance_of({{"A", 10}, {"B", 10}});
  EXPECT_DOUBLE_EQ(even.max_to_mean, 1);
  EXPECT_DOUBLE_EQ(even.variation, 0);
  const Imbalance two = imbalance_of({{"A", 10}, {"B", 30}});
  EXPECT_DOUBLE_EQ(two.max_to_mean, 1.5);
  EXPECT_DOUBLE_EQ(two.variation, 0.5);
  EXPECT_EQ(two.busiest, 1U);
  EXPECT_DOUBLE_EQ(imbalance_of({{"A", 0}, {"B", 0}}).max_to_mean, 1);
}

TEST(Slots, OneKeyIsNotHelpedByAMove) {
  ClusterLoad cluster = uneven();
  cluster.slots.push_back({1234, 2500, 0, "product:7", 2425});
  const auto advice = advise_slots(cluster);
  ASSERT_FALSE(advice.empty());
  EXPECT_EQ(advice[0].kind, SlotAdviceKind::kOneKey);
  EXPECT_THAT(advice[0].text, HasSubstr("slot 1234 is 41 % of the load of node A, and its key "
                                        "product:7 makes 97 % of that: moving the slot moves the "
                                        "problem"));
  EXPECT_THAT(advice[0].slots, ElementsAre(1234));
  // It is not moved: nothing else is known.
  EXPECT_EQ(advice[1].kind, SlotAdviceKind::kNothing);
  EXPECT_THAT(advice[1].text, HasSubstr("node A has 1.83 times the mean load of the 3 nodes"));
}

TEST(Slots, ManyWarmSlotsAreMoved) {
  ClusterLoad cluster = uneven();
  add_slots(cluster, 0, 1, 61, 100);
  const auto advice = advise_slots(cluster);
  EXPECT_THAT(kinds(advice), ElementsAre(SlotAdviceKind::kMove, SlotAdviceKind::kMove));
  EXPECT_THAT(advice[0].text,
              AllOf(HasSubstr("from A to B"), HasSubstr("bring A from 61 % to 40 %"),
                    HasSubstr(" more from A")));
  const std::vector<double> loads = after(cluster, advice);
  for (const double load : loads) EXPECT_LE(load, kEvenEnough * 10000 / 3);
}

TEST(Slots, TheKeysSlotStaysAndTheOthersMove) {
  ClusterLoad cluster = uneven();
  cluster.slots.push_back({1234, 2500, 0, "product:7", 2425});
  add_slots(cluster, 0, 1, 36, 100);
  const auto advice = advise_slots(cluster);
  EXPECT_EQ(advice[0].kind, SlotAdviceKind::kOneKey);
  ASSERT_GE(advice.size(), 2U);
  for (std::size_t i = 1; i < advice.size(); ++i) {
    EXPECT_EQ(advice[i].kind, SlotAdviceKind::kMove);
    EXPECT_THAT(advice[i].slots, Not(Contains(1234)));
  }
}

TEST(Slots, ASlotOfManyKeysThatIsTooHotForAnyNode) {
  ClusterLoad cluster = uneven();
  cluster.slots.push_back({77, 5000, 0, "{shop}:1", 300, "shop"});
  const auto advice = advise_slots(cluster);
  EXPECT_EQ(advice[0].kind, SlotAdviceKind::kOneTag);
  EXPECT_THAT(advice[0].text, HasSubstr("share the hash tag {shop}"));
  EXPECT_EQ(advice[1].kind, SlotAdviceKind::kNothing);
}

TEST(Slots, EvenNodesAreLeftAlone) {
  ClusterLoad cluster{{{"A", 1000}, {"B", 1100}}, {}};
  add_slots(cluster, 1, 1, 50, 20);
  const auto advice = advise_slots(cluster);
  EXPECT_THAT(kinds(advice), ElementsAre(SlotAdviceKind::kEven));
  EXPECT_THAT(advice[0].text, HasSubstr("moving slots would gain little"));
  // But a hot key is named even then.
  cluster.slots.push_back({9, 600, 0, "k", 590});
  EXPECT_THAT(kinds(advise_slots(cluster)),
              ElementsAre(SlotAdviceKind::kOneKey, SlotAdviceKind::kEven));
}

TEST(Slots, ASingleServerHasNowhereToMoveThem) {
  ClusterLoad server{{{"S", 1000}}, {{5, 700, 0, "k", 650}}};
  const auto advice = advise_slots(server);
  EXPECT_THAT(kinds(advice), ElementsAre(SlotAdviceKind::kOneKey));
  EXPECT_THAT(advice[0].text, HasSubstr("in a cluster one node would have it all"));
  server.slots.clear();
  EXPECT_THAT(advise_slots(server)[0].text, HasSubstr("no slot stands out"));
}

TEST(Slots, NoLoadIsNoAdvice) {
  EXPECT_THAT(kinds(advise_slots({{{"A", 0}, {"B", 0}}, {}})), ElementsAre(SlotAdviceKind::kEven));
  EXPECT_THAT(kinds(advise_slots({{}, {}})), ElementsAre(SlotAdviceKind::kEven));
}

// A spends 0.6 cores, of which slot 7 takes 0.5.
CpuTime cpu_of_slot_7(double commands_rate) {
  return {{{0.6, commands_rate}, {0.1, 10'000}, {0.1, 10'000}}, {0.5 / 0.6}};
}

TEST(Slots, ASlotThatOtherClientsMakeHotIsNamed) {
  const ClusterLoad own{{{"A", 100}, {"B", 100}, {"C", 100}}, {{7, 100, 0, "k", 90}}};
  EXPECT_THAT(advise_slots(own)[0].text, HasSubstr("its key k makes 90 %"));
  const ClusterLoad all = in_cpu_time(own, cpu_of_slot_7(60'000));
  EXPECT_DOUBLE_EQ(all.nodes[0].load, 600);
  EXPECT_DOUBLE_EQ(all.slots[0].explained, 1);  // 100 commands of 10 us each
  const auto advice = advise_slots(all);
  EXPECT_EQ(advice[0].kind, SlotAdviceKind::kUnseen);
  EXPECT_THAT(
      advice[0].text,
      HasSubstr("slot 7 is 83 % of the CPU time of node A, and the commands that this proxy "
                "sends explain about 0 % of that: other clients use the slot"));
  EXPECT_THAT(advice[0].text, HasSubstr("heatsink top redis://A --source slots"));
  EXPECT_THAT(advice[1].text, HasSubstr("node A has 2.25 times the mean CPU time of the 3 nodes"));
}

TEST(Slots, AKeyThatExplainsTheCpuTimeIsNamed) {
  const ClusterLoad own{{{"A", 50'000}, {"B", 9'000}, {"C", 9'000}}, {{7, 48'000, 0, "k", 45'000}}};
  const auto advice = advise_slots(in_cpu_time(own, cpu_of_slot_7(60'000)));
  EXPECT_EQ(advice[0].kind, SlotAdviceKind::kOneKey);
  EXPECT_THAT(advice[0].text, HasSubstr("its key k makes about 90 % of that"));
}

TEST(Slots, WithoutTheCostOfACommandNoKeyIsBlamed) {
  const ClusterLoad own{{{"A", 50'000}, {"B", 9'000}, {"C", 9'000}}, {{7, 48'000, 0, "k", 45'000}}};
  const auto advice = advise_slots(in_cpu_time(own, cpu_of_slot_7(std::nan(""))));
  EXPECT_EQ(advice[0].kind, SlotAdviceKind::kUnseen);
  EXPECT_THAT(advice[0].text, HasSubstr("what this proxy sends costs is not known"));
}

TEST(Slots, AnUnseenHotSlotIsNotMoved) {
  ClusterLoad all{{{"A", 600}, {"B", 200}}, {{7, 150, 0}}, true};
  for (const SlotAdvice& each : advise_slots(all)) EXPECT_NE(each.kind, SlotAdviceKind::kMove);
  all.slots[0].explained = 150;
  EXPECT_THAT(kinds(advise_slots(all)), Contains(SlotAdviceKind::kMove));
}

TEST(Slots, NoMoveMakesAnotherNodeTheBusiest) {
  // One slot of A is as large as the whole gap: B would only take A's place.
  ClusterLoad cluster{{{"A", 1000}, {"B", 200}}, {{3, 900, 0, "", 0}}};
  for (const SlotAdvice& each : advise_slots(cluster)) EXPECT_NE(each.kind, SlotAdviceKind::kMove);
}

TEST(Slots, MovesHaveALimit) {
  ClusterLoad cluster{{{"A", 16000}, {"B", 0}}, {}};
  add_slots(cluster, 0, 0, 16000, 1);
  std::size_t moved = 0;
  for (const SlotAdvice& each : advise_slots(cluster)) moved += each.slots.size();
  EXPECT_EQ(moved, kSlotMovesMax);
}

}  // namespace
}  // namespace heatsink::advice
