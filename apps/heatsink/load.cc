// SPDX-License-Identifier: Apache-2.0
// heatsink load: generates a skewed load for trying things out.
#include <CLI/CLI.hpp>
#include <charconv>
#include <iostream>
#include <memory>

#include "apps/heatsink/flags.h"
#include "apps/heatsink/load/run.h"
#include "apps/heatsink/typed_flag.h"
#include "apps/heatsink/verbs.h"
#include "heatsink/base/printable.h"

namespace heatsink::app {
namespace {

constexpr double kKeyCountMax = 1e12;
constexpr double kFirstLineMax = 1e9;

struct LoadFlags {
  LoadOptions options;
  LoadRun run;
  net::RedisUrl target;
  bool target_given = false;
  bool exist = false;  // the keys
  std::size_t first_line = 1;
};

// A number of keys, or a file of them.
struct LoadKeys {
  std::uint64_t count = LoadOptions{}.keys;
  std::shared_ptr<const KeyList> names;  // nullptr: no file
};

Result<LoadKeys> parse_keys(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (end == text.data() + text.size() && error == std::errc{}) {
    const std::string wrong = between(1, kKeyCountMax)(text);
    if (!wrong.empty()) return Error{ErrorCode::kOutOfRange, wrong};
    return LoadKeys{static_cast<std::uint64_t>(number), nullptr};
  }
  auto names = KeyList::read(text);
  if (!names) return names.error();
  return LoadKeys{(*names)->distinct(), *names};
}

Result<net::RedisUrl> parse_target(const std::string& text) {
  Result<net::RedisUrl> target = net::parse_redis_url(text);
  if (target.ok() && target->tls)  // never use plain TCP if the URL asks for TLS
    return Error{ErrorCode::kUnsupported, "'heatsink load' has no TLS: use redis:// or unix://"};
  return target;
}

void add_key_flags(CLI::App& app, LoadFlags& flags, LoadKeys& keys) {
  add_parsed_flag(app, "--keys", keys, parse_keys, std::to_string(keys.count),
                  "Number of different keys, or a file with one key per line. "
                  "The load plays the lines in order, again and again, each thread its share. "
                  "A file whose name is a number: ./42")
      ->type_name("N|FILE");
  app.add_option("--zipf", flags.options.zipf,
                 "Skew: the key of rank k is read k^-zipf times as often as the first one; "
                 "0: all as often. Not for a file of keys")
      ->check(between(0, 10))
      ->capture_default_str();
  app.add_option("--first-line", flags.first_line,
                 "Line of the file that is played first, empty lines not counted")
      ->check(between(1, kFirstLineMax))
      ->capture_default_str();
  app.add_option("--prefix", flags.options.shape.prefix,
                 "Prefix of all key names; other keys are not touched. "
                 "'' uses names such as product:1000:price, or the names of the file, "
                 "and overwrites them")
      ->capture_default_str();
  app.add_flag("--no-preload", flags.exist,
               "Do not write the keys first. With --write-ratio 0 the load changes nothing");
}

void add_load_flags(CLI::App& app, LoadFlags& flags) {
  LoadOptions& options = flags.options;
  const auto add = [&app](const char* name, auto& target, double min, double max,
                          const char* help) {
    return app.add_option(name, target, help)->check(between(min, max))->capture_default_str();
  };
  add("--write-ratio", options.write_ratio, 0, 1,
      "Share of the operations that are writes, to the same keys");
  add("--value-size", options.shape.value_bytes, 0, 512.0 * 1024 * 1024,
      "Size of a value in bytes");
  add("--clients", options.clients, 1, 100'000, "Number of connections");
  add("--pipeline", options.shape.pipeline, 1, 100'000,
      "Maximum number of requests in flight per connection");
  auto* rate =
      add("--rate", options.rate, 0, 1e9, "Operations per second in all; 0: as fast as possible");
  app.add_flag("--closed", options.shape.closed,
               "Each connection sends a whole pipeline of requests at once, "
               "and the next one when it has all replies")
      ->excludes(rate);
  add("--seed", options.seed, 0, 1e18, "The same seed gives the same keys in the same order");
  add("--threads", options.threads, 1, 256, "Number of threads; they share the connections");
  add_duration_flag(app, "--for", flags.run.run_for,
                    "Duration, without the first writing of the keys; 0: run until interrupted");
  app.add_flag("--quiet", flags.run.quiet, "Print only the final result");
  app.add_flag("--json", flags.run.json, "Print only the final result, as one line of JSON");
}

// Empty, or what the flags lack.
std::string lack_of(const LoadFlags& flags, bool zipf_given) {
  if (!flags.target_given)
    return "--target is missing: name the server or proxy that the load may write to, "
           "as in --target redis://127.0.0.1:6380; the keys begin with '" +
           one_line(flags.options.shape.prefix) + "' (--prefix)";
  if (zipf_given && flags.options.shape.names)
    return "--zipf contradicts the file of --keys, which says the order: leave one out";
  return "";
}

}  // namespace

int run_load(int argc, char** argv) {
  LoadFlags flags;
  LoadKeys keys;
  flags.options.shape.prefix = "heatsink-load:";
  CLI::App app(
      "Generates a skewed load: Zipf reads and some writes of the same keys, "
      "which it writes first. Or plays the keys of a file.");
  const CLI::Option* given =
      add_parsed_flag(app, "--target", flags.target, parse_target, "",
                      "URL of the server or proxy, which gets the keys; it has no default")
          ->type_name("URL");
  add_key_flags(app, flags, keys);
  add_load_flags(app, flags);
  if (const auto code = parse_flags(app, argc, argv)) return *code;
  LoadOptions& options = flags.options;
  flags.target_given = given->count() > 0;
  options.keys = keys.count;
  options.shape.names = keys.names;
  options.preload = !flags.exist;
  options.first_line = flags.first_line - 1;
  options.threads = std::min(options.threads, options.clients);
  const std::string lack = lack_of(flags, app.get_option("--zipf")->count() > 0);
  if (lack.empty()) return run_load_session(options, flags.target, flags.run);
  std::cerr << "heatsink load: " << lack << "\n";
  return kMisused;
}

}  // namespace heatsink::app
