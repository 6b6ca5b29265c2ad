// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/make_source.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <random>
#include <utility>

#include "heatsink/base/nearest.h"
#include "heatsink/base/printable.h"
#include "heatsink/base/thread_cpu.h"
#include "heatsink/observe/auto_source.h"
#include "heatsink/observe/capture_source.h"
#include "heatsink/observe/hotkeys_source.h"
#include "heatsink/observe/lfu_source.h"
#include "heatsink/observe/monitor_source.h"
#include "heatsink/observe/slots_source.h"

namespace heatsink::observe {
namespace {

using Make = std::unique_ptr<Source> (*)(const SourceOptions&);

MonitorSourceOptions monitor_options(const SourceOptions& options) {
  MonitorSourceOptions out;
  out.login = options.login;
  out.server = options.server;
  out.latency_max = options.latency_max;
  out.seed = out.pace.seed = options.seed;
  return out;
}

std::unique_ptr<Source> make_monitor(const SourceOptions& options) {
  return std::make_unique<MonitorSource>(monitor_options(options));
}

std::unique_ptr<Source> make_slots(const SourceOptions& options) {
  return std::make_unique<SlotsSource>(monitor_options(options));
}

std::unique_ptr<Source> make_lfu(const SourceOptions& options) {
  LfuSourceOptions out;
  out.login = options.login;
  out.server = options.server;
  out.db = options.db;
  out.all_databases = options.db == 0;
  out.seed = options.seed;
  out.resume_from = options.resume_from;
  out.keep = options.keep;
  out.first_key = options.first_key;
  out.first_db = options.first_db;
  if (options.scan_keys_per_second > 0) out.keys_per_second = options.scan_keys_per_second;
  return std::make_unique<LfuSource>(std::move(out));
}

std::unique_ptr<Source> make_hotkeys(const SourceOptions& options) {
  return std::make_unique<HotkeysSource>(
      HotkeysSourceOptions{options.login, options.server, options.seed});
}

std::int64_t wall_ns() {
  return std::chrono::duration_cast<Nanos>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// Without an opened capture, returns a source that has failed.
std::unique_ptr<Source> make_capture(const SourceOptions& options) {
  std::unique_ptr<Source> opened = options.capture ? options.capture() : nullptr;
  if (opened) return opened;
  CaptureTarget none;
  none.unfit =
      "a capture does not follow cluster nodes: on the node's machine, "
      "use --source capture --port N without a server";
  return open_capture(none, options.server, false);
}

// Ordered by their cost to the server. Slot statistics are no candidate: to name keys they need
// MONITOR as well.
std::unique_ptr<Source> make_auto(const SourceOptions& options) {
  std::vector<std::unique_ptr<Source>> candidates;
  if (auto opened = options.capture ? options.capture() : nullptr)
    candidates.push_back(std::move(opened));
  candidates.push_back(make_hotkeys(options));
  candidates.push_back(make_monitor(options));
  candidates.push_back(make_lfu(options));
  return std::make_unique<AutoSource>(std::move(candidates));
}

struct Row {
  std::string_view name;
  Make make;
  bool for_each_node;
};
constexpr Row kRows[] = {{"auto", make_auto, false},       {"capture", make_capture, false},
                         {"monitor", make_monitor, false}, {"lfu", make_lfu, true},
                         {"slots", make_slots, true},      {"hotkeys", make_hotkeys, true}};

Error unknown(std::string_view name) {
  std::string all;
  for (const std::string& each : source_names()) all += (all.empty() ? "" : ", ") + each;
  const std::vector<std::string> names = source_names();
  const std::string_view meant = nearest(name, names);
  return invalid_argument("unknown source '" + printable(name) + "'" +
                          (meant.empty() ? "" : " (did you mean " + std::string(meant) + "?)") +
                          ": " + all);
}

}  // namespace

std::vector<std::string> source_names() {
  std::vector<std::string> out;
  for (const Row& row : kRows) out.emplace_back(row.name);
  return out;
}

Status check_source_name(std::string_view name) {
  if (std::ranges::find(kRows, name, &Row::name) != std::end(kRows)) return Unit{};
  return unknown(name);
}

Result<std::unique_ptr<Source>> make_source(std::string_view name, const SourceOptions& options) {
  for (const Row& row : kRows) {
    if (row.name == name) return row.make(options);
  }
  return unknown(name);
}

std::unique_ptr<Source> open_capture(const CaptureTarget& target, const std::string& server,
                                     bool for_auto) {
  constexpr Nanos kSilentMax = std::chrono::seconds(4);
  const std::string& unfit =
      for_auto && target.unfit.empty() ? target.unfit_for_auto : target.unfit;
  CaptureSourceOptions options{.server = server,
                               .where = target.where(),
                               .silent_max = for_auto ? kSilentMax : Nanos(0),
                               .seed = std::random_device()(),
                               .wall_ns = wall_ns,
                               .cpu = thread_cpu_time};
  return std::make_unique<CaptureSource>(
      std::move(options),
      [&](capture::OnCommand on_command) -> Result<std::unique_ptr<capture::CaptureFeed>> {
        if (!unfit.empty()) return invalid_argument(unfit);
        capture::FeedOptions feed;
        feed.interface = target.interface;
        feed.ports = target.ports;
        feed.hosts = target.hosts;
        if (target.all_replies) feed.replies_max = std::numeric_limits<double>::infinity();
        feed.servers_are_here = target.is_here;
        return capture::CaptureFeed::open(feed, std::move(on_command));
      });
}

bool is_for_each_node(std::string_view name) {
  return std::ranges::any_of(
      kRows, [name](const Row& row) { return row.name == name && row.for_each_node; });
}

}  // namespace heatsink::observe
