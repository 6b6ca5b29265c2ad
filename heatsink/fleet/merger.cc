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

}  // namespace

void Merger::turn(TimePoint now) {
  if (now < due_) return;
  due_ = now + pause();
  if (is_busy_ || is_over_) return;
  if (now >= merge_due_) {
    merge(now);
  } else if (!options_.news.empty()) {
    ask_for_lock();
    look_for_news(now);
  }
  due_ = std::min(due_, std::max(merge_due_, now + Millis(1)));
}

// Between two turns: each of them looks for news, or merges.
Nanos Merger::pause() const {
  const Nanos refresh = refresh_of(sources_, options_.interval);
  return options_.news.empty()
             ? refresh
             : std::min(refresh, std::max(options_.interval, gap_of(sources_, options_.interval)));
}

// The members' step, as far as it is known: before the first sum it is the shortest one.
Nanos Merger::step() const { return step_of(instances_, options_.interval); }

void Merger::ask_for_lock() {
  ask({"GETRANGE", options_.lock, "0", std::to_string(kIdBytesMax)},
      [this](const Result<resp::Value>& reply, TimePoint) { on_lock(reply); });
}

void Merger::look_for_news(TimePoint now) {
  ask({"GETRANGE", options_.news, "0", std::to_string(2 * kIdBytesMax)},
      [this, now](const Result<resp::Value>& reply, TimePoint) {
        if (!reply.ok() || !reply->is_text() || reply->text.empty()) return;
        if (std::exchange(news_, reply->text) == reply->text) return;
        merge_due_ = std::min(merge_due_, merged_at_ + gap_of(sources_, options_.interval));
        due_ = std::min(due_, std::max(merge_due_, now));
      });
}

void Merger::merge(TimePoint now) {
  is_busy_ = true;
  merged_at_ = now;
  merge_due_ = now + refresh_of(sources_, options_.interval);
  ask_for_lock();
  if (options_.members.empty()) {
    to_read_.assign(options_.sources.begin(), options_.sources.end());
    read_batch();
    return;
  }
  ask({"SRANDMEMBER", options_.members, std::to_string(kInstancesMax)},
      [this](const Result<resp::Value>& reply, TimePoint) { on_members(reply); });
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
  port_.ask({"PEXPIRE", options_.lock, milliseconds(lock_life(pause()))},
            [](const Result<resp::Value>&, TimePoint) {});
}

void Merger::on_members(const Result<resp::Value>& reply) {
  if (!reply.ok() || reply->is_error()) {
    give_up();
    return;
  }
  for (const resp::Value& id : reply->items)
    if (id.text.size() <= kIdBytesMax) to_read_.push_back(id.text);
  // The set ends with the fleet.
  port_.ask({"PEXPIRE", options_.members, milliseconds(30 * step())},
            [](const Result<resp::Value>&, TimePoint) {});
  read_batch();
}

// GETRANGE bounds what a reply may bring, whatever somebody has written.
void Merger::read_batch() {
  if (to_read_.empty()) {
    publish();
    return;
  }
  const std::size_t count = std::min(to_read_.size(), kMergeBatch);
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
    // The instance has not reported for so long that its report has ended. If it lives, it will add
    // itself again.
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
    read_batch();
  }
}

void Merger::give_up() {
  to_read_.clear();
  collector_ = {};
  is_over_ = true;
  is_busy_ = false;
}

void Merger::publish() {
  Message sum = collector_.finish(kListKeys);
  is_busy_ = false;
  if (sum.instances == 0) return;  // nobody has reported yet
  sources_ = options_.members.empty() ? options_.sources.size() : sum.instances;
  instances_ = sum.instances;
  sum.step = step();
  sum.refresh = refresh_of(sources_, options_.interval);
  sum.sequence = options_.first_sequence + sequence_++;
  ++counts_.merges;
  port_.ask({"SET", options_.out, encode(sum), "PX",
             milliseconds(std::max<Nanos>(4 * step(), std::chrono::seconds(3)))},
            [](const Result<resp::Value>&, TimePoint) {});
}

}  // namespace heatsink::fleet
