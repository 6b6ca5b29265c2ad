// SPDX-License-Identifier: Apache-2.0
// Accuracy on traffic that nobody here made; skipped where the traces are not at hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "heatsink/detect/recorder.h"
#include "heatsink/detect/selector.h"
#include "heatsink/detect/window_model.h"

namespace heatsink::detect {
namespace {

using std::chrono::seconds;

// $HEATSINK_TRACES, or shared/traces beside the project.
std::filesystem::path trace_path(const std::string& name) {
  if (const char* folder = std::getenv("HEATSINK_TRACES"))
    return std::filesystem::path(folder) / name;
  return std::filesystem::path(HEATSINK_SOURCE_DIR) / ".." / "shared" / "traces" / name;
}

std::string why_absent(const std::string& name) {
  if (!std::filesystem::exists(trace_path(name))) {
    return "no trace " + trace_path(name).string() + "; set HEATSINK_TRACES to its folder";
  }
  if (std::system("zstd --version > /dev/null 2>&1") != 0)
    return "no zstd on the PATH to unpack it";
  return "";
}

// Calls `each` with the key of every line ("t_ms,key,op,size"); the traces used here give only the
// order.
void for_each_key(const std::string& name, const std::function<void(std::string_view)>& each) {
  const std::string command = "zstd -dcq '" + trace_path(name).string() + "'";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  char line[4096];
  std::fgets(line, sizeof(line), pipe.get());  // the header
  while (std::fgets(line, sizeof(line), pipe.get()) != nullptr) {
    const std::string_view text(line);
    const std::size_t begin = text.find(',') + 1;
    each(text.substr(begin, text.find(',', begin) - begin));
  }
}

struct Accuracy {
  std::size_t asked = 0, right = 0;    // of the `top` keys named at each look
  std::size_t hot = 0, hot_named = 0;  // keys with >= 0.05 % of the window; so proven
  double precision() const { return static_cast<double>(right) / static_cast<double>(asked); }
};

// Replays at 100 000 accesses per second and looks every 2.5 s from the first full window on.
class Replay {
 public:
  explicit Replay(std::size_t top) : top_(top) {}

  void access(std::string_view key) {
    const Access access{in_db(hash_name(key, 7), 0), key};
    recorder_.record(access, now_);
    model_.record(access, now_);
    now_ += std::chrono::microseconds(10);
    if (now_ < next_look_) return;
    next_look_ += std::chrono::milliseconds(2500);
    look();
  }

  const Accuracy& accuracy() const { return accuracy_; }

 private:
  void look() {
    Summary summary = recorder_.summarize(now_, 4096);
    model_.advance(now_);
    ASSERT_EQ(summary.requests, model_.total().accesses());
    std::stable_sort(summary.keys.begin(), summary.keys.end(),
                     [](const KeyCount& a, const KeyCount& b) { return a.low > b.low; });
    const std::uint64_t nth = model_.nth(top_);
    const std::uint64_t hot = std::max<std::uint64_t>(summary.requests / 2000, 1);
    for (std::size_t i = 0; i < summary.keys.size(); ++i) {
      const std::uint64_t truth = model_.of(summary.keys[i].hash).accesses();
      ASSERT_LE(summary.keys[i].low, truth);
      ASSERT_GE(summary.keys[i].high, truth);
      if (i < top_) accuracy_.right += truth >= nth ? 1 : 0;
      if (summary.keys[i].low >= hot) ++accuracy_.hot_named;
    }
    accuracy_.asked += top_;
    for (const auto& [hash, count] : model_.keys())
      accuracy_.hot += count.accesses() >= hot ? 1U : 0U;
  }

  std::size_t top_;
  TimePoint now_{seconds(100)};
  TimePoint next_look_{seconds(110)};
  Recorder recorder_{RecorderOptions{}};
  WindowModel model_{seconds(10), 10};
  Accuracy accuracy_;
};

class Traces : public testing::Test {
 protected:
  static Accuracy replay(const std::string& name, std::size_t top) {
    Replay replay(top);
    for_each_key(name, [&](std::string_view key) { replay.access(key); });
    const Accuracy accuracy = replay.accuracy();
    RecordProperty("precision_at_" + std::to_string(top), std::to_string(accuracy.precision()));
    return accuracy;
  }
};

TEST_F(Traces, OrmBusyLoopsAndBursts) {
  const std::string name = "cache2k-orm-busy.csv.zst";
  if (const std::string why = why_absent(name); !why.empty()) GTEST_SKIP() << why;
  const Accuracy accuracy = replay(name, 100);
  EXPECT_GE(accuracy.precision(), 0.99);
  EXPECT_GT(accuracy.hot, 1000u);
  EXPECT_GE(static_cast<double>(accuracy.hot_named), 0.99 * static_cast<double>(accuracy.hot));
  EXPECT_LE(accuracy.hot_named, accuracy.hot);  // what is proven is true
}

TEST_F(Traces, ScarabDeepIntoTheTail) {
  const std::string name = "scarab-recs.csv.zst";
  if (const std::string why = why_absent(name); !why.empty()) GTEST_SKIP() << why;
  EXPECT_GE(replay(name, 100).precision(), 0.99);
  EXPECT_GE(replay(name, 1000).precision(), 0.99);
}

// Look-ups without any hot key, at 10 000 per second: with thresholds of 0.2 % and 0.05 % of the
// traffic no verdict may appear.
TEST_F(Traces, CordaHasNothingHot) {
  const std::string name = "corda-vaultservice.csv.zst";
  if (const std::string why = why_absent(name); !why.empty()) GTEST_SKIP() << why;
  Recorder recorder(RecorderOptions{});
  Selector selector({.rules = RuleSet(Rule{.hot = 20, .warm = 5})});
  TimePoint now{seconds(100)};
  std::size_t accesses = 0;
  for_each_key(name, [&](std::string_view key) {
    recorder.record({in_db(hash_name(key, 7), 0), key}, now);
    now += std::chrono::microseconds(100);
    if (++accesses % 2000 != 0) return;
    EXPECT_TRUE(selector.update(recorder.summarize(now, 4096)).empty());
    EXPECT_TRUE(selector.verdicts().empty()) << selector.verdicts().front().reason;
  });
  EXPECT_GT(accesses, 100'000u);
}

}  // namespace
}  // namespace heatsink::detect
