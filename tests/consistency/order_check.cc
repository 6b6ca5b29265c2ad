// SPDX-License-Identifier: Apache-2.0
#include "tests/consistency/order_check.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>
#include <utility>

namespace heatsink::consistency {
namespace {

// What comes next is of this moment or later.
struct TimeFloor {
  TimePoint height = TimePoint::min();
  const Op* set_by = nullptr;

  void raise(TimePoint moment, const Op& op) {
    if (moment <= height) return;
    height = moment;
    set_by = &op;
  }
};

// By session, and in each by its program's order.
void sort_by_program(std::vector<const Op*>& ops) {
  std::stable_sort(ops.begin(), ops.end(), [](const Op* a, const Op* b) {
    return a->session != b->session ? a->session < b->session : a->order < b->order;
  });
}

class OrderCheck {
 public:
  OrderCheck(const std::vector<KeyHistory>& keys, Promise promise, std::size_t most)
      : promise_(promise), most_(most) {
    for (const KeyHistory& key : keys) keys_[key.ops().front()->key] = &key;
  }

  // Not before this moment was the server's state what the operation says. REQUIRES that its
  // outcome is known.
  TimePoint earliest(const Op& op) const {
    TimePoint moment = op.cached ? TimePoint::min() : op.invoked;
    if (op.kind == Kind::kRead && op.value != kNil)
      moment = std::max(moment, keys_.at(op.key)->find(op.value)->begun());
    return moment;
  }

  void judge(const Op& read, const TimeFloor& floor) {
    if (read.kind != Kind::kRead || floor.set_by == nullptr || found_.size() >= most_) return;
    const KeyHistory& key = *keys_.at(read.key);
    if (read.value == kNil) {
      judge_nil(key, read, floor);
      return;
    }
    const Version& version = *key.find(read.value);
    if (std::max(key.overwritten_at(version), read.shown_until) < floor.height)
      tell("it had been replaced before that", {*version.first, *floor.set_by, read});
  }

  std::vector<Violation> take() { return std::move(found_); }

 private:
  void judge_nil(const KeyHistory& key, const Op& read, const TimeFloor& floor) {
    const Version* there = key.latest_before(floor.height);
    if (there == nullptr || key.may_be_missing(there->begun(), read.responded)) return;
    if (read.shown_until >= floor.height) return;
    tell("it was there, and nothing has removed it", {*there->first, *floor.set_by, read});
  }

  void tell(std::string sentence, std::vector<Op> excerpt) {
    found_.push_back({promise_, std::move(sentence), std::move(excerpt)});
  }

  std::unordered_map<std::uint32_t, const KeyHistory*> keys_;
  const Promise promise_;
  const std::size_t most_;
  std::vector<Violation> found_;
};

std::vector<const Op*> all_of(const std::vector<KeyHistory>& keys) {
  std::vector<const Op*> ops;
  for (const KeyHistory& key : keys) ops.insert(ops.end(), key.ops().begin(), key.ops().end());
  return ops;
}

}  // namespace

std::vector<Violation> check_session_order(const std::vector<KeyHistory>& keys, std::size_t most) {
  std::vector<const Op*> ops = all_of(keys);
  sort_by_program(ops);
  OrderCheck check(keys, Promise::kSessionOrder, most);
  TimeFloor floor;
  const Op* before = nullptr;
  for (const Op* op : ops) {
    if (before == nullptr || before->session != op->session) floor = {};
    before = op;
    check.judge(*op, floor);
    if (op->known()) floor.raise(check.earliest(*op), *op);
  }
  return check.take();
}

std::vector<Violation> check_barriers(const History& history, const std::vector<KeyHistory>& keys,
                                      std::size_t most) {
  std::vector<const Op*> ops = all_of(keys);
  std::vector<const Op*> barriers;
  for (const Op& op : history) {
    if (op.kind == Kind::kBarrier && op.known()) barriers.push_back(&op);
  }
  OrderCheck check(keys, Promise::kBarrier, most);

  // By the clock, for all clients of a proxy.
  std::sort(barriers.begin(), barriers.end(),
            [](const Op* a, const Op* b) { return a->responded < b->responded; });
  std::stable_sort(ops.begin(), ops.end(),
                   [](const Op* a, const Op* b) { return a->invoked < b->invoked; });
  std::array<TimeFloor, 256> floors{};  // by proxy
  auto next = barriers.begin();
  for (const Op* op : ops) {
    for (; next != barriers.end() && (*next)->responded < op->invoked; ++next)
      floors[(*next)->via].raise((*next)->invoked, **next);
    if (op->via != 0) check.judge(*op, floors[op->via]);
  }

  // By the program, within a session.
  ops.insert(ops.end(), barriers.begin(), barriers.end());
  sort_by_program(ops);
  TimeFloor floor;
  const Op* before = nullptr;
  for (const Op* op : ops) {
    if (before == nullptr || before->session != op->session) floor = {};
    before = op;
    if (op->kind == Kind::kBarrier) {
      floor.raise(op->invoked, *op);
    } else {
      check.judge(*op, floor);
    }
  }
  return check.take();
}

}  // namespace heatsink::consistency
