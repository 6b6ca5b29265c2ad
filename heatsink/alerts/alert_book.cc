// SPDX-License-Identifier: Apache-2.0
#include "heatsink/alerts/alert_book.h"

#include <algorithm>

#include "heatsink/alerts/conditions.h"

namespace heatsink::alerts {

void AlertBook::set(const policy::AlertOptions& options) {
  resolve_after_ = options.resolve_after;
  repeat_ = options.repeat_interval;
  per_minute_ = static_cast<double>(options.per_minute);
  for (std::size_t kind = 0; kind < kKinds; ++kind)
    learns_[kind] = Conditions::learns(static_cast<Kind>(kind), options);
  tokens_ = filled_at_ ? std::min(tokens_, per_minute_) : per_minute_;
}

bool AlertBook::may_tell(TimePoint now) {
  if (filled_at_) {
    const double minutes = std::chrono::duration<double, std::ratio<60>>(now - *filled_at_).count();
    tokens_ = std::min(per_minute_, tokens_ + per_minute_ * std::max(0.0, minutes));
  }
  filled_at_ = now;
  if (tokens_ < 1) return false;
  tokens_ -= 1;
  return true;
}

std::vector<Notice> AlertBook::turn(const std::vector<Alert>& active, TimePoint now) {
  std::vector<Notice> out;
  for (const Alert& alert : active) {
    const std::string identity = alert.identity();
    auto found = entries_.find(identity);
    if (found == entries_.end()) {
      const bool is_severe = severity_of(alert.kind) > Severity::kInfo;
      if (entries_.size() >= kAlertsMax + (is_severe ? kSevereMore : 0)) {
        ++held_back_;
        continue;
      }
      found = entries_.emplace(identity, Entry{alert, now, std::nullopt}).first;
    }
    Entry& entry = found->second;
    const TimePoint since = entry.alert.since;
    entry.alert = alert;
    entry.alert.since = since;
    entry.active_at = now;
    const bool is_new = !entry.told_at.has_value();
    if (is_new ? !may_tell(now) : now - *entry.told_at < repeat_) continue;
    entry.told_at = now;
    if (is_new) ++told_[static_cast<std::size_t>(alert.kind)];
    out.push_back({entry.alert, false, !is_new});
  }
  end_old(out, now);
  return out;
}

void AlertBook::end_old(std::vector<Notice>& out, TimePoint now) {
  for (auto each = entries_.begin(); each != entries_.end();) {
    const Entry& entry = each->second;
    if (now - entry.active_at < resolve_after_) {
      ++each;
      continue;
    }
    if (entry.told_at) {
      out.push_back({entry.alert, true, false});
    } else {
      ++held_back_;
    }
    each = entries_.erase(each);
  }
}

void AlertBook::restore(const std::vector<ToldAlert>& told, TimePoint now) {
  for (const ToldAlert& each : told) {
    if (entries_.size() >= kAlertsMax + kSevereMore) return;
    const Nanos learns = learns_[static_cast<std::size_t>(each.alert.kind)];
    const TimePoint active_at = now + (each.is_over ? -resolve_after_ : learns);
    entries_.emplace(each.alert.identity(), Entry{each.alert, active_at, each.told_at});
  }
}

std::vector<ToldAlert> AlertBook::told() const {
  std::vector<ToldAlert> out;
  for (const auto& [identity, entry] : entries_)
    if (entry.told_at) out.push_back({entry.alert, *entry.told_at, false});
  return out;
}

std::optional<Notice> AlertBook::find(const std::string& identity) const {
  const auto found = entries_.find(identity);
  if (found == entries_.end() || !found->second.told_at) return std::nullopt;
  return Notice{found->second.alert, false, true};
}

std::vector<Notice> AlertBook::firing() const {
  std::vector<Notice> out;
  for (const auto& [identity, entry] : entries_) {
    if (entry.told_at) out.push_back({entry.alert, false, true});
  }
  return out;
}

std::vector<Notice> AlertBook::most_severe(std::size_t count) const {
  std::vector<Notice> out = firing();
  std::stable_sort(out.begin(), out.end(), [](const Notice& a, const Notice& b) {
    return severity_of(a.alert.kind) > severity_of(b.alert.kind);
  });
  if (out.size() > count) out.erase(out.begin() + static_cast<std::ptrdiff_t>(count), out.end());
  return out;
}

}  // namespace heatsink::alerts
