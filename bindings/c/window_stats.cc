// SPDX-License-Identifier: Apache-2.0
// The part of heatsink.h about window statistics.
#include <string>

#include "bindings/c/handles.h"
#include "heatsink/client/window_stats.h"

using heatsink::capi::duration_of_ms;
using heatsink::capi::fail;
using heatsink::capi::give;
using heatsink::capi::guarded;
using heatsink::capi::missing_argument;
using heatsink::client::WindowReading;
using heatsink::client::WindowStats;

struct heatsink_window_stats {
  WindowStats stats;
};

namespace {

std::string_view text_of(const char* text, size_t size) {
  return size == 0 ? std::string_view() : std::string_view(text, size);
}

heatsink_window_values values_of(const WindowReading& reading) {
  return {.count = reading.count,
          .sum_high = static_cast<int64_t>(reading.sum >> 64),
          .sum_low = static_cast<uint64_t>(reading.sum),
          .mean = reading.mean,
          .min = reading.min,
          .max = reading.max,
          .p50 = reading.p50,
          .p90 = reading.p90,
          .p99 = reading.p99,
          .p999 = reading.p999,
          .covered_ms = static_cast<uint64_t>(reading.covered.count()),
          .slot_ms = static_cast<uint64_t>(reading.slot.count()),
          .length_ms = static_cast<uint64_t>(reading.length.count()),
          .shards_missing = reading.shards_missing};
}

}  // namespace

int heatsink_stats_open(const heatsink_options* options, heatsink_window_stats** stats) {
  if (stats == nullptr || options == nullptr) return missing_argument();
  *stats = nullptr;
  return guarded([&] {
    *stats = new heatsink_window_stats{WindowStats(options->values)};
    return HEATSINK_OK;
  });
}

int heatsink_stats_close(heatsink_window_stats* stats) {
  if (stats == nullptr) return missing_argument();
  return guarded([&] {
    stats->stats.close();
    return HEATSINK_OK;
  });
}

void heatsink_stats_free(heatsink_window_stats* stats) { delete stats; }

int heatsink_stats_add(heatsink_window_stats* stats, const char* name, size_t name_size,
                       int64_t value) {
  if (stats == nullptr || (name == nullptr && name_size != 0)) return missing_argument();
  if (stats->stats.add(text_of(name, name_size), value)) return HEATSINK_OK;
  return fail(
      HEATSINK_REFUSED,
      "statistics.maximum-names names are already in use, or this name is longer than 512 bytes");
}

int heatsink_stats_flush(heatsink_window_stats* stats, uint64_t patience_ms) {
  if (stats == nullptr) return missing_argument();
  return guarded([&] {
    stats->stats.flush(duration_of_ms(patience_ms));
    return HEATSINK_OK;
  });
}

int heatsink_stats_read(heatsink_window_stats* stats, const char* name, size_t name_size,
                        uint64_t window_ms, heatsink_window_values* values, size_t size) {
  if (stats == nullptr || values == nullptr || (name == nullptr && name_size != 0))
    return missing_argument();
  return guarded([&]() -> int {
    const auto reading = stats->stats.read(text_of(name, name_size), duration_of_ms(window_ms));
    if (!reading) return HEATSINK_NONE;
    return give(values_of(*reading), values, size);
  });
}

int heatsink_stats_list(heatsink_window_stats* stats, const char* pattern,
                        void (*tell)(void* user, const char* name, size_t name_size), void* user) {
  if (stats == nullptr || pattern == nullptr || tell == nullptr) return missing_argument();
  return guarded([&] {
    for (const std::string& name : stats->stats.list(pattern))
      tell(user, name.c_str(), name.size());
    return HEATSINK_OK;
  });
}

int heatsink_stats_counts(heatsink_window_stats* stats, heatsink_window_counts* counts,
                          size_t size) {
  if (stats == nullptr || counts == nullptr) return missing_argument();
  return guarded([&] {
    const heatsink::client::WindowCounts now = stats->stats.counts();
    const heatsink_window_counts values = {.delivered = now.delivered,
                                           .dropped = now.dropped,
                                           .uncertain = now.uncertain,
                                           .refused = now.refused,
                                           .resent = now.resent,
                                           .names = now.names};
    return give(values, counts, size);
  });
}

int heatsink_stats_problem(heatsink_window_stats* stats) {
  if (stats == nullptr) return missing_argument();
  return guarded([&]() -> int {
    const std::string problem = stats->stats.problem();
    return problem.empty() ? int{HEATSINK_OK} : fail(HEATSINK_FAILED, problem);
  });
}
