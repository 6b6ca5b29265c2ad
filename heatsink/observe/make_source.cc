// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/make_source.h"

#include <utility>

#include "heatsink/base/nearest.h"
#include "heatsink/base/printable.h"
#include "heatsink/observe/auto_source.h"
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
  if (options.scan_keys_per_second > 0) out.keys_per_second = options.scan_keys_per_second;
  return std::make_unique<LfuSource>(std::move(out));
}

std::unique_ptr<Source> make_hotkeys(const SourceOptions& options) {
  return std::make_unique<HotkeysSource>(
      HotkeysSourceOptions{options.login, options.server, options.seed});
}

// By what they take of the server. Slots are no candidate: to name keys they need MONITOR as well.
std::unique_ptr<Source> make_auto(const SourceOptions& options) {
  std::vector<std::unique_ptr<Source>> candidates;
  candidates.push_back(make_hotkeys(options));
  candidates.push_back(make_monitor(options));
  candidates.push_back(make_lfu(options));
  return std::make_unique<AutoSource>(std::move(candidates));
}

struct Row {
  std::string_view name;
  Make make;
};
constexpr Row kRows[] = {{"auto", make_auto},
                         {"monitor", make_monitor},
                         {"lfu", make_lfu},
                         {"slots", make_slots},
                         {"hotkeys", make_hotkeys}};

Error unknown(std::string_view name) {
  std::string all;
  for (const std::string& each : source_names()) all += (all.empty() ? "" : ", ") + each;
  const std::vector<std::string> names = source_names();
  const std::string_view meant = nearest(name, names);
  return {ErrorCode::kInvalidArgument,
          "there is no source '" + printable(name) + "'" +
              (meant.empty() ? "" : " (did you mean " + std::string(meant) + "?)") + ": " + all};
}

}  // namespace

std::vector<std::string> source_names() {
  std::vector<std::string> out;
  for (const Row& row : kRows) out.emplace_back(row.name);
  return out;
}

Result<std::unique_ptr<Source>> make_source(std::string_view name, const SourceOptions& options) {
  for (const Row& row : kRows) {
    if (row.name == name) return row.make(options);
  }
  return unknown(name);
}

}  // namespace heatsink::observe
