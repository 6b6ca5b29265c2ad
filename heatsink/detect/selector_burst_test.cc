// SPDX-License-Identifier: Apache-2.0
// How soon the selector reports a key that becomes busy suddenly, with workers and ticks in virtual
// time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <optional>
#include <string>

#include "heatsink/detect/access_for_test.h"
#include "heatsink/detect/node_for_test.h"
#include "heatsink/detect/selector.h"

namespace heatsink::detect {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr double kHot = 3000;
constexpr Nanos kRuleWindow = seconds(10);

struct Jump {
  double times_hot;
  std::size_t workers = 1;
  Nanos watched = seconds(25);  // before the jump
  Nanos phase{};                // of the jump, after a tick
};

// A hundred keys at 20 per second each, and one that begins at `jump.times_hot` x the threshold.
// When was it reported?
std::optional<Nanos> time_to_detect(const SelectorOptions& options, const Jump& jump,
                                    Nanos patience) {
  NodeForTest node(options, jump.workers, kStart);
  const TimePoint jumps_at = kStart + jump.watched + jump.phase;
  const Nanos every(static_cast<Nanos::rep>(1e9 / (kHot * jump.times_hot)));
  constexpr Nanos kBackground = std::chrono::microseconds(500);
  TimePoint background = kStart;
  TimePoint next = jumps_at;
  for (std::size_t i = 0; next < jumps_at + patience; ++i) {
    const bool is_jump = next < background;
    node.go_to(is_jump ? next : background);
    node.record(i % jump.workers, is_jump ? "jump" : "k" + std::to_string(i % 100));
    (is_jump ? next : background) += is_jump ? every : kBackground;
    if (!node.told().empty()) {
      EXPECT_EQ(node.told().front().change.verdict.count.key, "jump");
    }
    for (const NodeForTest::Told& told : node.told()) {
      if (told.change.kind == Change::Kind::kPromote) return told.at - jumps_at;
    }
  }
  return std::nullopt;
}

Nanos shortest(double times_hot) {
  return Nanos(static_cast<Nanos::rep>(static_cast<double>(kRuleWindow.count()) / times_hot));
}

class TimeToDetect : public testing::TestWithParam<double> {};

TEST_P(TimeToDetect, IsNearTheShortestPossible) {
  for (const std::size_t workers : {1U, 2U, 3U}) {
    for (const Nanos watched :
         {Nanos(seconds(1)), Nanos(seconds(25)), Nanos(milliseconds(26'400))}) {
      for (const Nanos phase : {Nanos(0), Nanos(milliseconds(1)), Nanos(milliseconds(63))}) {
        const double times_hot = GetParam();
        const std::optional<Nanos> took =
            time_to_detect({}, {times_hot, workers, watched, phase}, seconds(7));
        ASSERT_TRUE(took);
        EXPECT_LE(*took, shortest(times_hot) * 12 / 10 + milliseconds(10))
            << workers << " workers, " << Milliseconds(watched + phase).count() << " ms";
        if (times_hot >= 100) {
          EXPECT_LE(*took, milliseconds(50));
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Jumps, TimeToDetect,
                         testing::Values(2.0, 4.0, 10.0, 20.0, 24.0, 30.0, 50.0, 100.0, 400.0));

TEST(Burst, A100FoldJumpIsToldAtAQuarterOfTheEvidence) {
  const std::optional<Nanos> took =
      time_to_detect({}, {.times_hot = 100, .phase = milliseconds(63)}, seconds(1));
  ASSERT_TRUE(took);
  EXPECT_LE(*took, milliseconds(26));
  // Without: when the window holds hot-qps x the time that it covers.
  const std::optional<Nanos> proven =
      time_to_detect({.burst = 0}, {.times_hot = 100, .phase = milliseconds(63)}, seconds(1));
  ASSERT_TRUE(proven);
  EXPECT_GE(*proven, milliseconds(90));
}

TEST(Burst, IsNotForRulesThatWantConfirmation) {
  const SelectorOptions options{.rules = RuleSet(Rule{.confirm_windows = 2})};
  EXPECT_FALSE(time_to_detect(options, {.times_hot = 100}, seconds(5)));
}

KeyCount count_of(const std::string& name, std::uint64_t low, std::uint64_t writes = 0) {
  KeyCount count;
  count.hash = in_db(hash_name(name, 1), 0);
  count.key = name;
  count.low = count.high = low;
  count.writes = writes;
  count.reads = low - writes;
  return count;
}

Summary whole_window(Nanos at, std::vector<KeyCount> keys, std::uint64_t absent_max = 0) {
  Summary summary;
  summary.at = kStart + at;
  summary.window = summary.covered = kRuleWindow;
  summary.covers_window = true;
  summary.absent_max = absent_max;
  for (const KeyCount& count : keys) summary.requests += count.low;
  summary.keys = std::move(keys);
  return summary;
}

bool is_hot(const Selector& selector) {
  return !selector.verdicts().empty() &&
         selector.verdicts().front().temperature == Temperature::kHot;
}

TEST(Burst, SaysWhatItSaw) {
  Selector selector({});
  selector.update(whole_window(seconds(0), {}, 1000));
  const auto changes = selector.update(whole_window(milliseconds(40), {count_of("a", 7600)}));
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].kind, Change::Kind::kPromote);
  EXPECT_EQ(changes[0].verdict.reason,
            "6600 accesses more within 40 ms: a burst, 25 % of hot-qps 3000 in one window");
  // It keeps that reason, and its residence, even if nothing follows.
  EXPECT_TRUE(selector.update(whole_window(seconds(9), {count_of("a", 7600)})).empty());
  EXPECT_EQ(selector.verdicts().front().reason, changes[0].verdict.reason);
  EXPECT_EQ(selector.update(whole_window(seconds(11), {}, 1000)).size(), 1u);
}

TEST(Burst, NeedsAGainThatIsProvenAndFast) {
  const struct {
    const char* why;
    Nanos between;
    std::uint64_t before, absent_max, after, writes;
    bool hot;
  } rows[] = {
      {"all of it new", milliseconds(100), 0, 0, 7500, 0, true},
      {"three quarters new", milliseconds(200), 1875, 0, 7500, 0, true},
      {"less is new", milliseconds(100), 1876, 0, 7500, 0, false},
      {"less than the part", milliseconds(100), 0, 0, 7499, 0, false},
      {"too slow", milliseconds(201), 0, 0, 7500, 0, false},
      {"may have had it before", milliseconds(100), 0, 1876, 7500, 0, false},
      {"mostly written", milliseconds(100), 0, 0, 7500, 700, false},
  };
  for (const auto& row : rows) {
    Selector selector({});
    std::vector<KeyCount> before;
    if (row.before > 0) before.push_back(count_of("a", row.before));
    selector.update(whole_window(seconds(0), before, row.absent_max));
    selector.update(whole_window(row.between, {count_of("a", row.after, row.writes)}));
    EXPECT_EQ(is_hot(selector), row.hot) << row.why;
  }
}

TEST(Burst, NothingIsKnownBeforeTheFirstSighting) {
  Selector selector({});
  selector.update(whole_window(seconds(0), {count_of("a", 20'000)}));
  EXPECT_FALSE(is_hot(selector));
}

// Updates come as often as other keys ring: the gain is still measured over half a span at least.
TEST(Burst, IsSeenThroughManyUpdates) {
  Selector selector({});
  int told_at_ms = -1;
  for (int ms = 0; ms < 60 && told_at_ms < 0; ++ms) {
    const std::uint64_t count = 300 * static_cast<std::uint64_t>(ms);
    selector.update(whole_window(milliseconds(ms), {count_of("a", count)}));
    if (is_hot(selector)) told_at_ms = ms;
  }
  EXPECT_EQ(told_at_ms, 25);
}

// A key that is cut off a list and comes back has gained nothing that is proven.
TEST(Burst, ComingBackIntoTheListIsNone) {
  Selector selector({});
  for (int i = 0; i < 50; ++i) {
    const bool is_listed = i % 2 == 0;
    std::vector<KeyCount> keys;
    if (is_listed) keys.push_back(count_of("a", 15'000));
    selector.update(whole_window(milliseconds(i * 50), keys, 15'000));
    EXPECT_FALSE(is_hot(selector));
  }
}

// A key that is hot by its reads and is then written 1000 times a second. When was it told to be
// write-hot?
std::optional<Nanos> time_to_demote(int reads_per_second, std::size_t workers) {
  Rule rule;
  rule.hot = 500;
  NodeForTest node({.rules = RuleSet(rule)}, workers, kStart);
  const TimePoint written_from = kStart + seconds(12);
  const Nanos read_every(1'000'000'000 / reads_per_second);
  constexpr Nanos kWriteEvery = milliseconds(1);
  TimePoint read = kStart, write = written_from;
  for (std::size_t i = 0; std::min(read, write) < written_from + seconds(20); ++i) {
    const bool is_read = read < write;
    node.go_to(is_read ? read : write);
    node.record(i % workers, "k", is_read ? AccessKind::kRead : AccessKind::kWrite);
    (is_read ? read : write) += is_read ? read_every : kWriteEvery;
    for (const NodeForTest::Told& told : node.told()) {
      if (told.change.verdict.temperature == Temperature::kWriteHot) return told.at - written_from;
    }
  }
  return std::nullopt;
}

// Behind it are the reads of a whole window, and write-hot-ratio asks for a tenth as many writes:
// of R reads a second that takes R / 1000 seconds, and a tick.
TEST(TimeToDemote, AHotKeyThatIsWrittenIsGivenUpAsSoonAsItsWritesAreATenthOfItsReads) {
  for (const std::size_t workers : {1U, 2U}) {
    for (const int reads : {1'000, 3'300, 9'000}) {
      const std::optional<Nanos> took = time_to_demote(reads, workers);
      ASSERT_TRUE(took) << reads;
      EXPECT_LE(*took, milliseconds(reads) + milliseconds(100)) << reads;
      std::printf("%d reads/s, %zu workers: %.0f ms\n", reads, workers,
                  Milliseconds(*took).count());
    }
  }
}

}  // namespace
}  // namespace heatsink::detect
