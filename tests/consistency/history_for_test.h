// SPDX-License-Identifier: Apache-2.0
// Hand-made histories: times in ms from an hour after the clock began.
#pragma once

#include <chrono>

#include "tests/consistency/op.h"

namespace heatsink::consistency {

inline TimePoint at(double ms) {
  return TimePoint(std::chrono::hours(1)) +
         std::chrono::round<Nanos>(std::chrono::duration<double, std::milli>(ms));
}

class HistoryMaker {
 public:
  HistoryMaker& on(std::uint32_t session, std::uint8_t via = 1) {
    session_ = session;
    via_ = via;
    return *this;
  }
  HistoryMaker& of(std::uint32_t key) {
    key_ = key;
    return *this;
  }
  HistoryMaker& read(std::uint64_t value, double from, double to) {
    add(Kind::kRead, value, from, at(to));
    history.back().cached = via_ != 0;
    return *this;
  }
  HistoryMaker& server_read(std::uint64_t value, double from, double to) {
    return add(Kind::kRead, value, from, at(to));
  }
  HistoryMaker& write(std::uint64_t value, double from, double to, int ttl_ms = 0) {
    add(Kind::kWrite, value, from, at(to));
    history.back().ttl = Millis(ttl_ms);
    return *this;
  }
  HistoryMaker& lost_write(std::uint64_t value, double from) {
    return add(Kind::kWrite, value, from, kNever);
  }
  HistoryMaker& erase(double from, double to) { return add(Kind::kErase, kNil, from, at(to)); }
  HistoryMaker& lost_erase(double from) { return add(Kind::kErase, kNil, from, kNever); }
  HistoryMaker& expire(int ttl_ms, double from, double to) {
    add(Kind::kExpire, kNil, from, at(to));
    history.back().ttl = Millis(ttl_ms);
    return *this;
  }

  HistoryMaker& add(std::uint64_t amount, double from, double to) {
    return add(Kind::kAdd, amount, from, at(to));
  }
  HistoryMaker& lost_add(std::uint64_t amount, double from) {
    return add(Kind::kAdd, amount, from, kNever);
  }
  HistoryMaker& sum(std::uint64_t value, double from, double to) {
    return add(Kind::kSum, value, from, at(to));
  }

  HistoryMaker& barrier(double from, double to) {
    add(Kind::kBarrier, kNil, from, at(to));
    history.back().key = kNoKey;
    return *this;
  }

  History history;

 private:
  HistoryMaker& add(Kind kind, std::uint64_t value, double from, TimePoint to) {
    Op op;
    op.kind = kind;
    op.value = value;
    op.invoked = at(from);
    op.responded = to;
    op.key = key_;
    op.session = session_;
    op.via = via_;
    op.order = static_cast<std::uint32_t>(history.size());
    history.push_back(op);
    return *this;
  }

  std::uint32_t session_ = 1;
  std::uint8_t via_ = 1;
  std::uint32_t key_ = 0;
};

}  // namespace heatsink::consistency
