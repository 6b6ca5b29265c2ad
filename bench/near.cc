// SPDX-License-Identifier: Apache-2.0
// Plays clients with near caches; near.py starts it beside a proxy or a server.
//
//   bench_near fan-out PORT CLIENTS KEYS ROUNDS   all keep all keys; one of them changes, ROUNDS
//   times bench_near reads PORT CLIENTS KEYS RATE SECONDS   RATE reads per second, zipf 1.1, and
//   writes bench_near closed PORT CLIENTS KEYS SECONDS tracks|plain   reads as fast as replies
//   come, all
//       sent: a client asks again for what it keeps
//
// Prints one JSON object. `fan-out` prints a line and waits for one when all keep all keys.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "bench/near_crowd.h"

namespace heatsink::bench {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;
using Number = NearCrowd::Number;

double ms(Nanos time) { return std::chrono::duration<double, std::milli>(time).count(); }

void say(const std::string& line) {
  std::puts(line.c_str());
  std::fflush(stdout);
}

void wait_for_line() {
  std::string line;
  std::getline(std::cin, line);
}

// In milliseconds.
class Times {
 public:
  void add(Nanos time) { times_.push_back(ms(time)); }
  std::size_t size() const { return times_.size(); }
  std::string json() {
    std::sort(times_.begin(), times_.end());
    return fmt::format("{{\"p50\":{:.3f},\"p99\":{:.3f},\"max\":{:.3f}}}", at(.5), at(.99), at(1));
  }

 private:
  double at(double share) const {
    if (times_.empty()) return 0;
    const auto last = static_cast<double>(times_.size() - 1);
    return times_[static_cast<std::size_t>(std::lround(share * last))];
  }
  std::vector<double> times_;
};

// A client that sends PING all the time, in a thread of its own: how long the others wait.
class Pinger {
 public:
  explicit Pinger(int port) : thread_([this, port] { run(port); }) {}
  ~Pinger() { stop(); }
  Pinger(const Pinger&) = delete;
  void stop() {
    is_over_ = true;
    if (thread_.joinable()) thread_.join();
  }
  void begin_round() { longest_ = 0; }
  Nanos longest() const { return Nanos(longest_.load()); }

 private:
  void run(int port) {
    NearCrowd one(1);
    const Number client = one.join(port, false);
    while (!is_over_) {
      const TimePoint sent = BootClock::now();
      one.send(client, {"PING"});
      one.settle();
      const std::int64_t took = (BootClock::now() - sent).count();
      if (took > longest_) longest_ = took;
      std::this_thread::sleep_for(microseconds(200));
    }
  }

  std::atomic<bool> is_over_{false};
  std::atomic<std::int64_t> longest_{0};
  std::thread thread_;
};

struct Crew {
  NearCrowd crowd;
  Number writer;

  Crew(int port, Number clients, Number keys, bool tracks) : crowd(keys) {
    for (Number i = 0; i < clients; ++i) crowd.join(port, tracks);
    writer = crowd.join(port, false);
    for (Number key = 0; key < keys; ++key) write(key);
    crowd.settle();
  }
  Number readers() const { return crowd.size() - 1; }
  void write(Number key) {
    crowd.send(writer, {"SET", "k" + std::to_string(key), std::to_string(++writes)});
  }
  std::uint64_t writes = 1'000'000'000;  // all values have the same length
};

// Until the client keeps it: the proxy has a copy of it by then.
void read_until_kept(NearCrowd& crowd, Number client, Number key) {
  const TimePoint end = BootClock::now() + seconds(20);
  while (!crowd.keeps(client, key) && BootClock::now() < end) {
    crowd.read(client, key);
    crowd.settle();
    crowd.turn(BootClock::now() + Millis(1));  // a push may follow
  }
}

std::size_t kept_pairs(const NearCrowd& crowd, Number readers, Number keys) {
  std::size_t kept = 0;
  for (Number client = 0; client < readers; ++client)
    for (Number key = 0; key < keys; ++key) kept += crowd.keeps(client, key) ? 1U : 0U;
  return kept;
}

// All clients read all keys, until they keep them.
void keep_all(NearCrowd& crowd, Number clients, Number keys) {
  for (Number key = 0; key < keys; ++key) read_until_kept(crowd, 0, key);
  // The proxy does not know this library, so it tells it twice of what had no copy yet.
  const TimePoint told_twice = BootClock::now() + Millis(500);
  while (BootClock::now() < told_twice) crowd.turn(told_twice);
  for (Number key = 0; key < keys; ++key) read_until_kept(crowd, 0, key);
  for (Number client = 1; client < clients; ++client) {
    for (Number key = 0; key < keys; ++key) crowd.read(client, key);
    if (client % 10 == 0) crowd.settle();
  }
  crowd.settle();
  crowd.turn(BootClock::now() + Millis(100));
}

int fan_out(int port, Number clients, Number keys, int rounds) {
  Crew crew(port, clients, keys, true);
  NearCrowd& crowd = crew.crowd;
  say("joined");
  wait_for_line();
  keep_all(crowd, clients, keys);
  say(std::to_string(kept_pairs(crowd, clients, keys)));
  wait_for_line();

  Times pushes, last, replies, pings;
  std::size_t untold = 0;
  Pinger pinger(port);
  for (int round = 0; round < rounds; ++round) {
    const Number key = static_cast<Number>(round) % keys;
    const TimePoint sent = BootClock::now();
    TimePoint latest = sent;
    std::vector<bool> keepers(clients);
    for (Number client = 0; client < clients; ++client) keepers[client] = crowd.keeps(client, key);
    auto waiting = static_cast<std::size_t>(std::count(keepers.begin(), keepers.end(), true));
    crowd.on_push = [&](Number client, Number pushed, TimePoint at) {
      if (pushed != key || !keepers[client]) return;
      keepers[client] = false;
      pushes.add(at - sent);
      latest = at;
      --waiting;
    };
    crowd.on_reply = [&](Number client, char, TimePoint at) {
      if (client == crew.writer) replies.add(at - sent);
    };
    pinger.begin_round();
    crew.write(key);
    while (waiting > 0 && BootClock::now() < sent + seconds(2)) crowd.turn(sent + seconds(2));
    crowd.settle();
    crowd.turn(BootClock::now() + Millis(20));  // a PING may be under way still
    pings.add(pinger.longest());
    last.add(latest - sent);
    untold += waiting;
    crowd.on_push = nullptr;
    crowd.on_reply = nullptr;
    read_until_kept(crowd, 0, key);
    for (Number client = 1; client < clients; ++client) {
      crowd.read(client, key);
      if (client % 100 == 0) crowd.settle();
    }
    crowd.settle();
    crowd.turn(BootClock::now() + Millis(20));
  }
  pinger.stop();
  fmt::print("{{\"untold\":{},\"push_ms\":{},\"last_ms\":{},\"writer_ms\":{},\"ping_ms\":{}}}\n",
             untold, pushes.json(), last.json(), replies.json(), pings.json());
  return 0;
}

// Ranks of zipf 1.1, by their place among all of them.
class Zipf {
 public:
  explicit Zipf(Number keys) {
    double sum = 0;
    sums_.reserve(keys);
    for (Number i = 0; i < keys; ++i) sums_.push_back(sum += std::pow(i + 1.0, -1.1));
  }
  Number operator()(std::mt19937_64& random) const {
    std::uniform_real_distribution<double> place(0, sums_.back());
    const auto at = std::upper_bound(sums_.begin(), sums_.end(), place(random));
    return static_cast<Number>(std::min<std::ptrdiff_t>(
        at - sums_.begin(), static_cast<std::ptrdiff_t>(sums_.size()) - 1));
  }

 private:
  std::vector<double> sums_;
};

constexpr Nanos kLearns = seconds(10);  // the proxy, before reads are counted

// One write for a thousand reads. A client with an owed reply leaves its read to the next one.
int reads(int port, Number clients, Number keys, double rate, int for_s) {
  Crew crew(port, clients, keys, true);
  NearCrowd& crowd = crew.crowd;
  const Zipf zipf(keys);
  std::mt19937_64 random(1);
  std::uint64_t done = 0, first = 0, near = 0, sent = 0;
  Times pushes;
  std::vector<TimePoint> written(keys);
  // By key: the clients that kept it when it was written last, and have not been told yet.
  std::vector<std::vector<bool>> untold(keys, std::vector<bool>(clients));
  crowd.on_push = [&](Number to, Number key, TimePoint at) {
    if (!untold[key][to]) return;
    untold[key][to] = false;
    pushes.add(at - written[key]);
  };
  const TimePoint began = BootClock::now();
  const TimePoint warm = began + kLearns;
  const TimePoint end = warm + seconds(for_s);
  bool is_warm = false;
  Number client = 0;
  for (TimePoint now = began; now < end; now = BootClock::now()) {
    if (now >= warm && !std::exchange(is_warm, true)) {
      say("warm");
      first = done;
      near = sent = 0;
      pushes = {};
    }
    const auto due = static_cast<std::uint64_t>(rate * 1e-3 * ms(now - began));
    for (; done < due; ++done) {
      client = (client + 1) % clients;
      for (Number i = 0; i < clients && crowd.owed(client) > 0; ++i)
        client = (client + 1) % clients;
      if (crowd.owed(client) > 0) break;
      const Number key = zipf(random);
      if (crowd.keeps(client, key)) {
        ++near;
      } else {
        crowd.read(client, key);
        ++sent;
      }
      if (done % 1000 == 0) {
        const Number changed = zipf(random);
        for (Number i = 0; i < clients; ++i) untold[changed][i] = crowd.keeps(i, changed);
        written[changed] = BootClock::now();
        crew.write(changed);
      }
    }
    crowd.turn(now + Millis(1));
  }
  fmt::print("{{\"reads\":{},\"near\":{},\"sent\":{},\"push_ms\":{}}}\n", done - first, near, sent,
             pushes.json());
  return 0;
}

int closed(int port, Number clients, Number keys, int for_s, bool tracks) {
  Crew crew(port, clients, keys, tracks);
  NearCrowd& crowd = crew.crowd;
  std::uint64_t replies = 0;
  Number next = 0;
  bool goes_on = true;
  crowd.on_reply = [&](Number client, char, TimePoint) {
    ++replies;
    if (goes_on) crowd.read(client, next++ % keys);
  };
  for (Number client = 0; client < clients; ++client) crowd.read(client, client % keys);
  const auto play = [&](Nanos time) {
    const TimePoint end = BootClock::now() + time;
    while (BootClock::now() < end) crowd.turn(end);
  };
  play(seconds(3));
  say("warm");
  replies = 0;
  play(seconds(for_s));
  fmt::print("{{\"replies\":{}}}\n", replies);
  goes_on = false;
  return 0;
}

int run(const std::vector<std::string_view>& words) {
  const auto number = [&](std::size_t i) { return std::atoi(words[i].data()); };
  const auto count = [&](std::size_t i) { return static_cast<Number>(number(i)); };
  if (words.size() == 5 && words[0] == "fan-out")
    return fan_out(number(1), count(2), count(3), number(4));
  if (words.size() == 6 && words[0] == "reads")
    return reads(number(1), count(2), count(3), number(4), number(5));
  if (words.size() == 6 && words[0] == "closed")
    return closed(number(1), count(2), count(3), number(4), words[5] == "tracks");
  std::fputs("bench_near: see the head of bench/near.cc; bench/near.py starts it\n", stderr);
  return 2;
}

}  // namespace
}  // namespace heatsink::bench

int main(int argc, char** argv) { return heatsink::bench::run({argv + 1, argv + argc}); }
