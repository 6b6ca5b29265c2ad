// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/replay/run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <utility>

#include "apps/heatsink/process/exit_code.h"
#include "apps/heatsink/process/progress.h"
#include "heatsink/base/printable.h"
#include "heatsink/tui/number.h"

namespace heatsink::app {
namespace {

Result<replay::Trace> read(const ReplayOptions& options, ProgressLine& line) {
  auto source = replay::ByteSource::open(options.trace);
  if (!source) return source.error();
  return replay::read_trace(**source, options.reading, [&line](std::uint64_t accesses) {
    line.show("reading      " + tui::count_text(static_cast<double>(accesses)) + " requests");
  });
}

replay::SavingsGrid grid_of(const ReplayOptions& options, const replay::Trace& trace) {
  replay::SavingsGrid grid = options.grid;
  replay::SavingsGrid chosen = replay::grid_for(trace);
  if (grid.windows.empty()) grid.windows = std::move(chosen.windows);
  if (grid.hot_qps.empty()) grid.hot_qps = std::move(chosen.hot_qps);
  if (grid.capacities.empty()) grid.capacities = std::move(chosen.capacities);
  // There are no more hot keys than that.
  std::vector<replay::Capacity> possible;
  for (replay::Capacity capacity : grid.capacities) {
    capacity.entries_max = std::min(capacity.entries_max, replay::Accuracy::kKeysMax);
    if (std::find(possible.begin(), possible.end(), capacity) == possible.end())
      possible.push_back(capacity);
  }
  grid.capacities = std::move(possible);
  return grid;
}

// Copies of hot keys only, for each setting of the grid.
void try_thresholds(const ReplayOptions& options, ReplayReport& report, ProgressLine& line) {
  report.grid = grid_of(options, report.trace);
  replay::SavingsOptions simulated;
  simulated.grid = report.grid;
  simulated.rules = options.rules;
  report.savings = replay::savings(report.trace, simulated, options.threads,
                                   [&line](double done) { line.show("thresholds", done); });
  report.recommendation = replay::recommend(report.savings, [&](const replay::SavingsGrid& slower) {
    simulated.grid = slower;
    return replay::savings(report.trace, simulated, options.threads,
                           [&line](double done) { line.show("slower keys", done); });
  });
}

// The thresholds that the detector is judged by.
replay::AccuracyOptions judged_by(const ReplayOptions& options, const ReplayReport& report) {
  replay::AccuracyOptions judged;
  detect::Rule& rule = judged.rule;
  if (report.has_thresholds()) {
    const replay::Setting& chosen = report.recommendation.chosen.setting;
    rule.measure.window = chosen.window;
    rule.hot = options.hot_qps > 0 ? options.hot_qps : chosen.hot_qps;
    rule.warm = rule.hot;
  } else {
    const std::vector<Nanos> windows =
        options.grid.windows.empty() ? replay::windows_for(report.trace) : options.grid.windows;
    const bool has_usual =
        std::find(windows.begin(), windows.end(), rule.measure.window) != windows.end();
    if (!has_usual) rule.measure.window = windows.front();
    const std::optional<double> hot =
        options.hot_qps > 0 ? std::optional(options.hot_qps) : std::nullopt;
    detect::set_thresholds(rule, hot, hot);
  }
  judged.burst = replay::burst_part({rule.measure.window, rule.hot, {}});
  return judged;
}

// Checked before the work, so that the user learns at once that an output file exists.
Status check_absent(const std::string& path, bool overwrite) {
  if (path.empty() || overwrite || access(path.c_str(), F_OK) != 0) return Unit{};
  return invalid_argument(
      fmt::format("{} already exists: use --force to overwrite it", printable(path)));
}

Status write_file(const std::string& path, const std::string& text, bool overwrite) {
  const auto fail = [&path] {
    return Error{ErrorCode::kUnavailable,
                 fmt::format("cannot write {}: {}", printable(path), std::strerror(errno))};
  };
  const int mode = O_WRONLY | O_CREAT | O_CLOEXEC | (overwrite ? O_TRUNC : O_EXCL);
  const int fd = open(path.c_str(), mode, 0644);
  if (fd < 0) return fail();
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t done = write(fd, rest.data(), rest.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) {
      Error error = fail();
      close(fd);
      return error;
    }
    rest.remove_prefix(static_cast<std::size_t>(done));
  }
  if (close(fd) != 0) return fail();
  return Unit{};
}

int tell(const Error& error) {
  std::cerr << "heatsink replay: " << error.message << "\n";
  return error.code == ErrorCode::kInvalidArgument ? kMisused : kFailed;
}

Status write_files(const ReplayOptions& options, const ReplayReport& report) {
  if (!options.html_file.empty()) {
    Status written = write_file(options.html_file, report_html(report), options.overwrite);
    if (!written) return written;
  }
  if (options.config_file.empty()) return Unit{};
  return write_file(options.config_file, report_config(report), options.overwrite);
}

}  // namespace

Result<ReplayReport> replay_report(const ReplayOptions& options) {
  ProgressLine line;
  Result<replay::Trace> trace = read(options, line);
  if (!trace) {
    return Error{trace.error().code,
                 fmt::format("{}: {}", printable(options.trace), trace.error().message)};
  }
  ReplayReport report;
  report.source = options.trace;
  report.trace = std::move(trace).value();
  report.timing = options.reading.timing;
  report.facts = replay::facts_of(report.trace);
  report.rules = options.rules;
  report.earned = replay::earned_savings(
      report.trace,
      options.grid.capacities.empty() ? replay::budgets_for(report.trace) : options.grid.capacities,
      options.rules, options.threads, [&line](double done) { line.show("copies", done); });
  report.budget = replay::recommend_budget(report.earned);
  if (options.tries_thresholds) try_thresholds(options, report, line);
  report.judged = judged_by(options, report);
  if (report.trace.facts.is_recording) return report;
  report.accuracy = replay::accuracy(report.trace, report.judged,
                                     [&line](double done) { line.show("measuring", done); });
  return report;
}

int run_replay_session(const ReplayOptions& options) {
  for (const std::string& file : {options.html_file, options.config_file}) {
    if (const Status absent = check_absent(file, options.overwrite); !absent)
      return tell(absent.error());
  }
  const Result<ReplayReport> report = replay_report(options);
  if (!report) {
    (void)tell(report.error());
    return kFailed;
  }
  std::cout << (options.json ? report_json(*report) : report_text(*report)) << std::flush;
  if (const Status written = write_files(options, *report); !written) return tell(written.error());
  return std::cout.good() ? kDone : kFailed;
}

}  // namespace heatsink::app
