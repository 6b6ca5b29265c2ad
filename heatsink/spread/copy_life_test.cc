// SPDX-License-Identifier: Apache-2.0
// Plays readers, writers and the nodes of copies in virtual time, with messages that are late or
// lost, and judges each read. Protocols that lack one safeguard must be caught.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "heatsink/base/random.h"
#include "heatsink/base/testing/times.h"
#include "heatsink/resp/resp.h"
#include "heatsink/spread/spread.h"

namespace heatsink::spread {
namespace {

constexpr Nanos kLife = Millis(1000);
constexpr std::size_t kCopies = 3;

// What is left out of the protocol.
enum class Without : std::uint8_t { kNothing, kToken, kEndOfLease, kTombstones, kWriteFirst };

struct Faults {
  bool loses_tombstones = false;
};

// One node's key, as a server has it.
class CopyKey {
 public:
  std::string get(TimePoint now) { return now < ends_ ? text_ : std::string(); }
  bool take_lease(const std::string& lease, Nanos life, TimePoint now) {
    if (!get(now).empty()) return false;
    set(lease, now + life);
    return true;
  }
  void fill(const std::string& lease, const std::string& text, TimePoint now, Without without) {
    const std::string before = get(now);
    if (without != Without::kToken && before != lease) return;
    set(text, without == Without::kEndOfLease || before.empty() ? now + kLife : ends_);
  }
  void bury(TimePoint now) { set(std::string(kTombstoneText), now + kTombstone); }

 private:
  void set(const std::string& text, TimePoint ends) {
    text_ = text;
    ends_ = ends;
  }
  std::string text_;
  TimePoint ends_{};
};

class Play {
 public:
  Play(std::uint64_t seed, Without without, Faults faults)
      : random_(seed), without_(without), faults_(faults) {}

  // What was wrong; "": nothing.
  std::string run() {
    for (int i = 0; i < 4; ++i) later(0, [this] { read(); });
    for (int i = 0; i < 2; ++i) later(0, [this] { write(); });
    const TimePoint end = kStart + kLife * 20;
    while (!events_.empty() && now_ < end && fault_.empty()) {
      const auto next = events_.begin();
      now_ = next->first;
      const std::function<void()> what = std::move(next->second);
      events_.erase(next);
      what();
    }
    return fault_;
  }
  int served() const { return served_; }

 private:
  // Most messages take a millisecond; some wait in a stopped node or process.
  Nanos way() {
    const std::uint64_t dice = random_.next() % 100;
    if (dice >= 95) return Nanos(random_.next() % static_cast<std::uint64_t>(3 * kLife.count()));
    return Nanos(random_.next() % 2'000'000);
  }
  void later(std::int64_t least_ms, std::function<void()> what) {
    events_.emplace(now_ + Millis(least_ms) + way(), std::move(what));
  }

  void read() {
    later(static_cast<std::int64_t>(random_.next() % 20), [this] { read(); });
    const std::size_t copy = random_.next() % kCopies;
    later(0, [this, copy, at_least = acknowledged_] { ask_copy(copy, at_least); });
  }
  void ask_copy(std::size_t copy, int at_least) {
    const std::string text = copies_[copy].get(now_);
    if (text.empty()) return take_lease(copy);
    const CopyText parsed = parse_copy(text);
    if (after_copy(parsed.kind) == AfterCopy::kServe)
      judge(static_cast<int>(*resp::parse_decimal(parsed.value)), at_least);
  }
  void take_lease(std::size_t copy) {
    const std::string lease = lease_text(random_.next());
    if (!copies_[copy].take_lease(lease, jittered(kLife, random_.next()), now_)) return;
    if (random_.next() % 20 == 0) return;  // its reader dies
    later(0, [this, copy, lease] {
      later(0, [this, copy, lease, text = value_text(std::to_string(value_))] {
        copies_[copy].fill(lease, text, now_, without_);
      });
    });
  }
  void judge(int value, int at_least) {
    ++served_;
    const auto replaced = replaced_at_.find(value);
    if (replaced != replaced_at_.end() && now_ - replaced->second > kLife)
      fault_ = "a copy is older than its ttl";
    if (!faults_.loses_tombstones && value < at_least)
      fault_ = "an acknowledged write was not seen";
  }

  void write() {
    const auto change = [this] {
      replaced_at_[value_] = now_;
      return ++value_;
    };
    later(30, [this, change] {
      if (without_ != Without::kWriteFirst) return bury_all(change());
      bury_all(value_ + 1);
      later(0, change);
    });
    later(60, [this] { write(); });
  }
  void bury_all(int value) {
    auto left = std::make_shared<std::size_t>(kCopies);
    for (CopyKey& copy : copies_) {
      later(0, [this, &copy, left, value] {
        const bool is_lost = faults_.loses_tombstones && random_.next() % 2 == 0;
        if (without_ != Without::kTombstones && !is_lost) copy.bury(now_);
        if (--*left == 0) acknowledged_ = std::max(acknowledged_, value);
      });
    }
  }

  Random random_;
  const Without without_;
  const Faults faults_;
  TimePoint now_ = kStart;
  std::multimap<TimePoint, std::function<void()>> events_;
  std::array<CopyKey, kCopies> copies_;
  int value_ = 0, acknowledged_ = 0, served_ = 0;
  std::map<int, TimePoint> replaced_at_;
  std::string fault_;
};

int faults_in(int plays, Without without, Faults faults, std::string* first = nullptr) {
  int found = 0, served = 0;
  for (int seed = 1; seed <= plays; ++seed) {
    Play play(static_cast<std::uint64_t>(seed), without, faults);
    const std::string fault = play.run();
    served += play.served();
    found += fault.empty() ? 0 : 1;
    if (!fault.empty() && first != nullptr && first->empty()) *first = fault;
  }
  EXPECT_GT(served, plays) << "copies are served";
  return found;
}

TEST(CopyLife, NoReadMissesAnAcknowledgedWrite) {
  std::string first;
  EXPECT_EQ(faults_in(300, Without::kNothing, {}, &first), 0) << first;
}

TEST(CopyLife, TheTtlIsABoundWhateverIsLost) {
  std::string first;
  EXPECT_EQ(faults_in(300, Without::kNothing, {.loses_tombstones = true}, &first), 0) << first;
}

TEST(CopyLife, EachSafeguardIsNeeded) {
  for (const Without without :
       {Without::kToken, Without::kEndOfLease, Without::kTombstones, Without::kWriteFirst})
    EXPECT_GT(faults_in(300, without, {.loses_tombstones = without == Without::kEndOfLease}), 0)
        << static_cast<int>(without);
}

}  // namespace
}  // namespace heatsink::spread
