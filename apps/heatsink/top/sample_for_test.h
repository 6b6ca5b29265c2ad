// SPDX-License-Identifier: Apache-2.0
// For tests of top: an answer of a busy node.
#pragma once

#include "apps/heatsink/top/view.h"
#include "heatsink/base/clock.h"
#include "heatsink/base/printable.h"

namespace heatsink::app {

inline constexpr TimePoint kNow{std::chrono::seconds(1000)};

inline KeyView sample_key(std::string name, double rate, std::string verdict) {
  KeyView key;
  key.raw_name = from_printable(name);
  key.name = std::move(name);
  key.rate = key.rate_high = rate;
  key.rate_low = rate - 12;
  key.share = rate / 42110;
  key.reads_rate = rate * 0.99;
  key.writes_rate = rate * 0.01;
  key.hits_rate = verdict == "hot" ? rate * 0.98 : 0;
  key.misses_rate = key.reads_rate - key.hits_rate;
  key.bytes_rate = rate * 120;
  key.hit_ratio = key.hits_rate / key.reads_rate;
  key.age = std::chrono::seconds(192);
  key.verdict = std::move(verdict);
  key.cached = key.verdict == "hot";
  key.level = "key";
  key.reason = "above the threshold of this node";
  key.dimension = "requests";
  key.window = std::chrono::seconds(10);
  key.commands = {{"GET", rate * 9.9}, {"SET", rate * 0.1}};
  key.clients = {{"10.0.0.7", rate * 6}, {"10.0.0.8", rate * 3.5}};
  return key;
}

inline CopiesView sample_copies() {
  return CopiesView{.reads = 3,
                    .history = 131'072,
                    .order = "clock",
                    .saved = 0.374,
                    .fill_cost = 1.74,
                    .invalidation_cost = 1.25,
                    .fill_cost_spread = 0.31,
                    .read_cpu = std::chrono::nanoseconds(37'400),
                    .proxy_read_cpu = std::chrono::nanoseconds(1'200),
                    .proxy_fill_cpu = std::chrono::nanoseconds(11'300),
                    .prices = CopiesView::Prices{.server = {1.8, true},
                                                 .keeper = {0.9, true},
                                                 .worker = {1, false},
                                                 .fill_wait = std::chrono::microseconds(150)},
                    .seldom_read = 101'862,
                    .written = 85,
                    .too_big = 4,
                    .entries_max = 65'536,
                    .bytes_max = mebibytes(64),
                    .curve = {{4096, 0.25}, {65'536, 0.374}},
                    .advice = "the size is right",
                    .top = {{.name = "user:1002:profile",
                             .commands = {"HGETALL", "HGET"},
                             .hits_rate = 612.4,
                             .hits_error = 21.3,
                             .fills_rate = 0.5,
                             .invalidations_rate = 0.4,
                             .saved_rate = 611.5,
                             .server_cpu = 0.0229,
                             .bytes = Bytes{1434}},
                            {.name = "blob\\x00\\xff:\\x1b[2J",
                             .hits_rate = 9,
                             .saved_rate = 8.5,
                             .server_cpu = 0.0003,
                             .bytes = Bytes{412}}}};
}

inline HotkeysView sample_answer() {
  HotkeysView view;
  view.window = std::chrono::seconds(10);
  view.uptime = std::chrono::seconds(3725);
  view.headline = "3 keys are hot, 1 key is write-hot";
  view.node = {.upstream = "127.0.0.1:6379",
               .upstream_up = true,
               .coherence = "up",
               .requests_rate = 42110,
               .reads_rate = 41800,
               .writes_rate = 310,
               .hits_rate = 30000,
               .misses_rate = 11800,
               .hit_ratio = 0.7177,
               .commands_rate = 42110,
               .server_commands_rate = 12110,
               .offload = 0.7124,
               .clients = 50,
               .hot_keys = 3,
               .cached_entries = 2,
               .cached_bytes = Bytes{4096}};
  view.keys = {sample_key("product:1000:price", 21'000, "hot"),
               sample_key("blob\\x00\\xff:\\x1b[2J", 9'000, "hot"),
               sample_key("counter:visits", 3'500, "write-hot"),
               sample_key("größe:日本", 3'412, "hot"),
               sample_key("user:1002:profile", 612, "warm")};
  view.copies = sample_copies();
  view.keys[2].reads_rate = 1000;
  view.keys[2].writes_rate = 2500;
  view.keys[2].misses_rate = 1000;
  view.keys[2].commands = {{"INCR", 25'000}, {"GET", 10'000}};
  view.keys[3].cached = false;
  view.keys[3].misses_rate = view.keys[3].reads_rate;
  view.keys[3].hits_rate = view.keys[3].hit_ratio = 0;
  view.keys[3].cache_note = "value larger than cache.maximum-value-bytes";
  return view;
}

}  // namespace heatsink::app
