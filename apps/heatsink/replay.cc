// SPDX-License-Identifier: Apache-2.0
// heatsink replay: recommends the room for copies, and thresholds on request, from recorded
// traffic.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <thread>

#include "apps/heatsink/flags.h"
#include "apps/heatsink/replay/run.h"
#include "apps/heatsink/typed_flag.h"
#include "apps/heatsink/verbs.h"

namespace heatsink::app {
namespace {

constexpr std::size_t kListMax = 20;
constexpr std::size_t kCopiesWithBytes = 65'536;  // cache.maximum-size by default
constexpr const char* kCapacityForm =
    "a capacity must be 1 to 1000000 copies, or 64kb to 64gb of bytes, as in 16mb";

// Parses "a,b,c", each part with `parse_one`.
template <class T, class Parse>
Result<std::vector<T>> parse_list(const std::string& text, Parse parse_one) {
  std::vector<T> out;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    Result<T> one = parse_one(text.substr(at, end - at));
    if (!one) return one.error();
    if (std::find(out.begin(), out.end(), *one) == out.end()) out.push_back(std::move(*one));
    if (out.size() > kListMax)
      return Error{ErrorCode::kOutOfRange, "more than 20 values: give at most 20"};
    at = end + 1;
  }
  return out;
}

Result<double> parse_number(const std::string& text, double min, double max, const char* form) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(value >= min && value <= max))
    return invalid_argument(form);
  return value;
}

Result<double> parse_qps(const std::string& text) {
  return parse_number(text, 1, 1e9,
                      "a threshold must be a number of accesses per second, from 1 to 1e9");
}

Result<double> parse_rate(const std::string& text) {
  return parse_number(text, 1e-3, 1e9,
                      "a rate must be a number of accesses per second, from 0.001 to 1e9");
}

Result<double> parse_at_once(const std::string& text) {
  return parse_number(text, 1, 1000, "the commands at once must be a number from 1 to 1000");
}

Result<double> parse_speed(const std::string& text) {
  return parse_number(text, 1e-3, 1e3, "a speed must be a factor from 0.001 to 1000");
}

Result<Nanos> parse_window(const std::string& text) {
  Result<Nanos> window = parse_duration(text);
  if (window.ok() && (*window < Millis(100) || *window > std::chrono::hours(1)))
    return Error{ErrorCode::kOutOfRange, "a window must be from 100ms to 1h"};
  return window;
}

// A plain number means copies, one with a unit of bytes memory; the other limit is then off.
Result<replay::Capacity> parse_capacity(const std::string& text) {
  const bool plain = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  if (plain) {
    Result<double> entries =
        parse_number(text, 1, static_cast<double>(replay::kEarnedCopiesMax), kCapacityForm);
    if (!entries) return entries.error();
    return replay::Capacity{static_cast<std::size_t>(*entries), replay::kNoByteLimit};
  }
  Result<Bytes> bytes = parse_bytes(text);
  if (!bytes || *bytes < kibibytes(64) || *bytes >= replay::kNoByteLimit) {
    return invalid_argument(kCapacityForm);
  }
  return replay::Capacity{kCopiesWithBytes, *bytes};
}

// "auto" or a list.
void add_thresholds_flag(CLI::App& app, ReplayOptions& options) {
  app.add_option_function<std::string>(
         "--thresholds",
         [&options](const std::string& text) {
           options.tries_thresholds = true;
           if (text == "auto") return;
           auto list = parse_list<double>(text, parse_qps);
           if (!list) throw CLI::ValidationError("--thresholds", list.error().message);
           options.grid.hot_qps = std::move(list).value();
           std::sort(options.grid.hot_qps.begin(), options.grid.hot_qps.end());
         },
         "Also try copies of hot keys only (cache.admission: hot), "
         "with these thresholds (hot-qps), as in 100,200,500; auto: chosen from the traffic")
      ->type_name("LIST");
}

void add_timing_flags(CLI::App& app, replay::Timing& timing) {
  CLI::Option* rate =
      add_parsed_flag(app, "--rate", timing.rate, parse_rate, "",
                      "Accesses per second, evenly spaced; a trace without timestamps needs it")
          ->type_name("NUMBER");
  add_parsed_flag(app, "--speed", timing.speed, parse_speed, "1",
                  "Replay this many times as fast as the timestamps say")
      ->type_name("FACTOR")
      ->excludes(rate);
}

void add_grid_flags(CLI::App& app, replay::SavingsGrid& grid) {
  add_parsed_flag(
      app, "--windows", grid.windows,
      [](const std::string& text) { return parse_list<Nanos>(text, parse_window); }, "",
      "Windows to try with --thresholds, "
      "as in 2s,10s,60s (default: three that fit into the trace). "
      "Without it, the first one is the window of the accuracy")
      ->type_name("LIST");
  add_parsed_flag(
      app, "--capacities", grid.capacities,
      [](const std::string& text) { return parse_list<replay::Capacity>(text, parse_capacity); },
      "",
      "Cache sizes to try, in copies or bytes, "
      "as in 1000,4096,16mb (default: 1000 .. 65536 copies; hot keys only: 10 .. 4096)")
      ->type_name("LIST");
}

void add_bytes_flag(CLI::App& app, const std::string& name, Bytes& target, Bytes min,
                    const std::string& help) {
  add_parsed_flag(
      app, name, target,
      [min](const std::string& text) -> Result<Bytes> {
        Result<Bytes> bytes = parse_bytes(text);
        if (bytes && *bytes < min)
          return Error{ErrorCode::kOutOfRange, "it must be at least " + format_bytes(min)};
        return bytes;
      },
      format_bytes(target), help)
      ->type_name("BYTES");
}

void add_output_flags(CLI::App& app, ReplayOptions& options) {
  app.add_flag("--json", options.json, "Print the report as JSON");
  app.add_option("--html", options.html_file, "Write the report with plots to this file")
      ->type_name("FILE");
  app.add_option("--write-config", options.config_file,
                 "Write the recommended configuration to this file")
      ->type_name("FILE");
  app.add_flag("--force", options.overwrite, "Overwrite existing files");
}

}  // namespace

int run_replay(int argc, char** argv) {
  ReplayOptions options;
  options.threads = std::clamp(std::thread::hardware_concurrency(), 1U, 16U);
  CLI::App app(
      "Replays a recorded trace in virtual time: "
      "which keys were hot, what local copies would have saved, and how much room to give them.",
      argv[0]);
  app.add_option("TRACE", options.trace,
                 "Trace to read: CSV with a header (t_ms,key,op,size), "
                 "output of 'redis-cli MONITOR', a recording of 'heatsink top --record', "
                 "or packets (pcap, pcapng); plain or zstd; - is standard input")
      ->type_name("FILE")
      ->required();
  add_timing_flags(app, options.reading.timing);
  add_thresholds_flag(app, options);
  add_grid_flags(app, options.grid);
  add_parsed_flag(app, "--hot-qps", options.hot_qps, parse_qps, "auto, or the recommended one",
                  "Threshold at which the detector is compared with exact counts")
      ->type_name("NUMBER");
  add_bytes_flag(app, "--value-size", options.rules.value_bytes_assumed, Bytes{0},
                 "Size assumed for values whose size is not in the trace");
  add_parsed_flag(app, "--at-once", options.rules.at_once, parse_at_once, "1",
                  "Commands that clients send at once (pipelines): "
                  "the more, the less a hit spares the server, and the more a fill costs it")
      ->type_name("NUMBER");
  add_duration_flag(app, "--expire", options.rules.expire_after_write,
                    "Maximum lifetime of a copy (cache.expire-after-write)");
  add_bytes_flag(app, "--memory", options.reading.memory_max, mebibytes(1),
                 "Maximum memory for the trace: "
                 "16 bytes per access, and 50 bytes and the name per key; the rest is not read");
  add_output_flags(app, options);
  if (const auto code = parse_flags(app, argc, argv)) return *code;
  return run_replay_session(options);
}

}  // namespace heatsink::app
