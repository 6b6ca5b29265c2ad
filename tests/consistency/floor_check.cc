// SPDX-License-Identifier: Apache-2.0
#include "tests/consistency/floor_check.h"

#include <algorithm>
#include <array>
#include <string>

namespace heatsink::consistency {
namespace {

struct VersionFloor {
  TimePoint height = TimePoint::min();  // when the newest version shown was sent to the server
  const Op* shown = nullptr;            // by this operation
  const Op* own_write = nullptr;        // the session's last

  // REQUIRES that the outcome of `op` is known.
  void raise(const KeyHistory& key, const Op& op) {
    if (op.kind == Kind::kWrite) own_write = &op;
    if (op.kind == Kind::kExpire || op.reads(kNil)) return;
    const TimePoint begun = op.kind == Kind::kRead ? key.find(op.value)->begun() : op.invoked;
    if (begun > height) {
      height = begun;
      shown = &op;
    }
  }
};

class FloorCheck {
 public:
  FloorCheck(const KeyHistory& key, Promise promise, std::size_t most)
      : key_(key), promise_(promise), most_(most) {}

  // False: it has been told.
  bool judge(const Op& read, const VersionFloor& floor) {
    if (read.kind != Kind::kRead || floor.shown == nullptr) return true;
    if (read.value == kNil) {
      if (key_.may_be_missing(floor.height, read.responded)) return true;
      return tell("it was there, and nothing has removed it since", read, {*floor.shown});
    }
    const Version& version = *key_.find(read.value);
    if (version.seen() >= floor.height) return true;
    return tell("something newer had been shown", read, behind(version, floor));
  }

  // Of two own writes in one pipeline only the order tells which is newer.
  void judge_own(const Op& read, const VersionFloor& floor) {
    if (floor.own_write == nullptr || read.kind != Kind::kRead || read.value == kNil) return;
    const Op* write = key_.find(read.value)->write;
    if (write != nullptr && write->session == read.session && write->known() &&
        write->order < floor.own_write->order) {
      tell("its own later write was not seen", read, {*write, *floor.own_write});
    }
  }

  std::vector<Violation> take() { return std::move(found_); }

 private:
  std::vector<Op> behind(const Version& version, const VersionFloor& floor) const {
    std::vector<Op> excerpt = {*version.first, *floor.shown};
    if (floor.shown->kind == Kind::kRead) {
      const Op* made = key_.find(floor.shown->value)->write;
      if (made != nullptr) excerpt.push_back(*made);
    }
    return excerpt;
  }

  bool tell(std::string sentence, const Op& read, std::vector<Op> excerpt) {
    if (found_.size() >= most_) return false;
    excerpt.push_back(read);
    found_.push_back({promise_, std::move(sentence), std::move(excerpt)});
    return false;
  }

  const KeyHistory& key_;
  const Promise promise_;
  const std::size_t most_;
  std::vector<Violation> found_;
};

}  // namespace

std::vector<Violation> check_sessions(const KeyHistory& key, std::size_t most) {
  std::vector<const Op*> ops(key.ops().begin(), key.ops().end());
  std::stable_sort(ops.begin(), ops.end(), [](const Op* a, const Op* b) {
    return a->session != b->session ? a->session < b->session : a->order < b->order;
  });
  FloorCheck check(key, Promise::kSession, most);
  VersionFloor floor;
  const Op* before = nullptr;
  for (const Op* op : ops) {
    if (before == nullptr || before->session != op->session) floor = {};
    before = op;
    if (check.judge(*op, floor)) check.judge_own(*op, floor);
    if (op->known()) floor.raise(key, *op);
  }
  return check.take();
}

std::vector<Violation> check_no_way_back(const KeyHistory& key, std::size_t most) {
  struct Event {
    TimePoint at;
    bool ends;
    const Op* op;
  };
  std::vector<Event> events;
  for (const Op* op : key.ops()) {
    if (op->via == 0) continue;
    events.push_back({op->invoked, false, op});
    if (op->known()) events.push_back({op->responded, true, op});
  }
  // At the same instant they are concurrent: nothing has been shown yet.
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return a.at != b.at ? a.at < b.at : a.ends < b.ends;
  });
  FloorCheck check(key, Promise::kNoWayBack, most);
  std::array<VersionFloor, 256> floors{};  // by proxy
  for (const Event& event : events) {
    VersionFloor& floor = floors[event.op->via];
    if (event.ends) {
      floor.raise(key, *event.op);
    } else {
      check.judge(*event.op, floor);
    }
  }
  return check.take();
}

}  // namespace heatsink::consistency
