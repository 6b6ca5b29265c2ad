// SPDX-License-Identifier: Apache-2.0
#include "tests/consistency/register_check.h"

#include <algorithm>
#include <string>

namespace heatsink::consistency {
namespace {

struct Zone {
  TimePoint low, high;
  const Op* first;  // ended first
  const Op* last;   // begun last
};

class RegisterCheck {
 public:
  RegisterCheck(const KeyHistory& key, Nanos staleness, std::size_t most)
      : key_(key), staleness_(staleness), most_(most) {}

  std::vector<Violation> run() {
    for (const Version& version : key_.versions()) place(version);
    std::sort(forward_.begin(), forward_.end(),
              [](const Zone& a, const Zone& b) { return a.low < b.low; });
    overlaps();
    for (const Zone& zone : backward_) within(zone.low, zone.high, *zone.first, *zone.last);
    nils();
    return std::move(found_);
  }

 private:
  TimePoint begin(const Op& op) const { return op.cached ? op.invoked - staleness_ : op.invoked; }

  void tell(Promise promise, std::string sentence, std::vector<Op> excerpt) {
    if (found_.size() < most_) found_.push_back({promise, std::move(sentence), std::move(excerpt)});
  }

  void place(const Version& version) {
    if (version.write == nullptr)
      return tell(Promise::kWritten, "nobody wrote this", {*version.first});
    if (version.seen() < version.begun())
      return tell(Promise::kWritten, "it was read before it was written",
                  {*version.first, *version.write});
    if (version.seen() == kNever) return;  // perhaps it never happened
    const Op* last = version.last_firm;
    const Op* cached = version.last_cached;
    if (cached != nullptr && begin(*cached) > last->invoked) last = cached;
    const TimePoint needed = begin(*last);
    if (version.seen() < needed) {
      forward_.push_back({version.seen(), needed, version.first, last});
    } else {
      backward_.push_back({needed, version.seen(), version.first, last});
    }
  }

  void overlaps() {
    const Zone* widest = nullptr;  // of those before, the one that ends last
    for (const Zone& zone : forward_) {
      if (widest != nullptr && zone.low < widest->high) {
        tell(Promise::kRegister, "one value was there, another too, and the first was read again",
             {*widest->first, *widest->last, *zone.first, *zone.last});
      }
      if (widest == nullptr || zone.high > widest->high) widest = &zone;
    }
  }

  void within(TimePoint low, TimePoint high, const Op& one, const Op& other) {
    const auto after =
        std::lower_bound(forward_.begin(), forward_.end(), low,
                         [](const Zone& zone, TimePoint time) { return zone.low < time; });
    if (after == forward_.begin()) return;
    const Zone& zone = *std::prev(after);
    if (high >= zone.high) return;
    std::vector<Op> excerpt = {*zone.first, *zone.last, one};
    if (&one != &other) excerpt.push_back(other);
    tell(Promise::kRegister, "a value was read that had been replaced", std::move(excerpt));
  }

  // A successful removal, too, says that there was no such key at some moment.
  void nils() {
    for (const Op* op : key_.ops()) {
      if (op->reads(kNil) || (op->kind == Kind::kErase && op->known()))
        within(begin(*op), op->responded, *op, *op);
      if (!op->reads(kNil)) continue;
      const Version* shown = key_.latest_before(begin(*op));
      if (shown != nullptr && !key_.may_be_missing(shown->begun(), op->responded))
        tell(Promise::kRemoval, "it was there, and nothing has removed it", {*shown->write, *op});
    }
  }

  const KeyHistory& key_;
  const Nanos staleness_;
  const std::size_t most_;
  std::vector<Zone> forward_;  // by low
  std::vector<Zone> backward_;
  std::vector<Violation> found_;
};

}  // namespace

std::vector<Violation> check_register(const KeyHistory& key, Nanos staleness, std::size_t most) {
  return RegisterCheck(key, staleness, most).run();
}

}  // namespace heatsink::consistency
