// SPDX-License-Identifier: Apache-2.0
#include "heatsink/fleet/merger.h"

#include <algorithm>
#include <utility>

#include "heatsink/fleet/bounds.h"

namespace heatsink::fleet {
namespace {

std::string milliseconds(Nanos time) {
  return std::to_string(std::max<std::int64_t>(std::chrono::ceil<Millis>(time).count(), 1));
}

// By the rule of the pace (bounds.h).
Nanos step_of(std::uint64_t instances, Nanos interval) {
  const double seconds = static_cast<double>(instances) / kReportsPerSecond;
  const Nanos wanted(static_cast<Nanos::rep>(seconds * 1e9));
  return std::clamp(wanted, std::min(interval, kStepMax), kStepMax);
}

}  // namespace

Nanos Merger::lock_life(Nanos step) { return std::max<Nanos>(4 * step, std::chrono::seconds(2)); }

void Merger::turn(TimePoint now, std::function<void(TimePoint)> merged) {
  if (now < due_) return;
  step_ = std::max(step_, options_.interval);
  // Twice per step: a list is then at most half a step younger than the reports.
  due_ = now + step_ / 2;
  if (is_busy_ || is_over_) return;
  is_busy_ = true;
  merged_ = std::move(merged);
  ask({"GETRANGE", options_.lock, "0", std::to_string(kIdBytesMax)},
      [this](const Result<resp::Value>& reply, TimePoint) { on_lock(reply); });
  if (options_.members.empty()) {
    to_read_.assign(options_.sources.begin(), options_.sources.end());
    read_batch(now);
    return;
  }
  ask({"SRANDMEMBER", options_.members, std::to_string(kInstancesMax)},
      [this](const Result<resp::Value>& reply, TimePoint at) { on_members(reply, at); });
}

void Merger::ask(std::vector<std::string> words, Port::Done done) {
  ++pending_;
  port_.ask(std::move(words),
            [this, done = std::move(done)](const Result<resp::Value>& reply, TimePoint now) {
              --pending_;
              done(reply, now);
            });
}

void Merger::on_lock(const Result<resp::Value>& reply) {
  if (!reply.ok() || reply->is_error() || reply->text != options_.id) {
    is_over_ = true;
    return;
  }
  port_.ask({"PEXPIRE", options_.lock, milliseconds(lock_life(step_))},
            [](const Result<resp::Value>&, TimePoint) {});
}

void Merger::on_members(const Result<resp::Value>& reply, TimePoint now) {
  if (!reply.ok() || reply->is_error()) {
    give_up();
    return;
  }
  for (const resp::Value& id : reply->items)
    if (id.text.size() <= kIdBytesMax) to_read_.push_back(id.text);
  // The set ends with the fleet.
  port_.ask({"PEXPIRE", options_.members, milliseconds(30 * step_)},
            [](const Result<resp::Value>&, TimePoint) {});
  read_batch(now);
}

// GETRANGE bounds what a reply may bring, whatever somebody has written.
void Merger::read_batch(TimePoint now) {
  if (to_read_.empty()) {
    publish(now);
    return;
  }
  const std::size_t count = std::min(to_read_.size(), Collector::kBatch);
  const std::vector<std::string> batch(to_read_.begin(),
                                       to_read_.begin() + static_cast<std::ptrdiff_t>(count));
  to_read_.erase(to_read_.begin(), to_read_.begin() + static_cast<std::ptrdiff_t>(count));
  waiting_ = count;
  const std::string last = std::to_string(options_.bounds.bytes_max - 1);
  for (const std::string& source : batch) {
    ask({"GETRANGE", options_.report_of ? options_.report_of(source) : source, "0", last},
        [this, source](const Result<resp::Value>& reply, TimePoint at) {
          on_source(source, reply, at);
        });
  }
}

void Merger::on_source(const std::string& source, const Result<resp::Value>& reply, TimePoint now) {
  --waiting_;
  if (!reply.ok()) {
    is_over_ = true;
  } else if (reply->is_text() && reply->text.empty()) {
    // The instance has not reported for three steps. If it lives, it will add itself again.
    if (!options_.members.empty())
      port_.ask({"SREM", options_.members, source}, [](const Result<resp::Value>&, TimePoint) {});
  } else if (Result<Message> message = decode(reply->text, options_.bounds, options_.seed, now);
             message.ok()) {
    collector_.add(std::move(*message));
  } else {
    ++counts_.broken;
  }
  if (waiting_ > 0) return;
  if (is_over_) {
    give_up();
  } else {
    read_batch(now);
  }
}

void Merger::give_up() {
  to_read_.clear();
  collector_ = {};
  is_over_ = true;
  is_busy_ = false;
}

void Merger::publish(TimePoint now) {
  Message sum = collector_.finish(kListKeys);
  is_busy_ = false;
  if (sum.instances == 0) return;  // nobody has reported yet
  // The sums of shards bring the steps of their instances along.
  step_ = options_.members.empty() ? std::max(sum.step, options_.interval)
                                   : step_of(sum.instances, options_.interval);
  sum.step = step_;
  sum.sequence = options_.first_sequence + sequence_++;
  ++counts_.merges;
  port_.ask({"SET", options_.out, encode(sum), "PX",
             milliseconds(std::max<Nanos>(4 * step_, std::chrono::seconds(3)))},
            [](const Result<resp::Value>&, TimePoint) {});
  if (merged_) merged_(now);
}

}  // namespace heatsink::fleet
