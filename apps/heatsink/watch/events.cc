// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/watch/events.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "heatsink/base/printable.h"

namespace heatsink::app {

void WatchEvents::add(report::Event event, TimePoint at) {
  event.number = ++number_;
  event.at = at;
  if (events_.size() == kEventsMax) events_.pop_front();
  events_.push_back(std::move(event));
}

void WatchEvents::note(const Picture& picture) {
  note_instances(picture);
  note_keys(picture);
}

void WatchEvents::note_instances(const Picture& picture) {
  for (const Instance& each : picture.instances) {
    const auto [known, is_new] = answers_.try_emplace(each.name, true);
    if (known->second == each.answers()) continue;
    known->second = each.answers();
    report::Event event;
    event.instance =
        each.answers() ? report::Event::Instance::kAnswers : report::Event::Instance::kSilent;
    event.reason = each.answers() ? each.name + " answers again"
                                  : each.name + " does not answer: " + one_line(each.problem);
    add(std::move(event), picture.at);
  }
}

void WatchEvents::note_keys(const Picture& picture) {
  ++pictures_;
  for (const report::KeyReport& key : picture.report.keys) {
    const auto [known, is_new] = keys_.try_emplace(key.verdict.count.hash.value);
    const detect::Temperature before = known->second.verdict.temperature;
    known->second = {key.verdict, pictures_};
    if (before != key.verdict.temperature)
      add(report::event_of(
              {.kind = detect::Change::Kind::kNotice, .verdict = key.verdict, .before = before},
              picture.at),
          picture.at);
  }
  if (!picture.has_bounds()) return forget_oldest();
  for (auto each = keys_.begin(); each != keys_.end();) {
    if (each->second.seen_in == pictures_) {
      ++each;
      continue;
    }
    detect::Change change{.kind = detect::Change::Kind::kNotice,
                          .verdict = std::move(each->second.verdict),
                          .before = detect::Temperature::kCold};
    change.before = std::exchange(change.verdict.temperature, detect::Temperature::kCold);
    change.verdict.reason = "no instance lists it";
    add(report::event_of(change, picture.at), picture.at);
    each = keys_.erase(each);
  }
}

// Keys of the last picture stay: a forgotten one would become hot once more.
void WatchEvents::forget_oldest() {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> unseen;  // picture, hash
  for (const auto& [hash, known] : keys_)
    if (known.seen_in != pictures_) unseen.emplace_back(known.seen_in, hash);
  if (unseen.size() <= kKeysMax) return;
  const auto excess = static_cast<std::ptrdiff_t>(unseen.size() - kKeysMax);
  std::ranges::nth_element(unseen, unseen.begin() + excess);
  for (auto each = unseen.begin(); each != unseen.begin() + excess; ++each)
    keys_.erase(each->second);
}

}  // namespace heatsink::app
