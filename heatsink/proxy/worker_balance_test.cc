// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/worker_balance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "heatsink/base/random.h"

namespace heatsink::proxy {
namespace {

using Load = WorkerBalance::Load;
using Move = WorkerBalance::Move;

constexpr Nanos kBetweenLooks = Millis(100);

class WorkerBalanceTest : public ::testing::Test {
 protected:
  // Applies the same loads for this long; returns the moves.
  std::vector<Move> watch(Nanos time, const std::vector<Load>& loads, double idle_cpus) {
    std::vector<Move> moves;
    for (const TimePoint end = now_ + time; now_ < end; now_ += kBetweenLooks) {
      if (const auto move = balance_.look(now_, loads, idle_cpus)) moves.push_back(*move);
    }
    return moves;
  }

  WorkerBalance balance_{2};
  TimePoint now_ = TimePoint(std::chrono::seconds(1000));
};

TEST_F(WorkerBalanceTest, OneWorkerThatIsNotFullKeepsAllClients) {
  EXPECT_TRUE(watch(std::chrono::minutes(5), {{0.8, 500}, {0, 0}}, 6).empty());
}

TEST_F(WorkerBalanceTest, AFullOneGivesHalfOfItsClientsAway) {
  const auto moves = watch(Millis(1000), {{1, 100}, {0, 0}}, 6);
  ASSERT_EQ(moves.size(), 1u);
  EXPECT_EQ(moves[0].from, 0u);
  EXPECT_EQ(moves[0].to, 1u);
  EXPECT_EQ(moves[0].clients, 50u);
}

TEST_F(WorkerBalanceTest, AWorkerThatHasSomeGetsOnlyTheDifference) {
  watch(Millis(400), {{0.5, 80}, {0.4, 40}}, 6);
  const auto moves = watch(Millis(1200), {{1, 80}, {0.4, 40}}, 6);
  ASSERT_EQ(moves.size(), 1u);
  EXPECT_EQ(moves[0].from, 0u);
  EXPECT_NEAR(static_cast<double>(moves[0].clients), 80 * 0.3, 2);
}

TEST_F(WorkerBalanceTest, NothingMovesForABurst) {
  watch(Millis(1000), {{0.3, 100}, {0, 0}}, 6);
  EXPECT_TRUE(watch(Millis(400), {{1, 100}, {0, 0}}, 6).empty());
  EXPECT_TRUE(watch(Millis(1000), {{0.3, 100}, {0, 0}}, 6).empty());
}

TEST_F(WorkerBalanceTest, NothingMovesWhereNoCpuIsIdle) {
  EXPECT_TRUE(watch(std::chrono::minutes(1), {{1, 100}, {0, 0}}, 0.1).empty());
}

TEST_F(WorkerBalanceTest, OneClientAloneIsNotMoved) {
  EXPECT_TRUE(watch(std::chrono::minutes(1), {{1, 1}, {0, 0}}, 6).empty());
}

TEST_F(WorkerBalanceTest, NothingMovesWhereAllAreFull) {
  EXPECT_TRUE(watch(std::chrono::minutes(1), {{1, 100}, {0.9, 100}}, 6).empty());
}

TEST_F(WorkerBalanceTest, ClientsThatOneWorkerCanServeComeTogetherAgain) {
  EXPECT_TRUE(watch(std::chrono::minutes(1), {{0.4, 50}, {0.3, 50}}, 6).empty()) << "together 0.7";
  const auto moves = watch(Millis(4000), {{0.2, 50}, {0.1, 50}}, 6);
  ASSERT_EQ(moves.size(), 1u);
  EXPECT_EQ(moves[0].from, 1u);
  EXPECT_EQ(moves[0].to, 0u);
  EXPECT_EQ(moves[0].clients, WorkerBalance::kAll);
}

TEST_F(WorkerBalanceTest, ThreadsThatCompeteForTheLastCpuAreMerged) {
  const auto moves = watch(Millis(4000), {{0.45, 50}, {0.4, 50}}, 0);
  ASSERT_EQ(moves.size(), 1u);
  EXPECT_EQ(moves[0].clients, WorkerBalance::kAll);
  // Does not move again at once, even if the machine looks less busy now.
  EXPECT_TRUE(watch(std::chrono::seconds(50), {{1, 100}, {0, 0}}, 1).empty());
  EXPECT_FALSE(watch(std::chrono::seconds(20), {{1, 100}, {0, 0}}, 1).empty());
}

TEST_F(WorkerBalanceTest, MovesThatDoNotHelpBecomeRare) {
  // One client keeps worker 0 busy, and is never among the moved clients.
  const auto moves = watch(std::chrono::minutes(10), {{1, 100}, {0, 0}}, 6);
  EXPECT_LT(moves.size(), 20u);
  EXPECT_GT(moves.size(), 5u) << "it is tried again now and then";
}

TEST_F(WorkerBalanceTest, NewClientsGoToTheFirstWorkerWithRoom) {
  EXPECT_EQ(balance_.home(), 0u);
  watch(Millis(1000), {{0.5, 10}, {0, 0}}, 6);
  EXPECT_EQ(balance_.home(), 0u);
  watch(Millis(300), {{0.8, 10}, {0, 0}}, 6);
  EXPECT_EQ(balance_.home(), 1u);
  watch(Millis(2000), {{0.8, 10}, {0.7, 10}}, 6);
  EXPECT_EQ(balance_.home(), 1u) << "none has room: to the one that is less busy";
  watch(Millis(2000), {{0.5, 10}, {0.7, 10}}, 6);
  EXPECT_EQ(balance_.home(), 0u);
}

// Clients with unequal load on a machine with eight CPUs, which no other program uses.
class Machine {
 public:
  Machine(std::size_t workers, std::vector<double> demands)
      : balance_(workers), loads_(workers), demands_(std::move(demands)), at_(demands_.size(), 0) {}

  // Returns the number of moves.
  std::size_t run(Nanos time) {
    std::size_t moves = 0;
    for (const TimePoint end = now_ + time; now_ < end; now_ += kBetweenLooks) {
      measure();
      double used = 0;
      for (const Load& load : loads_) used += load.busy;
      if (const auto move = balance_.look(now_, loads_, 8 - used)) {
        ++moves;
        carry_out(*move);
      }
    }
    measure();
    return moves;
  }
  void scale(double factor) {
    for (double& demand : demands_) demand *= factor;
  }
  double busiest() const {
    return std::max_element(loads_.begin(), loads_.end(),
                            [](const Load& a, const Load& b) { return a.busy < b.busy; })
        ->busy;
  }
  std::size_t workers_in_use() const {
    return static_cast<std::size_t>(std::count_if(
        loads_.begin(), loads_.end(), [](const Load& load) { return load.clients > 0; }));
  }

 private:
  void measure() {
    std::fill(loads_.begin(), loads_.end(), Load{});
    for (std::size_t i = 0; i < demands_.size(); ++i) {
      loads_[at_[i]].busy += demands_[i];
      ++loads_[at_[i]].clients;
    }
    for (Load& load : loads_) load.busy = std::min(load.busy, 1.0);
  }
  void carry_out(const Move& move) {
    std::size_t left = move.clients;
    const std::size_t start = random_.next() % at_.size();
    for (std::size_t i = 0; i < at_.size() && left > 0; ++i) {
      std::size_t& at = at_[(start + i) % at_.size()];
      if (at != move.from) continue;
      at = move.to;
      --left;
    }
  }

  WorkerBalance balance_;
  std::vector<Load> loads_;
  std::vector<double> demands_;  // share of a CPU
  std::vector<std::size_t> at_;  // the worker of each client
  Random random_{1};
  TimePoint now_ = TimePoint(std::chrono::seconds(1000));
};

TEST(WorkerBalanceMachine, ClientsSpreadOverAsManyWorkersAsTheyNeedAndStayThere) {
  std::vector<double> demands(240);
  Random random(7);
  for (double& demand : demands) demand = 0.002 + 0.016 * random.unit();  // about 2.4 CPUs
  Machine machine(6, demands);
  machine.run(std::chrono::seconds(20));
  EXPECT_LT(machine.busiest(), 0.9);
  EXPECT_GE(machine.workers_in_use(), 3u);
  EXPECT_LE(machine.workers_in_use(), 5u);
  EXPECT_LE(machine.run(std::chrono::minutes(10)), 2u) << "it goes on moving clients to and fro";

  machine.scale(0.1);  // the night
  machine.run(std::chrono::minutes(1));
  EXPECT_EQ(machine.workers_in_use(), 1u);
  EXPECT_EQ(machine.run(std::chrono::minutes(10)), 0u);
}

}  // namespace
}  // namespace heatsink::proxy
