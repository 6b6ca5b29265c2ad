// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/make_source.h"

#include <utility>

#include "heatsink/base/nearest.h"
#include "heatsink/base/printable.h"
#include "heatsink/observe/monitor_source.h"

namespace heatsink::observe {
namespace {

using Make = std::unique_ptr<Source> (*)(const SourceOptions&);

std::unique_ptr<Source> make_monitor(const SourceOptions& options) {
  MonitorSourceOptions out;
  out.login = options.login;
  out.server = options.server;
  out.latency_max = options.latency_max;
  out.seed = out.pace.seed = options.seed;
  return std::make_unique<MonitorSource>(std::move(out));
}

struct Row {
  std::string_view name;
  Make make;
};
constexpr Row kRows[] = {{"monitor", make_monitor}};

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
