// SPDX-License-Identifier: Apache-2.0
#include "tests/consistency/key_history.h"

#include <algorithm>
#include <tuple>

namespace heatsink::consistency {
namespace {

void note(Version& version, const Op& op) {
  if (op.kind == Kind::kWrite && version.write == nullptr) version.write = &op;
  if (version.first == nullptr || op.responded < version.first->responded) version.first = &op;
  const Op*& last = op.cached ? version.last_cached : version.last_firm;
  if (last == nullptr || op.invoked > last->invoked) last = &op;
}

bool has_version(const Op* op) {
  return op->kind == Kind::kWrite || (op->kind == Kind::kRead && op->value != kNil);
}

TimePoint later_by(TimePoint time, Nanos by) { return time == kNever ? kNever : time + by; }

// Of an operation that ends(): the first and the last moment at which that may be. It was
// executed by `seen`.
TimePoint first_end(const Op& op) {
  return (op.life.known() ? op.life.gone_from : op.invoked + op.ttl) - kExpirySlack;
}

TimePoint last_end(const Op& op, TimePoint seen, KeyHistory::Of whose) {
  const TimePoint given = whose == KeyHistory::Of::kServer ? op.life.gone_by : op.life.copies_by;
  return later_by(op.life.known() ? given : later_by(seen, op.ttl), kExpirySlack);
}

}  // namespace

KeyHistory::KeyHistory(std::span<const Op* const> ops) : ops_(ops.begin(), ops.end()) {
  std::vector<const Op*> by_value;
  std::copy_if(ops_.begin(), ops_.end(), std::back_inserter(by_value), has_version);
  std::stable_sort(by_value.begin(), by_value.end(),
                   [](const Op* a, const Op* b) { return a->value < b->value; });
  for (const Op* op : by_value) {
    if (versions_.empty() || versions_.back().value != op->value)
      versions_.push_back({.value = op->value});
    note(versions_.back(), *op);
  }
  removals_.push_back({TimePoint::min(), TimePoint::min()});  // it has not always been there
  for (const Op* op : ops_) {
    if (op->kind == Kind::kErase) {
      add_removal(op->invoked, op->responded);
      successors_.push_back({op->invoked, op->responded});
    } else if (op->ends()) {
      const TimePoint by = last_end(*op, op->responded, Of::kServer);
      add_removal(first_end(*op), by);
      if (op->kind != Kind::kExpire) continue;
      expiries_.push_back({op->invoked, by});
      copy_expiries_.push_back({op->invoked, last_end(*op, op->responded, Of::kCopy)});
    }
  }
  for (const Version& version : versions_)
    if (version.write != nullptr) successors_.push_back({version.begun(), version.seen()});
  std::sort(removals_.begin(), removals_.end(),
            [](const Removal& a, const Removal& b) { return a.begin < b.begin; });
  for (std::size_t i = 1; i < removals_.size(); ++i)
    removals_[i].end = std::max(removals_[i].end, removals_[i - 1].end);
  finish(expiries_);
  finish(copy_expiries_);
  finish(successors_);
  order_versions();
}

void KeyHistory::order_versions() {
  latest_.reserve(versions_.size());
  for (std::size_t i = 0; i < versions_.size(); ++i) latest_.push_back({versions_[i].seen(), i});
  std::sort(latest_.begin(), latest_.end(),
            [](const Latest& a, const Latest& b) { return a.seen < b.seen; });
  for (std::size_t i = 1; i < latest_.size(); ++i) {
    const std::size_t before = latest_[i - 1].version;
    if (versions_[before].begun() > versions_[latest_[i].version].begun())
      latest_[i].version = before;
  }
}

const Version* KeyHistory::latest_before(TimePoint time) const {
  const auto after =
      std::lower_bound(latest_.begin(), latest_.end(), time,
                       [](const Latest& latest, TimePoint wanted) { return latest.seen < wanted; });
  return after == latest_.begin() ? nullptr : &versions_[std::prev(after)->version];
}

void KeyHistory::add_removal(TimePoint begin, TimePoint end) { removals_.push_back({begin, end}); }

void KeyHistory::finish(std::vector<Bound>& bounds) {
  std::sort(bounds.begin(), bounds.end(),
            [](const Bound& a, const Bound& b) { return a.begun < b.begun; });
  for (std::size_t i = bounds.size(); i-- > 1;)
    bounds[i - 1].end = std::min(bounds[i - 1].end, bounds[i].end);
}

// Of those begun after `seen`, the end that comes first.
TimePoint KeyHistory::earliest_after(const std::vector<Bound>& bounds, TimePoint seen) {
  const auto after =
      std::upper_bound(bounds.begin(), bounds.end(), seen,
                       [](TimePoint time, const Bound& bound) { return time < bound.begun; });
  return after == bounds.end() ? kNever : after->end;
}

const Version* KeyHistory::find(std::uint64_t value) const {
  const auto at = std::lower_bound(
      versions_.begin(), versions_.end(), value,
      [](const Version& version, std::uint64_t wanted) { return version.value < wanted; });
  return at == versions_.end() || at->value != value ? nullptr : &*at;
}

bool KeyHistory::may_be_missing(TimePoint from, TimePoint to) const {
  const auto after =
      std::upper_bound(removals_.begin(), removals_.end(), to,
                       [](TimePoint time, const Removal& removal) { return time < removal.begin; });
  return after != removals_.begin() && std::prev(after)->end >= from;
}

TimePoint KeyHistory::own_end(const Version& version, Of whose) {
  if (version.write == nullptr || !version.write->ends()) return kNever;
  return last_end(*version.write, version.seen(), whose);
}

TimePoint KeyHistory::expired_at(const Version& version, Of whose) const {
  return earliest_after(whose == Of::kServer ? expiries_ : copy_expiries_, version.seen());
}

TimePoint KeyHistory::overwritten_at(const Version& version) const {
  return earliest_after(successors_, version.seen());
}

std::vector<KeyHistory> split_by_key(const History& history) {
  std::vector<const Op*> ops;
  ops.reserve(history.size());
  for (const Op& op : history) {
    if (op.kind != Kind::kBarrier && !op.is_of_counter()) ops.push_back(&op);
  }
  std::stable_sort(ops.begin(), ops.end(),
                   [](const Op* a, const Op* b) { return a->key < b->key; });
  std::vector<KeyHistory> keys;
  for (auto begin = ops.begin(); begin != ops.end();) {
    const auto end =
        std::find_if(begin, ops.end(), [&](const Op* op) { return op->key != (*begin)->key; });
    keys.emplace_back(std::span<const Op* const>(&*begin, static_cast<std::size_t>(end - begin)));
    begin = end;
  }
  return keys;
}

}  // namespace heatsink::consistency
