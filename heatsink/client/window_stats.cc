// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/window_stats.h"

#include <chrono>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "heatsink/client/runtime.h"
#include "heatsink/client/server_options.h"
#include "heatsink/distributed/distributed.h"

namespace heatsink::client {
namespace {

using distributed::StatisticReading;
using distributed::WindowStatistics;

std::unique_ptr<distributed::Server> open_server(const ClientOptions& options) {
  auto server = distributed::Server::open(server_options(options, "heatsink-statistics"));
  if (!server.ok()) throw std::invalid_argument("server: " + server.error().message);
  return std::move(server).value();
}

distributed::WindowStatisticsOptions statistics_options(const ClientOptions& options) {
  return {.length = options.statistics_length,
          .flush_interval = options.statistics_flush_interval,
          .hold = options.statistics_hold,
          .names_max = static_cast<std::size_t>(options.statistics_maximum_names),
          .seed = system_runtime().draw_seed()};
}

[[noreturn]] void raise(const Error& error) {
  const bool is_server_error = error.code == ErrorCode::kInvalidArgument ||
                               error.code == ErrorCode::kPermission ||
                               error.code == ErrorCode::kOutOfRange;
  if (is_server_error) throw ServerError(error.message);
  throw ServerUnavailable(error.message);
}

WindowReading to_reading(const StatisticReading& reading) {
  const stats::Summary& all = reading.summary;
  WindowReading out;
  out.count = all.count;
  out.sum = all.sum;
  out.mean = all.mean();
  out.min = all.count == 0 ? 0 : all.min;
  out.max = all.count == 0 ? 0 : all.max;
  out.p50 = all.quantile(0.5);
  out.p90 = all.quantile(0.9);
  out.p99 = all.quantile(0.99);
  out.p999 = all.quantile(0.999);
  out.covered = reading.covered;
  out.slot = reading.slot;
  out.length = reading.length;
  out.shards_missing = reading.shards_missing;
  out.problem = reading.problem;
  return out;
}

}  // namespace

struct WindowStats::Core {
  explicit Core(const ClientOptions& options)
      : patience(options.server_connect_timeout + options.server_response_timeout),
        server(open_server(options)),
        statistics(std::make_unique<WindowStatistics>(*server, statistics_options(options))) {}

  TimePoint deadline() const { return system_runtime().now() + patience; }

  const Nanos patience;
  const std::unique_ptr<distributed::Server> server;
  const std::unique_ptr<WindowStatistics> statistics;
  std::mutex closing;
};

WindowStats::WindowStats(const ClientOptions& options) : core_(std::make_shared<Core>(options)) {}

bool WindowStats::add(std::string_view name, std::int64_t value) const noexcept {
  return core_->statistics->add(name, value);
}

void WindowStats::Series::add(std::int64_t value) const noexcept {
  static_cast<WindowStatistics*>(statistics_)->add(id_, value);
}

std::optional<WindowStats::Series> WindowStats::series(std::string_view name) const noexcept {
  const auto id = core_->statistics->series(name);
  if (!id) return std::nullopt;
  return Series(core_->statistics.get(), *id);
}

std::optional<WindowReading> WindowStats::read(std::string_view name, Nanos window) const {
  const auto window_ms = std::chrono::ceil<Millis>(window);
  const Result<StatisticReading> reading =
      distributed::read_statistic(*core_->server, name, window_ms, core_->deadline());
  if (reading.ok()) return to_reading(*reading);
  if (reading.error().code == ErrorCode::kNotFound) return std::nullopt;
  raise(reading.error());
}

std::vector<std::string> WindowStats::list(std::string_view pattern) const {
  auto names = distributed::list_statistics(*core_->server, pattern, core_->deadline());
  if (!names.ok()) raise(names.error());
  return std::move(names).value();
}

void WindowStats::flush(Nanos patience) const {
  const Status flushed = core_->statistics->flush(system_runtime().now() + patience);
  if (!flushed.ok()) throw ServerUnavailable(flushed.error().message);
}

WindowCounts WindowStats::counts() const {
  const WindowStatistics::Counts counts = core_->statistics->counts();
  return {.delivered = counts.delivered,
          .dropped = counts.dropped,
          .uncertain = counts.uncertain,
          .refused = counts.refused,
          .resent = counts.resent,
          .names = counts.names};
}

std::string WindowStats::problem() const { return core_->statistics->problem(); }

void WindowStats::close() const {
  const std::lock_guard lock(core_->closing);
  core_->statistics->close();
  core_->server->close();
}

}  // namespace heatsink::client
