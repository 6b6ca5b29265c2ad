// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/restorations.h"

#include <charconv>
#include <chrono>
#include <optional>
#include <string>

namespace heatsink::simulation {
namespace {

using consistency::Kind;
using consistency::Op;

struct Held {
  std::uint64_t value = consistency::kNil;
  std::optional<TimePoint> ends;

  bool operator==(const Held&) const = default;
};

Held held(const ModelDatabases& databases, std::uint32_t db, const std::string& name,
          TimePoint wall) {
  const auto keys = databases.find(db);
  if (keys == databases.end()) return {};
  const auto found = keys->second.find(name);
  if (found == keys->second.end() || found->second.text() == nullptr) return {};
  Held out{.ends = found->second.ends};
  if (out.ends && *out.ends < wall) return {};
  const std::string& text = *found->second.text();
  std::from_chars(text.data(), text.data() + text.size(), out.value);
  return out;
}

}  // namespace

void Restorations::note(const ModelDatabases& before, const ModelDatabases& after,
                        const WallClock& clock, TimePoint from, TimePoint to) {
  const TimePoint wall = clock.at(from);
  Op op;
  op.session = ++recorder_.last_session;
  op.invoked = from;
  op.responded = to;
  for (const std::uint32_t key : recorder_.keys) {
    const std::uint32_t db = key / consistency::Recorder::kKeysPerDb;
    const Held old = held(before, db, recorder_.name(key), wall);
    const Held restored = held(after, db, recorder_.name(key), wall);
    if (old == restored) continue;
    op.key = key;
    ++op.order;
    if (restored.value == consistency::kNil) {
      op.kind = Kind::kErase;
      op.value = consistency::kNil;
      op.ttl = Millis(0);
    } else {
      op.kind = Kind::kWrite;
      op.value = (std::uint64_t{op.session} << 32) | op.order;
      // At least one: 0 is none at all.
      op.ttl =
          restored.ends ? std::chrono::ceil<Millis>(*restored.ends - wall) + Millis(1) : Millis(0);
      returns_[{key, restored.value}].push_back({from, to, op.value});
    }
    recorder_.add(op);
  }
}

consistency::History Restorations::told_apart() const {
  if (returns_.empty()) return recorder_.history;
  consistency::History out;
  out.reserve(recorder_.history.size());
  for (Op op : recorder_.history) {
    const auto known = op.kind == Kind::kRead ? returns_.find({op.key, op.value}) : returns_.end();
    bool is_either = false;
    if (known != returns_.end()) {
      for (const Return& each : known->second) {
        if (op.invoked >= each.from) op.value = each.value;
        is_either |= op.invoked < each.from && op.responded >= each.to;
      }
    }
    if (!is_either) out.push_back(op);
  }
  return out;
}

}  // namespace heatsink::simulation
