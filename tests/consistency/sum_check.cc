// SPDX-License-Identifier: Apache-2.0
#include "tests/consistency/sum_check.h"

#include <algorithm>
#include <map>
#include <string>

namespace heatsink::consistency {
namespace {

using Ops = std::vector<const Op*>;

// What was certainly added, what may have been added, and the largest sum, as time goes on.
class Counter {
 public:
  explicit Counter(std::size_t most) : most_(most) {}

  std::vector<Violation> check(const Ops& ops) {
    struct Event {
      TimePoint at;
      bool ends;
      const Op* op;
    };
    std::vector<Event> events;
    for (const Op* const op : ops) {
      events.push_back({op->invoked, false, op});
      if (op->known()) events.push_back({op->responded, true, op});
    }
    // At the same instant they are concurrent: what begins may count for what ends.
    std::ranges::sort(events, [](const Event& a, const Event& b) {
      return a.at != b.at ? a.at < b.at : a.ends < b.ends;
    });
    for (const Event& event : events) event.ends ? end(*event.op) : begin(*event.op);
    return std::move(found_);
  }

 private:
  struct Floor {
    std::uint64_t added = 0;      // by what had been answered
    const Op* largest = nullptr;  // of the sums that had been answered
  };

  void begin(const Op& op) {
    if (op.kind == Kind::kAdd) sent_ += op.value;
    if (op.kind == Kind::kSum) floors_[&op] = {answered_, largest_};
  }

  void end(const Op& op) {
    if (op.kind == Kind::kAdd) answered_ += op.value;
    if (op.kind != Kind::kSum) return;
    const Floor floor = floors_[&op];
    floors_.erase(&op);
    if (op.value < floor.added)
      tell("at least " + std::to_string(floor.added) + " had been added", op);
    else if (op.value > sent_)
      tell("no more than " + std::to_string(sent_) + " had been sent to be added", op);
    else if (floor.largest != nullptr && op.value < floor.largest->value)
      tell("a larger sum had been read", op, floor.largest);
    if (largest_ == nullptr || op.value > largest_->value) largest_ = &op;
  }

  void tell(std::string sentence, const Op& op, const Op* before = nullptr) {
    if (found_.size() >= most_) return;
    std::vector<Op> excerpt = {op};
    if (before != nullptr) excerpt.insert(excerpt.begin(), *before);
    found_.push_back({Promise::kSum, std::move(sentence), std::move(excerpt)});
  }

  const std::size_t most_;
  std::uint64_t sent_ = 0;
  std::uint64_t answered_ = 0;
  const Op* largest_ = nullptr;
  std::map<const Op*, Floor> floors_;  // of the sums that have been asked for
  std::vector<Violation> found_;
};

}  // namespace

std::vector<Violation> check_sums(const History& history, std::size_t most) {
  std::map<std::uint32_t, Ops> counters;
  for (const Op& op : history)
    if (op.is_of_counter()) counters[op.key].push_back(&op);
  std::vector<Violation> all;
  for (const auto& [key, ops] : counters) {
    std::vector<Violation> found = Counter(most).check(ops);
    std::ranges::move(found, std::back_inserter(all));
  }
  return all;
}

}  // namespace heatsink::consistency
