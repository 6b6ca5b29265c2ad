// SPDX-License-Identifier: Apache-2.0
// heatsink warm: orders a running proxy to keep keys hot and loaded for a time.
#include <CLI/CLI.hpp>
#include <chrono>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "apps/heatsink/flags.h"
#include "apps/heatsink/typed_flag.h"
#include "apps/heatsink/verbs.h"
#include "apps/heatsink/warm/run.h"
#include "heatsink/base/printable.h"
#include "heatsink/base/secret_file.h"
#include "heatsink/proxy/proxy.h"
#include "heatsink/report/warming.h"

namespace heatsink::app {
namespace {

constexpr std::size_t kKeysOfInputMax = 100'000;

struct WarmFlags {
  WarmRun run;
  std::string file, until;
  bool list = false, end = false;
};

void add_flags(CLI::App& app, WarmFlags& flags) {
  WarmRun& run = flags.run;
  app.add_option("keys", run.keys, "Names of the keys")->type_name("KEY");
  app.add_option("--file", flags.file, "File with more names, one per line; - is standard input")
      ->type_name("FILE");
  auto* pattern = app.add_option("--pattern", run.pattern,
                                 "All keys of the server that match, such as product:*")
                      ->type_name("GLOB");
  app.add_option("--limit", run.limit, "With --pattern, maximum number of keys (default: all)")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{1}, report::WarmPattern::kKeysMax))
      ->needs(pattern);
  app.add_option("--db", run.db, "Database of the keys")->type_name("N");
  auto* lasts =
      add_duration_flag(app, "--for", run.lasts, "How long to keep the keys warm, at most 168h");
  app.add_option(
         "--until", flags.until,
         "Keep the keys warm until this time of day, such as 20:30, by the clock of this machine")
      ->type_name("TIME")
      ->excludes(lasts);
  app.add_option("--concurrency", run.batch, "Number of keys to load at once")
      ->type_name("N")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--rate", run.keys_per_second,
                 "Maximum number of keys to load per second; 0: no limit")
      ->type_name("N")
      ->check(between(0, 1e9));
  auto* list = app.add_flag("--list", flags.list, "Show the warmed keys, and change nothing");
  app.add_flag("--end", flags.end, "Stop warming these keys")->excludes(list);
  app.add_flag("--json", run.json, "Print the result as JSON");
  add_parsed_flag(
      app, "--admin", run.admin, [](const std::string& text) { return net::parse_host_port(text); },
      run.admin.text(), "Admin address of the proxy")
      ->type_name("HOST:PORT");
  add_parsed_flag(
      app, "--token-file", run.token,
      [](const std::string& path) { return read_secret_file(path); }, "",
      "File with the admin token of the proxy")
      ->type_name("FILE");
}

Status read_keys(std::istream& lines, std::vector<std::string>& keys) {
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty()) continue;
    if (keys.size() >= kKeysOfInputMax) {
      return Error{ErrorCode::kOutOfRange, "more than " + std::to_string(kKeysOfInputMax) +
                                               " keys: split them into several commands"};
    }
    keys.push_back(std::move(line));
  }
  return Unit{};
}

Status add_file(const std::string& path, std::vector<std::string>& keys) {
  if (path.empty()) return Unit{};
  if (path == "-") return read_keys(std::cin, keys);
  std::ifstream file(path);
  if (!file)
    return Error{ErrorCode::kUnavailable,
                 "--file: " + path + " cannot be read: check that it exists and its permissions"};
  return read_keys(file, keys);
}

Status set_time(WarmFlags& flags) {
  if (flags.until.empty()) {
    if (flags.run.lasts > report::WarmOrder::kLastsMax)
      return Error{ErrorCode::kOutOfRange,
                   "--for: " + format_duration(flags.run.lasts) + " is too long: " +
                       format_duration(report::WarmOrder::kLastsMax) + " is the longest"};
    if (flags.run.lasts >= std::chrono::seconds(1)) return Unit{};
    return invalid_argument("no duration: add --for 30m or --until 20:30 (at least 1s)");
  }
  const auto now = std::chrono::system_clock::now();
  const Result<WallTime> until = policy::next_time_of_day(flags.until, now);
  if (!until.ok()) return Error{until.error().code, "--" + until.error().message};
  flags.run.lasts = *until - now;
  return Unit{};
}

// Chooses keys or a pattern from the arguments.
Status choose_keys(WarmFlags& flags) {
  if (flags.run.pattern) {
    if (!flags.run.keys.empty()) {
      return invalid_argument(
          "--pattern and keys cannot be combined: use two commands (they may overlap)");
    }
    if (std::string fault = report::pattern_fault(*flags.run.pattern); !fault.empty())
      return invalid_argument("--pattern: " + fault);
    return Unit{};
  }
  if (!flags.run.keys.empty()) return Unit{};
  return invalid_argument("no keys: give KEY..., --pattern GLOB or --file FILE; or use --list");
}

Status complete(WarmFlags& flags) {
  if (flags.list) {
    flags.run.what = WarmRun::What::kList;
    return Unit{};
  }
  if (Status read = add_file(flags.file, flags.run.keys); !read.ok()) return read;
  if (Status chosen = choose_keys(flags); !chosen.ok()) return chosen;
  flags.run.what = flags.end ? WarmRun::What::kEnd : WarmRun::What::kBegin;
  return flags.end ? Status(Unit{}) : set_time(flags);
}

}  // namespace

int run_warm(int argc, char** argv) {
  CLI::App app("Keeps keys hot and loaded in a running proxy for some time, whatever their rate.",
               argv[0]);
  WarmFlags flags;
  add_flags(app, flags);
  if (const auto code = parse_flags(app, argc, argv)) return *code;
  if (const Status completed = complete(flags); !completed.ok()) {
    std::cerr << argv[0] << ": " << one_line(completed.error().message) << "\n";
    return kMisused;
  }
  return run_warm(flags.run);
}

}  // namespace heatsink::app
