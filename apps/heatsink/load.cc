// SPDX-License-Identifier: Apache-2.0
// heatsink load: generates a skewed load for trying things out.
#include <CLI/CLI.hpp>
#include <iostream>

#include "apps/heatsink/flags.h"
#include "apps/heatsink/load/run.h"
#include "apps/heatsink/typed_flag.h"
#include "apps/heatsink/verbs.h"
#include "heatsink/base/printable.h"

namespace heatsink::app {
namespace {

void add_load_flags(CLI::App& app, LoadOptions& options) {
  const auto add = [&app](const char* name, auto& target, double min, double max,
                          const char* help) {
    app.add_option(name, target, help)->check(between(min, max))->capture_default_str();
  };
  add("--keys", options.keys, 1, 1e12, "Number of different keys");
  add("--zipf", options.zipf, 0, 10,
      "Skew: the key of rank k is read k^-zipf times as often as the first one");
  add("--write-ratio", options.write_ratio, 0, 1,
      "Share of the operations that are writes, to the same keys");
  add("--value-size", options.shape.value_bytes, 0, 512.0 * 1024 * 1024,
      "Size of a value in bytes");
  app.add_option("--prefix", options.shape.prefix,
                 "Prefix of all key names; other keys are not touched. '' uses names such as "
                 "product:1000:price, and overwrites them")
      ->capture_default_str();
  add("--clients", options.clients, 1, 100'000, "Number of connections");
  add("--pipeline", options.shape.pipeline, 1, 100'000,
      "Maximum number of requests in flight per connection");
  add("--rate", options.rate, 0, 1e9, "Operations per second in all; 0: as fast as possible");
  add("--seed", options.seed, 0, 1e18, "The same seed gives the same keys in the same order");
  add("--threads", options.threads, 1, 256, "Number of threads; they share the connections");
}

Result<net::RedisUrl> parse_target(const std::string& text) {
  Result<net::RedisUrl> target = net::parse_redis_url(text);
  if (target.ok() && target->tls)  // never use plain TCP if the URL asks for TLS
    return Error{ErrorCode::kUnsupported, "'heatsink load' has no TLS: use redis:// or unix://"};
  return target;
}

}  // namespace

int run_load(int argc, char** argv) {
  LoadOptions options;
  net::RedisUrl target;
  options.shape.prefix = "heatsink-load:";
  Nanos run_for = std::chrono::seconds(30);
  bool quiet = false;
  CLI::App app(
      "Generates a skewed load: Zipf reads and some writes of the same keys, which it writes "
      "first.");
  const CLI::Option* given =
      add_parsed_flag(app, "--target", target, parse_target, "",
                      "URL of the server or proxy, which gets the keys; it has no default")
          ->type_name("URL");
  add_load_flags(app, options);
  add_duration_flag(app, "--for", run_for,
                    "Duration, without the first writing of the keys; 0: run until interrupted");
  app.add_flag("--quiet", quiet, "Print only the final result");
  if (const auto code = parse_flags(app, argc, argv)) return *code;
  if (given->count() == 0) {
    std::cerr << "heatsink load: --target is missing: name the server or proxy that the load may "
                 "write to, as in --target redis://127.0.0.1:6380; the keys begin with '"
              << one_line(options.shape.prefix) << "' (--prefix)\n";
    return kMisused;
  }
  options.threads = std::min(options.threads, options.clients);
  return run_load_session(options, target, run_for, quiet);
}

}  // namespace heatsink::app
