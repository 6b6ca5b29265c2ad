// SPDX-License-Identifier: Apache-2.0
// The zones against a search through every order: random small histories of one register.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/consistency/history_for_test.h"
#include "tests/consistency/register_check.h"
#include "tests/consistency/violation.h"

namespace heatsink::consistency {
namespace {

// Tries every operation that nothing still to come precedes. One of unknown outcome may be left
// out.
bool can_follow(const History& ops, std::vector<bool>& done, std::uint64_t value) {
  bool all = true;
  for (std::size_t i = 0; i < ops.size(); ++i) all = all && (done[i] || !ops[i].known());
  if (all) return true;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (done[i]) continue;
    bool next = true;
    for (std::size_t j = 0; j < ops.size(); ++j)
      next = next && (done[j] || ops[j].responded >= ops[i].invoked);
    if (!next || (ops[i].kind == Kind::kRead && ops[i].value != value)) continue;
    const bool reads = ops[i].kind == Kind::kRead;
    done[i] = true;
    const bool found = can_follow(ops, done, reads ? value : ops[i].value);
    done[i] = false;
    if (found) return true;
  }
  return false;
}

bool is_linearizable(const History& ops) {
  std::vector<bool> done(ops.size());
  return can_follow(ops, done, kNil);
}

History random_history(std::mt19937& dice, bool with_nil) {
  const auto pick = [&dice](int below) {
    return static_cast<int>(dice() % static_cast<unsigned>(below));
  };
  HistoryMaker maker;
  const int count = 2 + pick(6);
  std::uint64_t written = 0;
  for (int i = 0; i < count; ++i) {
    const double from = pick(12);
    const double to = from + pick(6);
    const int kind = pick(10);
    if (written == 0 || kind < 3) {
      pick(8) == 0 ? maker.lost_write(++written, from) : maker.write(++written, from, to);
    } else if (with_nil && kind < 5) {
      pick(8) == 0 ? maker.lost_erase(from) : maker.erase(from, to);
    } else {
      const auto read = static_cast<std::uint64_t>(pick(static_cast<int>(written) + 1));
      maker.read(read == 0 && !with_nil ? 1 : read, from, to);
    }
  }
  return maker.history;
}

std::string describe(const History& history) {
  return to_text({Promise::kRegister, "a random history", history});
}

std::vector<Violation> check(const History& history) {
  return check_register(split_by_key(history).front(), Nanos(0), 1);
}

TEST(BruteForce, WithoutNilTheZonesAreExact) {
  std::mt19937 dice(1);
  int right = 0;
  constexpr int kRounds = 20'000;
  for (int i = 0; i < kRounds; ++i) {
    const History history = random_history(dice, false);
    const bool linearizable = is_linearizable(history);
    ASSERT_EQ(check(history).empty(), linearizable) << describe(history);
    right += linearizable;
  }
  EXPECT_GT(right, kRounds / 10);
  EXPECT_LT(right, kRounds * 9 / 10);
}

TEST(BruteForce, WithNilTheyAccuseNoHistoryThatIsRight) {
  std::mt19937 dice(2);
  int wrong = 0;
  int caught = 0;
  for (int i = 0; i < 20'000; ++i) {
    const History history = random_history(dice, true);
    const bool linearizable = is_linearizable(history);
    const bool accepted = check(history).empty();
    ASSERT_TRUE(accepted || !linearizable) << describe(history);
    wrong += !linearizable;
    caught += !accepted;
  }
  EXPECT_GT(caught, wrong * 9 / 10) << "of " << wrong;
}

}  // namespace
}  // namespace heatsink::consistency
