// SPDX-License-Identifier: Apache-2.0
// bench_distributed_limits: what a decision across processes costs the server that all share,
// beside the counter of the textbook.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/figures.h"
#include "heatsink/distributed/distributed.h"
#include "heatsink/resp/testing/redis_process.h"
#include "heatsink/resp/writer.h"

namespace heatsink::bench {
namespace {

using distributed::FunctionCall;
using limit::LimiterOptions;

constexpr int kDecisions = 20'000;
constexpr int kRounds = 9;
constexpr std::size_t kKeys = 100;
constexpr double kDirectUsMax = 12;
constexpr double kLeasedShareMax = 0.05;  // of what asking each time costs

class Redis {
 public:
  Redis() {
    if (!server_.running()) throw std::runtime_error("redis-server is not installed");
  }
  std::string url() const { return "unix://" + server_.socket_path(); }
  void play(const ByteBuffer& requests) {
    if (server_.ask(requests.view()).find("\r\n-") != std::string::npos)
      throw std::runtime_error("the server has refused something");
  }
  std::string ask(std::initializer_list<std::string_view> args) { return server_.ask(args); }
  // Of the thread that executes commands.
  double cpu_us() {
    const std::string info = ask({"INFO", "cpu"});
    return 1e6 *
           (field(info, "used_cpu_sys_main_thread:") + field(info, "used_cpu_user_main_thread:"));
  }

 private:
  static double field(const std::string& info, const std::string& name) {
    const std::size_t at = info.find(name);
    if (at == std::string::npos) throw std::runtime_error("INFO cpu has no " + name);
    return std::strtod(info.c_str() + at + name.size(), nullptr);
  }

  resp::testing::RedisProcess server_;
};

struct Row {
  std::string name;
  std::function<void(Redis&)> play;  // kDecisions of them
  std::string key;                   // whose memory is told; "": none
  std::vector<double> us_each = {};
  std::string bytes = {};
};

std::string key_of(const char* kind, std::size_t i) {
  return fmt::format("{}:{}", kind, i % kKeys);
}

// All in one pipeline: what the commands cost, and next to nothing for carrying them.
Row commands(const std::string& name, const std::string& key,
             const std::function<void(ByteBuffer&, int)>& append) {
  auto requests = std::make_shared<ByteBuffer>();
  for (int i = 0; i < kDecisions; ++i) append(*requests, i);
  return {name, [requests](Redis& redis) { redis.play(*requests); }, key};
}

void append_call(ByteBuffer& out, const FunctionCall& call, bool as_script) {
  const auto& function = *call.function;
  std::vector<std::string_view> args = {as_script ? "EVALSHA" : "FCALL",
                                        as_script ? function.sha1 : function.name, "1",
                                        call.keys.front()};
  args.insert(args.end(), call.args.begin(), call.args.end());
  resp::append_request(out, args);
}

Row direct(const std::string& name, const char* kind, const LimiterOptions& options,
           bool as_script = false) {
  return commands(name, key_of(kind, 0), [=](ByteBuffer& out, int i) {
    append_call(out,
                limit_call(distributed::limit_library(), options,
                           key_of(kind, static_cast<std::size_t>(i)), {}),
                as_script);
  });
}

Row counter() {
  return commands("INCR and EXPIRE", key_of("counter", 0), [](ByteBuffer& out, int i) {
    const std::string key = key_of("counter", static_cast<std::size_t>(i));
    resp::append_request(out, {"INCR", key});
    resp::append_request(out, {"EXPIRE", key, "60"});
  });
}

Row ping() {
  return commands("PING, to compare with", "",
                  [](ByteBuffer& out, int) { resp::append_request(out, {"PING"}); });
}

LimiterOptions bucket(std::uint64_t per_second, std::uint64_t burst) {
  return {.algorithm = limit::Algorithm::kTokenBucket,
          .rate = {per_second, std::chrono::seconds(1)},
          .burst = burst};
}
LimiterOptions window(std::uint64_t count, std::uint32_t slots) {
  return {.algorithm = limit::Algorithm::kSlidingWindow,
          .rate = {count, std::chrono::seconds(1)},
          .slots = slots};
}

// One limiter as an application has it, asked as fast as it answers.
Row leased(const Redis& redis) {
  const std::shared_ptr<distributed::Server> server =
      distributed::Server::open({.url = redis.url()}).value();
  distributed::RateLimiterOptions options;
  options.limit = bucket(100'000'000, 50'000'000);
  options.lease_share = 0.2;
  const std::shared_ptr<distributed::RateLimiter> limiter =
      distributed::RateLimiter::make(server, options).value();
  return {"token bucket, leased",
          [limiter](Redis&) {
            const auto handle = limiter->at("leased");
            for (int i = 0; i < kDecisions; ++i)
              if (!handle.try_acquire().allowed) throw std::runtime_error("a lease was refused");
          },
          ""};
}

std::vector<Row> rows(const Redis& redis) {
  constexpr std::uint64_t kPlenty = 100'000'000;
  return {ping(),
          counter(),
          direct("token bucket", "bucket", bucket(1000, kPlenty)),
          direct("token bucket, refused", "empty", bucket(1, 1)),
          direct("token bucket, as a script", "script", bucket(1000, kPlenty), true),
          direct("sliding window, 10 slots", "window10", window(kPlenty, 10)),
          direct("sliding window, 60 slots", "window60", window(kPlenty, 60)),
          leased(redis)};
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::string memory(Redis& redis, const std::string& key) {
  if (key.empty()) return "";
  const std::string told = redis.ask({"MEMORY", "USAGE", key});
  return told.starts_with(':') ? told.substr(1, told.find('\r') - 1) : "";
}

void measure(Figures& figures) {
  Redis redis;
  redis.ask({"FUNCTION", "LOAD", distributed::limit_library().source()});
  redis.ask({"SCRIPT", "LOAD", distributed::limit_library().function("token_bucket").script});
  std::vector<Row> all = rows(redis);
  for (int round = 0; round <= kRounds; ++round)
    for (Row& row : all) {
      const double before = redis.cpu_us();
      row.play(redis);
      if (round > 0) row.us_each.push_back((redis.cpu_us() - before) / kDecisions);
      row.bytes = memory(redis, row.key);
    }
  figures.table("Server CPU of a decision, pipelined", {"of each", "us", "bytes"});
  for (const Row& row : all)
    figures.row({row.name, fmt::format("{:.2f}", median(row.us_each)), row.bytes});
  const double asked = median(all[2].us_each);
  const double from_lease = median(all.back().us_each);
  figures.table("Targets", {"target", "asked", "reached", ""});
  figures.row({"a direct decision, us", fmt::format("<= {}", kDirectUsMax),
               fmt::format("{:.2f}", asked), figures.judged(asked <= kDirectUsMax)});
  const double share = from_lease / asked;
  figures.row({"a leased one, of a direct one", fmt::format("<= {}", kLeasedShareMax),
               fmt::format("{:.4f}", share), figures.judged(share <= kLeasedShareMax)});
}

}  // namespace
}  // namespace heatsink::bench

int main(int argc, char** argv) {
  const bool json = argc == 2 && std::string_view(argv[1]) == "--json";
  if (argc > 2 || (argc == 2 && !json)) {
    fmt::print(stderr, "usage: bench_distributed_limits [--json]\n");
    return 2;
  }
  heatsink::bench::Figures figures(json);
  try {
    heatsink::bench::measure(figures);
  } catch (const std::runtime_error& error) {
    fmt::print(stderr, "bench_distributed_limits: {}\n", error.what());
    return 2;
  }
  return figures.finish();
}
