// SPDX-License-Identifier: Apache-2.0
#include "heatsink/replay/recommend.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <tuple>
#include <vector>

namespace heatsink::replay {
namespace {

constexpr double kNearlyEqual = 0.98;  // of two windows the usual one is taken if it is so near
constexpr Nanos kUsualWindow = std::chrono::seconds(10);

std::string percent(double ratio) { return fmt::format("{:.1f} %", ratio * 100); }

std::string capacity_text(const Capacity& capacity, bool entries) {
  return entries ? fmt::format("{} copies", capacity.entries_max)
                 : format_bytes(capacity.bytes_max);
}

auto cost_of(const Capacity& capacity) {
  return std::tuple(capacity.entries_max, capacity.bytes_max.count);
}

class Choice {
 public:
  explicit Choice(const std::vector<Saving>& savings) : savings_(savings) {
    best_ = *std::max_element(savings.begin(), savings.end(), [](const auto& a, const auto& b) {
      return a.requests_ratio < b.requests_ratio;
    });
  }

  const Saving& best() const { return best_; }

  Saving choose() {
    enough_ = best_.requests_ratio * kGoodEnough;
    std::vector<const Saving*> good;
    for (const Saving& saving : savings_)
      if (saving.requests_ratio >= enough_) good.push_back(&saving);
    keep_least(good, [](const Saving& s) { return cost_of(s.setting.capacity); });
    keep_least(good, [](const Saving& s) { return -s.setting.hot_qps; });
    return chosen_ = *best_window(good);
  }

  Reason capacity_reason() const {
    const Capacity& capacity = chosen_.setting.capacity;
    const bool by_entries =
        std::any_of(savings_.begin(), savings_.end(), [&](const Saving& saving) {
          return saving.setting.capacity.entries_max != capacity.entries_max;
        });
    const auto text = [by_entries](const Capacity& c) { return capacity_text(c, by_entries); };
    std::string why = fmt::format("saves {} of the requests; the best of all that was tried is {}",
                                  percent(chosen_.requests_ratio), percent(best_.requests_ratio));
    if (const Saving* less = neighbour(capacity, true))
      why += fmt::format(", with {} at most {}", text(less->setting.capacity),
                         percent(less->requests_ratio));
    if (const Saving* more = neighbour(capacity, false))
      why +=
          fmt::format(", with {} {}", text(more->setting.capacity), percent(more->requests_ratio));
    return {"Which capacity?", text(capacity), why + "."};
  }

  Reason threshold_reason() const {
    const double hot_qps = chosen_.setting.hot_qps;
    std::string why =
        fmt::format("the highest that is good enough; hot keys at once at most {}, promotions {}",
                    chosen_.hot_peak, chosen_.tally.promotions);
    const Saving* higher = nullptr;
    for (const Saving& saving : savings_) {
      const Setting& setting = saving.setting;
      if (setting.window == chosen_.setting.window &&
          setting.capacity == chosen_.setting.capacity && setting.hot_qps > hot_qps &&
          (higher == nullptr || setting.hot_qps < higher->setting.hot_qps))
        higher = &saving;
    }
    if (higher != nullptr)
      why += fmt::format("; {:g}/s saves only {}", higher->setting.hot_qps,
                         percent(higher->requests_ratio));
    return {"Which threshold?", fmt::format("{:g} requests/s", hot_qps), why + "."};
  }

  Reason window_reason() const {
    std::string others;
    for (const Saving& saving : savings_) {
      const Setting& setting = saving.setting;
      if (setting.window == chosen_.setting.window ||
          !(setting.capacity == chosen_.setting.capacity) ||
          setting.hot_qps != chosen_.setting.hot_qps)
        continue;
      others += fmt::format("{} {} {}", others.empty() ? "" : ",", format_duration(setting.window),
                            percent(saving.requests_ratio));
    }
    const std::string why =
        others.empty() ? "the only one that fits into the trace three times."
                       : fmt::format("it saves {};{}.", percent(chosen_.requests_ratio), others);
    return {"Which window?", format_duration(chosen_.setting.window), why};
  }

 private:
  template <class Cost>
  static void keep_least(std::vector<const Saving*>& savings, Cost cost) {
    auto least = cost(*savings.front());
    for (const Saving* saving : savings) least = std::min(least, cost(*saving));
    std::erase_if(savings, [&](const Saving* saving) { return cost(*saving) != least; });
  }

  static const Saving* best_window(const std::vector<const Saving*>& good) {
    const Saving* best = good.front();
    for (const Saving* saving : good)
      if (saving->requests_ratio > best->requests_ratio) best = saving;
    for (const Saving* saving : good)
      if (saving->setting.window == kUsualWindow &&
          saving->requests_ratio >= best->requests_ratio * kNearlyEqual)
        return saving;
    return best;
  }

  // The best saving with the next smaller, or larger, capacity than `capacity`.
  const Saving* neighbour(const Capacity& capacity, bool smaller) const {
    const Saving* found = nullptr;
    for (const Saving& saving : savings_) {
      const auto cost = cost_of(saving.setting.capacity);
      if (smaller ? cost >= cost_of(capacity) : cost <= cost_of(capacity)) continue;
      const bool nearer = found == nullptr || (smaller ? cost > cost_of(found->setting.capacity)
                                                       : cost < cost_of(found->setting.capacity));
      const bool better = found != nullptr && cost == cost_of(found->setting.capacity) &&
                          saving.requests_ratio > found->requests_ratio;
      if (nearer || better) found = &saving;
    }
    return found;
  }

  const std::vector<Saving>& savings_;
  Saving best_;
  Saving chosen_;
  double enough_ = 0;
};

Bytes room_for(std::uint64_t peak_bytes) {
  const std::uint64_t room = std::bit_ceil(std::max<std::uint64_t>(peak_bytes, 1) * 2);
  return std::max(Bytes{room}, mebibytes(1));
}

// The lowest threshold that never had a hot key, or the highest that was tried.
Saving silent(const std::vector<Saving>& savings) {
  const Saving* found = nullptr;
  for (const Saving& saving : savings) {
    const bool better = found == nullptr || (saving.hot_peak == 0) > (found->hot_peak == 0) ||
                        ((saving.hot_peak == 0) == (found->hot_peak == 0) &&
                         (saving.hot_peak == 0 ? saving.setting.hot_qps < found->setting.hot_qps
                                               : saving.setting.hot_qps > found->setting.hot_qps));
    if (better) found = &saving;
  }
  return *found;
}

}  // namespace

Recommendation recommend(const std::vector<Saving>& savings) {
  assert(!savings.empty());
  Choice choice(savings);
  Recommendation out;
  out.best = choice.best();
  if (out.best.requests_ratio < kWorthwhileRatio) {
    out.chosen = silent(savings);
    out.cache_bytes = room_for(0);
    const bool nothing = out.best.hot_peak == 0;
    out.reasons.push_back(
        {"Is caching worth it?", "no",
         nothing ? std::string("nothing is hot: no key reached even the lowest threshold tried.")
                 : fmt::format("the best setting tried would take {} of the requests off the "
                               "server, for {} promotions.",
                               percent(out.best.requests_ratio), out.best.tally.promotions)});
    out.reasons.push_back({"Which threshold stays silent?",
                           fmt::format("{:g} requests/s", out.chosen.setting.hot_qps),
                           out.chosen.hot_peak == 0
                               ? std::string("not one verdict over the whole trace.")
                               : fmt::format("the highest tried; at most {} keys were hot at once.",
                                             out.chosen.hot_peak)});
    return out;
  }
  out.caching = true;
  out.chosen = choice.choose();
  out.cache_bytes = room_for(out.chosen.tally.bytes_peak);
  out.reasons = {choice.threshold_reason(), choice.capacity_reason(), choice.window_reason()};
  return out;
}

}  // namespace heatsink::replay
