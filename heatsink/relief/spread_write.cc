// SPDX-License-Identifier: Apache-2.0
#include "heatsink/relief/spread_write.h"

#include <chrono>
#include <utility>

namespace heatsink::proxy {
SpreadWrite::SpreadWrite(SpreadParts& parts, SpreadLayouts& layouts, SpreadKeysWritten keys,
                         std::function<void()> release, std::function<void()> over)
    : parts_(parts),
      layouts_(layouts),
      keys_(std::move(keys)),
      release_(std::move(release)),
      over_(std::move(over)) {}

SpreadWrite::~SpreadWrite() {
  parts_.loop.cancel(timer_);
  parts_.loop.cancel(again_);
}

void SpreadWrite::begin() {
  timer_ = parts_.loop.call_after(kPatience, [this] { late(); });
  asked_ = keys_.size();
  for (const SpreadKeyWritten& key : keys_)
    layouts_.with_fresh(key.name, key.copies,
                        [this, &key](const auto* slots) { bury(key.name, slots); });
}

void SpreadWrite::bury(const std::string& key, const std::vector<std::uint16_t>* slots) {
  --asked_;
  if (slots == nullptr) parts_.count(copies::Count::kSpreadMissed);
  for (std::size_t i = 0; slots != nullptr && i < slots->size(); ++i) {
    std::string name = spread::copy_name((*slots)[i], key);
    if (!bury_one(name, (*slots)[i])) unsent_.emplace_back(std::move(name), (*slots)[i]);
  }
  if (!unsent_.empty() && again_ == 0)
    again_ = parts_.loop.call_after(SpreadParts::kLookAgain, [this] { try_again(); });
  end_step();
}

// False: a connection is being opened. A node that is known to be down is left out: its copies end
// by themselves, and a replica that takes over has the same ends.
bool SpreadWrite::bury_one(const std::string& name, std::uint16_t slot) {
  const Upstreams::Shared shared =
      parts_.upstreams.shared(resp::Protocol::kResp2, Destination::of_slot(slot));
  Upstream* const connection = SpreadParts::ready(shared.connection);
  if (connection == nullptr) {
    if (shared.down != nullptr) parts_.count(copies::Count::kSpreadMissed);
    return shared.down != nullptr;
  }
  if (connection->is_read_slowly()) {
    parts_.count(copies::Count::kSpreadMissed);
    return true;
  }
  const bool waits = !parts_.is_suspect(shared.server) && !is_released_;
  const std::string ms = std::to_string(
      std::chrono::duration_cast<std::chrono::milliseconds>(spread::kTombstone).count());
  if (waits) {
    ++awaited_;
    awaited_from_.push_back(&shared.server);
  }
  send(*connection, waits ? awaited_from_.size() : kNotAwaited, false,
       {"SET", name, spread::kTombstoneText, "PX", ms});
  return true;
}

void SpreadWrite::try_again() {
  again_ = 0;
  std::erase_if(unsent_, [this](const auto& each) { return bury_one(each.first, each.second); });
  if (!unsent_.empty())
    again_ = parts_.loop.call_after(SpreadParts::kLookAgain, [this] { try_again(); });
  end_step();
}

void SpreadWrite::end_awaiting(ReplyQueue::Ticket ticket) {
  if (ticket == kNotAwaited) return;
  awaited_from_[ticket - 1] = nullptr;
  --awaited_;
}

void SpreadWrite::answered(ReplyQueue::Ticket ticket, const resp::Value& reply) {
  end_awaiting(ticket);
  parts_.count(reply.is_error() ? copies::Count::kSpreadMissed : copies::Count::kSpreadTombstones);
  end_step();
}

void SpreadWrite::lost(ReplyQueue::Ticket ticket, const std::string& /*problem*/) {
  end_awaiting(ticket);
  parts_.count(copies::Count::kSpreadMissed);
  end_step();
}

void SpreadWrite::late() {
  timer_ = 0;
  for (const redis::UpstreamAddress* const node : awaited_from_)
    if (node != nullptr) parts_.suspect(*node);
  parts_.counters.add(copies::Count::kSpreadMissed, awaited_ + unsent_.size());
  unsent_.clear();
  parts_.loop.cancel(std::exchange(again_, 0));
  release();
  end_step();
}

void SpreadWrite::release() {
  if (!std::exchange(is_released_, true)) release_();
}

void SpreadWrite::end_step() {
  if (asked_ == 0 && awaited_ == 0 && unsent_.empty()) release();
  if (is_over()) over_();
}

}  // namespace heatsink::proxy
