// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/verdict_feed.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "heatsink/resp/resp.h"

namespace heatsink::copies {
namespace {

using detect::Temperature;

bool is_busy(Temperature temperature) {
  return temperature == Temperature::kHot || temperature == Temperature::kWriteHot;
}

std::string wire_of(std::string_view json) {
  ByteBuffer out;
  resp::append_array_header(out, 3);
  resp::append_bulk(out, "message");
  resp::append_bulk(out, kHotChannel);
  resp::append_bulk(out, json);
  return std::string(out.view());
}

}  // namespace

VerdictFeed::VerdictFeed(const NodeState& shared, std::size_t workers,
                         std::function<void(std::size_t worker)> tell)
    : shared_(shared), tell_(std::move(tell)), inbox_(workers), hears_(workers, false) {}

report::VerdictForClients VerdictFeed::for_clients(const detect::Verdict& verdict) const {
  const detect::KeyCount& count = verdict.count;
  const bool may_have = shared_.options().cache_enabled && !count.key_truncated &&
                        shared_.consistency_of(count.key).level != cache::Level::kOff;
  return {verdict, may_have && verdict.temperature == Temperature::kHot};
}

void VerdictFeed::give_list(std::size_t worker,
                            const std::function<std::vector<detect::Verdict>()>& present,
                            report::BothClocks now) {
  hears_[worker] = true;
  if (list_ == nullptr) {
    const std::vector<detect::Verdict> all = present();
    std::vector<report::VerdictForClients> keys;
    for (std::size_t i = 0; i < std::min(all.size(), kListMax); ++i)
      keys.push_back(for_clients(all[i]));
    const std::string json = report::list_json(keys, all.size() <= kListMax, now);
    list_ = std::make_shared<const VerdictNews>(VerdictNews{true, {wire_of(json)}});
  }
  put(worker, list_);
}

void VerdictFeed::note(std::span<const detect::Change> changes, report::BothClocks now) {
  if (changes.empty()) return;
  list_.reset();
  if (std::find(hears_.begin(), hears_.end(), true) == hears_.end()) return;
  auto news = std::make_shared<VerdictNews>();
  for (const detect::Change& change : changes) {
    if (!is_busy(change.before) && !is_busy(change.verdict.temperature)) continue;
    news->wires.push_back(
        wire_of(report::change_json(for_clients(change.verdict), change.before, now)));
  }
  if (news->wires.empty()) return;
  for (std::size_t worker = 0; worker < hears_.size(); ++worker)
    if (hears_[worker]) put(worker, news);
}

void VerdictFeed::put(std::size_t worker, const VerdictInbox::News& news) {
  if (inbox_.put(worker, news)) tell_(worker);
}

}  // namespace heatsink::copies
