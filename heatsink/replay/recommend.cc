// SPDX-License-Identifier: Apache-2.0
#include "heatsink/replay/recommend.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "heatsink/replay/choice.h"

namespace heatsink::replay {
namespace {

std::string percent(double ratio) { return fmt::format("{:.1f} %", ratio * 100); }

std::string capacity_text(const Capacity& capacity, bool entries) {
  return entries ? fmt::format("{} copies", capacity.entries_max)
                 : format_bytes(capacity.bytes_max);
}

// Writes the reasons. `savings` are those with enough evidence.
class Reasons {
 public:
  Reasons(const std::vector<Saving>& savings, const Choice& choice)
      : savings_(savings), choice_(choice), chosen_(choice.chosen.saving) {}

  Reason threshold() const {
    const double hot_qps = chosen_.setting.hot_qps;
    std::string why = fmt::format(
        "{}: with every key {:.0f} % slower it saves {} instead of {}. "
        "At most {} keys are hot at once, with {} promotions",
        choice_.is_steady ? "the highest threshold that saves enough, also with slower keys"
                          : "it saves enough, but not with slower keys",
        (1 - kSlowdown) * 100, percent(choice_.chosen.slower_ratio),
        percent(chosen_.requests_ratio), chosen_.hot_peak, chosen_.tally.promotions);
    if (const Saving* higher = next_threshold()) why += "; " + against(*higher);
    if (!choice_.is_steady && is_lowest())
      why += fmt::format(
          "; lower thresholds need fewer than {:g} accesses in a window, or were not tried",
          kLeastEvidence);
    return {"Which threshold?", fmt::format("{:g} requests/s", hot_qps), why + "."};
  }

  Reason capacity() const {
    const Capacity& chosen = chosen_.setting.capacity;
    const bool by_entries =
        std::any_of(savings_.begin(), savings_.end(), [&](const Saving& saving) {
          return saving.setting.capacity.entries_max != chosen.entries_max;
        });
    const auto text = [by_entries](const Capacity& c) { return capacity_text(c, by_entries); };
    std::string why = fmt::format(
        "it saves {} of the requests; the best of all settings with enough evidence saves {}",
        percent(chosen_.requests_ratio), percent(choice_.best.requests_ratio));
    if (const Saving* less = neighbour(chosen, true))
      why += fmt::format(", {} save at most {}", text(less->setting.capacity),
                         percent(less->requests_ratio));
    if (const Saving* more = neighbour(chosen, false))
      why +=
          fmt::format(", {} save {}", text(more->setting.capacity), percent(more->requests_ratio));
    return {"Which capacity?", text(chosen), why + "."};
  }

  Reason window() const {
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
        others.empty()
            ? "the only window tried in which this threshold needs enough accesses."
            : fmt::format("it saves {}; others:{}.", percent(chosen_.requests_ratio), others);
    return {"Which window?", format_duration(chosen_.setting.window), why};
  }

 private:
  bool is_sibling(const Setting& setting) const {
    return setting.window == chosen_.setting.window && setting.capacity == chosen_.setting.capacity;
  }

  const Saving* next_threshold() const {
    const Saving* next = nullptr;
    for (const Saving& saving : savings_) {
      if (is_sibling(saving.setting) && saving.setting.hot_qps > chosen_.setting.hot_qps &&
          (next == nullptr || saving.setting.hot_qps < next->setting.hot_qps))
        next = &saving;
    }
    return next;
  }

  bool is_lowest() const {
    return std::none_of(savings_.begin(), savings_.end(), [this](const Saving& saving) {
      return is_sibling(saving.setting) && saving.setting.hot_qps < chosen_.setting.hot_qps;
    });
  }

  // Why a higher threshold was not chosen.
  std::string against(const Saving& higher) const {
    for (const Candidate& candidate : choice_.candidates) {
      const Setting& setting = candidate.saving.setting;
      if (is_sibling(setting) && setting.hot_qps == higher.setting.hot_qps)
        return fmt::format("{:g}/s saves {}, but with slower keys only {}", setting.hot_qps,
                           percent(higher.requests_ratio), percent(candidate.slower_ratio));
    }
    return fmt::format("{:g}/s saves only {}", higher.setting.hot_qps,
                       percent(higher.requests_ratio));
  }

  // The best saving with the next smaller or larger capacity.
  const Saving* neighbour(const Capacity& capacity, bool smaller) const {
    const Saving* found = nullptr;
    for (const Saving& saving : savings_) {
      const Capacity& its = saving.setting.capacity;
      if (smaller ? !is_smaller(its, capacity) : !is_smaller(capacity, its)) continue;
      const bool nearer = found == nullptr || (smaller ? is_smaller(found->setting.capacity, its)
                                                       : is_smaller(its, found->setting.capacity));
      const bool better = found != nullptr && its == found->setting.capacity &&
                          saving.requests_ratio > found->requests_ratio;
      if (nearer || better) found = &saving;
    }
    return found;
  }

  const std::vector<Saving>& savings_;
  const Choice& choice_;
  const Saving& chosen_;
};

Bytes room_for(std::uint64_t peak_bytes) {
  const std::uint64_t room = std::bit_ceil(std::max<std::uint64_t>(peak_bytes, 1) * 2);
  return std::max(Bytes{room}, mebibytes(1));
}

// The lowest threshold that never had a hot key, or the highest one tried. REQUIRES: `savings` is
// not empty.
Saving silent(const std::vector<Saving>& savings) {
  assert(!savings.empty());
  const Saving* found = &savings.front();
  for (const Saving& saving : savings) {
    const bool better = (saving.hot_peak == 0) > (found->hot_peak == 0) ||
                        ((saving.hot_peak == 0) == (found->hot_peak == 0) &&
                         (saving.hot_peak == 0 ? saving.setting.hot_qps < found->setting.hot_qps
                                               : saving.setting.hot_qps > found->setting.hot_qps));
    if (better) found = &saving;
  }
  return *found;
}

Reason silent_threshold(const Saving& chosen) {
  return {"Which threshold stays silent?", fmt::format("{:g} requests/s", chosen.setting.hot_qps),
          chosen.hot_peak == 0
              ? std::string("no key was hot in the whole trace.")
              : fmt::format("the highest threshold tried; at most {} keys were hot at once.",
                            chosen.hot_peak)};
}

Reason no_bursts() {
  return {"Early verdicts on bursts?", "none (burst: 0%)",
          fmt::format("{:.0f} % of what makes a key hot here is fewer than {:g} accesses. "
                      "So few can be chance, so they do not count as a burst.",
                      detect::SelectorOptions{}.burst * 100, kLeastEvidence)};
}

std::string not_worth_it(const Saving& best, bool evidence) {
  if (!evidence) {
    return fmt::format(
        "every setting tried needs fewer than {:g} accesses in its window, "
        "and verdicts on so few can be chance. Try higher thresholds or longer windows.",
        kLeastEvidence);
  }
  if (best.hot_peak == 0) return "nothing is hot: no key reached even the lowest threshold tried.";
  return fmt::format(
      "the best setting tried would take {} of the requests off the server, for {} promotions.",
      percent(best.requests_ratio), best.tally.promotions);
}

}  // namespace

Recommendation recommend(const std::vector<Saving>& savings, const Simulate& simulate) {
  assert(!savings.empty());
  std::vector<Saving> proven = savings;
  std::erase_if(proven, [](const Saving& saving) { return !has_evidence(saving.setting); });
  const std::vector<Saving>& all = proven.empty() ? savings : proven;
  Recommendation out;
  out.best = *std::max_element(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a.requests_ratio < b.requests_ratio;
  });
  if (proven.empty() || out.best.requests_ratio < kWorthwhileRatio) {
    out.chosen = silent(all);
    out.cache_bytes = room_for(0);
    out.reasons = {{"Is caching worth it?", "no", not_worth_it(out.best, !proven.empty())},
                   silent_threshold(out.chosen)};
    return out;
  }
  const Choice choice = choose(proven, simulate);
  out.caching = true;
  out.chosen = choice.chosen.saving;
  out.slower_ratio = choice.chosen.slower_ratio;
  out.cache_bytes = room_for(out.chosen.tally.bytes_peak);
  const Reasons reasons(proven, choice);
  out.reasons = {reasons.threshold(), reasons.capacity(), reasons.window()};
  if (burst_part(out.chosen.setting) == 0) out.reasons.push_back(no_bursts());
  return out;
}

namespace {

std::string text(const Capacity& capacity) {
  return capacity.bytes_max < kNoByteLimit ? format_bytes(capacity.bytes_max)
                                           : fmt::format("{} copies", capacity.entries_max);
}

// A power of two with room for twice the peak, at least 1 MiB.
Bytes room_for(const EarnedSaving& saving) {
  if (saving.capacity.bytes_max < kNoByteLimit) return saving.capacity.bytes_max;
  return {std::bit_ceil(std::max<std::uint64_t>(2 * saving.bytes_peak, 1U << 20U))};
}

// To MiB, or to KiB if it is less than one.
Bytes rounded_up(std::uint64_t bytes) {
  const std::uint64_t unit = bytes > (1U << 20U) ? 1U << 20U : 1U << 10U;
  return {(bytes + unit - 1) / unit * unit};
}

std::string why(const Budget& budget, const std::vector<EarnedSaving>& savings) {
  std::string out = fmt::format(
      "they spare the server {} of its work for these requests, "
      "less what fills and ends of copies cost it, and {} of the commands",
      percent(budget.chosen.server_ratio), percent(budget.chosen.net_ratio));
  for (const EarnedSaving& other : savings) {
    if (other.capacity == budget.chosen.capacity) continue;
    out += fmt::format("; {} would spare {}", text(other.capacity), percent(other.server_ratio));
  }
  return out + ".";
}

}  // namespace

Budget recommend_budget(const std::vector<EarnedSaving>& savings) {
  assert(!savings.empty());
  Budget out;
  std::vector<EarnedSaving> rising = savings;
  std::stable_sort(rising.begin(), rising.end(), [](const EarnedSaving& a, const EarnedSaving& b) {
    return is_smaller(a.capacity, b.capacity);
  });
  std::vector<double> saved;
  saved.reserve(rising.size());
  for (const EarnedSaving& saving : rising) saved.push_back(saving.server_ratio);
  out.best = rising[static_cast<std::size_t>(std::max_element(saved.begin(), saved.end()) -
                                             saved.begin())];
  const std::optional<std::size_t> enough = admit::right_size(saved);
  out.caching = enough.has_value();
  out.chosen = enough ? rising[*enough] : out.best;
  out.cache_bytes = room_for(out.chosen);
  if (!out.caching) {
    out.reasons = {
        {"Are copies worth it?", "no",
         fmt::format("the best of the sizes tried, "
                     "{}, spares the server {} of its work for these requests; "
                     "below {} it is not worth its memory. "
                     "The proxy finds this out by itself and copies nothing.",
                     text(out.best.capacity), percent(std::max(out.best.server_ratio, 0.0)),
                     percent(admit::kSavedWorthwhile))}};
    return out;
  }
  out.reasons = {
      {"How many copies?", text(out.chosen.capacity), why(out, savings)},
      {"How much memory?", format_bytes(out.cache_bytes),
       fmt::format("{} copies took {} at most (cache.maximum-bytes).", out.chosen.copies_peak,
                   format_bytes(rounded_up(out.chosen.bytes_peak)))}};
  return out;
}

}  // namespace heatsink::replay
