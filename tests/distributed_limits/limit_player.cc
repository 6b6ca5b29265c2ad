// SPDX-License-Identifier: Apache-2.0
// heatsink_limit_player: one process that wants as much of a limit as it can get, and tells when it
// got how much. limits_test.py starts many of them.
#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "heatsink/distributed/distributed.h"

namespace heatsink::distributed {
namespace {

constexpr Nanos kBucket = Millis(100);
constexpr Nanos kPatience = std::chrono::minutes(1);

struct Play {
  ServerOptions server;
  RateLimiterOptions limiter;
  Nanos lasts{0};

  // A slow machine is no failure.
  Play() {
    server.connect_timeout = server.response_timeout = kPatience;
    limiter.patience = kPatience;
  }
};

// "name=value"; what is wrong ends the program with a sentence.
void set(Play& play, const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : text.substr(equals + 1);
  if (name == "url") {
    play.server.url = value;
  } else if (name == "translate") {
    play.server.translate = value;
  } else if (name == "algorithm" && limit::algorithm_of(value)) {
    play.limiter.limit.algorithm = *limit::algorithm_of(value);
  } else if (name == "rate" && limit::parse_rate(value).ok()) {
    play.limiter.limit.rate = limit::parse_rate(value).value();
  } else if (name == "burst") {
    play.limiter.limit.burst = std::strtoull(value.c_str(), nullptr, 10);
  } else if (name == "share") {
    play.limiter.lease_share = std::strtod(value.c_str(), nullptr);
  } else if (name == "on-failure") {
    play.limiter.on_failure = value == "allow" ? OnFailure::kAllow : OnFailure::kRefuse;
  } else if (name == "seconds") {
    play.lasts = Nanos(static_cast<Nanos::rep>(std::strtod(value.c_str(), nullptr) * 1e9));
  } else {
    fmt::print(stderr, "heatsink_limit_player: what is '{}'?\n", text);
    std::exit(2);
  }
}

// By tenths of a second of the machine's clock, which all processes share: what was allowed.
std::map<std::int64_t, std::uint64_t> play_on(const RateLimiter& limiter, Nanos lasts,
                                              std::uint64_t& unlimited) {
  std::map<std::int64_t, std::uint64_t> allowed;
  const RateLimiter::Handle handle = limiter.at("the one that all want");
  const TimePoint end = BootClock::now() + lasts;
  for (TimePoint now = BootClock::now(); now < end; now = BootClock::now()) {
    // The last one waits for its turn, too: nothing is given up half way.
    const Verdict verdict = handle.acquire(1, end + kPatience);
    if (!verdict.allowed) continue;
    if (verdict.basis == Basis::kFailure)
      ++unlimited;
    else
      ++allowed[BootClock::now().time_since_epoch() / kBucket];
  }
  return allowed;
}

int run(const Play& play) {
  Result<std::unique_ptr<Server>> opened = Server::open(play.server);
  if (!opened.ok()) {
    fmt::print(stderr, "heatsink_limit_player: {}\n", opened.error().message);
    return 2;
  }
  const std::shared_ptr<Server> shared = std::move(opened).value();
  const auto limiter = RateLimiter::make(shared, play.limiter);
  if (!limiter.ok()) {
    fmt::print(stderr, "heatsink_limit_player: {}\n", limiter.error().message);
    return 2;
  }
  fmt::print("ready\n");
  std::fflush(stdout);
  if (std::getchar() == EOF) return 0;  // all begin when they are told to
  std::uint64_t unlimited = 0;
  const auto allowed = play_on(**limiter, play.lasts, unlimited);
  const RateLimiterCounts counts = (*limiter)->counts();
  const Server::Counts server = shared->counts();
  fmt::print("asked {}\nleased {}\nlapsed {}\nfailures {}\nunlimited {}\nloads {}\nredirects {}\n",
             counts.asked, counts.leased_tokens, counts.lapsed_tokens, counts.failures, unlimited,
             server.loads, server.redirects);
  for (const auto& [bucket, count] : allowed) fmt::print("at {} {}\n", bucket, count);
  return 0;
}

}  // namespace
}  // namespace heatsink::distributed

int main(int argc, char** argv) {
  heatsink::distributed::Play play;
  for (int i = 1; i < argc; ++i) heatsink::distributed::set(play, argv[i]);
  return heatsink::distributed::run(play);
}
