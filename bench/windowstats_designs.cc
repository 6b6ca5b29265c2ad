// SPDX-License-Identifier: Apache-2.0
#include "bench/windowstats_designs.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>

#include "heatsink/distributed/distributed.h"
#include "heatsink/stats/stats.h"

namespace heatsink::bench {
namespace {

constexpr std::size_t kBatch = 1000;
constexpr std::size_t kWindowUs = 60'000'000;

std::int64_t number_at(const Numbers& numbers, std::size_t event) {
  return numbers[event % numbers.size()];
}

// Calls `each` for events first .. first + count - 1; the costs are their means.
void measure(BlockingClient& client, std::size_t first, std::size_t count, WindowCost& cost,
             const std::function<void(std::size_t)>& each) {
  const double cpu = client.server_cpu_us();
  const auto began = std::chrono::steady_clock::now();
  for (std::size_t event = first; event < first + count; ++event) each(event);
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - began;
  const auto events = static_cast<double>(count);
  cost.measured = count;
  cost.event_us = took.count() / events;
  cost.server_us = (client.server_cpu_us() - cpu) / events;
}

double measured_read_ms(BlockingClient& client, const std::function<void()>& read) {
  const double cpu = client.server_cpu_us();
  read();
  return (client.server_cpu_us() - cpu) / 1000;
}

// ---- sorted sets: events are spread over a window that ends with the last of them

struct Event {
  std::string score, member, oldest;
};
Event event_of(const Numbers& numbers, std::size_t event, std::size_t events) {
  const std::size_t at = event * kWindowUs / events;
  const std::size_t oldest = at > kWindowUs ? at - kWindowUs : 0;
  return {std::to_string(at),
          std::to_string(event) + ":" + std::to_string(number_at(numbers, event)),
          std::to_string(oldest)};
}

void fill_sorted_set(BlockingClient& client, const Numbers& numbers, std::size_t events) {
  client.ask({"DEL", "zset"});
  for (std::size_t done = 0; done < events;) {
    const std::size_t batch = std::min(kBatch, events - done);
    for (std::size_t i = 0; i < batch; ++i) {
      const Event one = event_of(numbers, done + i, events);
      client.append({"ZADD", "zset", one.score, one.member});
    }
    client.flush();
    for (std::size_t i = 0; i < batch; ++i) client.reply();
    done += batch;
  }
}

// The only reading that it has, but for the count.
void read_sorted_set(BlockingClient& client, WindowCost& cost) {
  cost.kilobytes = client.kilobytes("zset");
  cost.read_ms = measured_read_ms(client, [&] { client.ask({"ZRANGE", "zset", "0", "-1"}); });
  cost.p99_error = 0;
}

// ---- raw samples

constexpr std::size_t kSampleBytes = 12;

void append_sample(std::string& blob, std::size_t at, std::int64_t number) {
  const auto value = static_cast<float>(number);
  char bytes[kSampleBytes];
  std::memcpy(bytes, &at, 8);
  std::memcpy(bytes + 8, &value, 4);
  blob.append(bytes, kSampleBytes);
}

void trim(std::string& blob, std::size_t now) {
  std::size_t gone = 0;
  for (std::size_t at = 0; gone < blob.size(); gone += kSampleBytes) {
    std::memcpy(&at, blob.data() + gone, 8);
    if (at + kWindowUs > now) break;
  }
  blob.erase(0, gone);
}

// ---- ours

constexpr int kFlushes = 600;  // of a window
constexpr std::int64_t kFlushMs = 100, kSlotMs = 1000;

stats::Summary next_numbers(const Numbers& numbers, std::size_t& event, std::size_t end) {
  stats::Summary summary;
  for (; event < end; ++event) summary.add(number_at(numbers, event));
  return summary;
}

}  // namespace

double exact_p99(const Numbers& numbers, std::size_t events) {
  std::vector<std::int64_t> all;
  for (std::size_t event = 0; event < events; ++event) all.push_back(number_at(numbers, event));
  const auto rank = static_cast<std::ptrdiff_t>(std::ceil(0.99 * static_cast<double>(events))) - 1;
  std::nth_element(all.begin(), all.begin() + rank, all.end());
  return static_cast<double>(all[static_cast<std::size_t>(rank)]);
}

WindowCost sorted_set_with_lock(BlockingClient& client, const Numbers& numbers, std::size_t events,
                                std::size_t measured) {
  fill_sorted_set(client, numbers, events);
  WindowCost cost;
  measure(client, events, measured, cost, [&](std::size_t event) {
    const Event one = event_of(numbers, event, events);
    client.ask({"SET", "lock", "me", "NX", "PX", "60000"});
    client.ask({"ZADD", "zset", one.score, one.member});
    client.ask({"ZREMRANGEBYSCORE", "zset", "-inf", one.oldest});
    client.ask({"ZCARD", "zset"});
    client.ask({"PEXPIRE", "zset", "120000"});
    client.ask({"DEL", "lock"});
  });
  read_sorted_set(client, cost);
  return cost;
}

WindowCost sorted_set_script(BlockingClient& client, const Numbers& numbers, std::size_t events,
                             std::size_t measured) {
  fill_sorted_set(client, numbers, events);
  const std::string sha = client
                              .ask({"SCRIPT", "LOAD",
                                    "redis.call('ZADD', KEYS[1], ARGV[1], ARGV[2]) "
                                    "redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[3]) "
                                    "redis.call('PEXPIRE', KEYS[1], 120000) "
                                    "return redis.call('ZCARD', KEYS[1])"})
                              .text;
  WindowCost cost;
  measure(client, events, measured, cost, [&](std::size_t event) {
    const Event one = event_of(numbers, event, events);
    client.ask({"EVALSHA", sha, "1", "zset", one.score, one.member, one.oldest});
  });
  read_sorted_set(client, cost);
  client.ask({"DEL", "zset"});
  return cost;
}

WindowCost raw_samples(BlockingClient& client, const Numbers& numbers, std::size_t events,
                       std::size_t measured) {
  std::string blob;
  for (std::size_t event = 0; event < events; ++event)
    append_sample(blob, event * kWindowUs / events, number_at(numbers, event));
  client.ask({"SET", "raw", blob});
  WindowCost cost;
  measure(client, events, measured, cost, [&](std::size_t event) {
    client.ask({"SET", "lock", "me", "NX", "PX", "60000"});
    std::string all = client.ask({"GET", "raw"}).text;
    const std::size_t now = event * kWindowUs / events;
    trim(all, now);
    append_sample(all, now, number_at(numbers, event));
    client.ask({"SET", "raw", all});
    client.ask({"DEL", "lock"});
  });
  cost.kilobytes = client.kilobytes("raw");
  cost.read_ms = measured_read_ms(client, [&] { client.ask({"GET", "raw"}); });
  cost.p99_error = 0;  // but for what a float rounds
  client.ask({"DEL", "raw"});
  return cost;
}

WindowCost window_statistics(BlockingClient& client, const Numbers& numbers, std::size_t events,
                             std::size_t writers) {
  const auto library = distributed::statistic_functions_by("redis.call('MGET', 'now:s', 'now:us')");
  client.ask({"FUNCTION", "LOAD", "REPLACE", library->source()});
  const std::string add = library->function("add").name, read = library->function("read").name;
  const std::string slot_ms = std::to_string(kSlotMs);
  std::size_t event = 0;
  std::uint64_t sequence = 0;
  WindowCost cost;
  const std::size_t parts = kFlushes * writers;
  measure(client, 0, parts, cost, [&](std::size_t part) {
    const auto now = static_cast<std::int64_t>(part / writers) * kFlushMs + 1'000'000'000;
    if (part % writers == 0)
      client.ask({"MSET", "now:s", std::to_string(now / 1000), "now:us",
                  std::to_string(now % 1000 * 1000)});
    const stats::Summary fresh = next_numbers(numbers, event, (part + 1) * events / parts);
    if (fresh.count == 0) return;
    const std::size_t writer = part % writers;
    const auto shard = static_cast<std::uint32_t>(writer % distributed::kStatisticShards);
    client.ask({"FCALL", add, "1", distributed::statistic_key("bench", shard),
                std::to_string(writer), std::to_string(++sequence), slot_ms, "60",
                distributed::encode_part(fresh)});
  });
  const double each = static_cast<double>(parts) / static_cast<double>(events);
  cost.measured = events;
  cost.server_us *= each;
  cost.event_us *= each;
  stats::Summary sum;
  cost.read_ms = measured_read_ms(client, [&] {
    for (std::uint32_t shard = 0; shard < distributed::kStatisticShards; ++shard) {
      const resp::Value reply =
          client.ask({"FCALL_RO", read, "1", distributed::statistic_key("bench", shard), "60000"});
      for (std::size_t i = 5; i < reply.items.size(); ++i)
        sum.merge(distributed::decode_slot(reply.items[i].text)->summary);
    }
  });
  for (std::uint32_t shard = 0; shard < distributed::kStatisticShards; ++shard) {
    const std::string key = distributed::statistic_key("bench", shard);
    if (client.ask({"EXISTS", key}).integer == 1) cost.kilobytes += client.kilobytes(key);
    client.ask({"DEL", key});
  }
  if (sum.count != events) {
    std::fprintf(stderr, "%zu of %zu events were counted\n", static_cast<std::size_t>(sum.count),
                 events);
    std::exit(1);
  }
  const double exact = exact_p99(numbers, events);
  cost.p99_error = 100 * std::abs(static_cast<double>(sum.quantile(0.99)) - exact) / exact;
  return cost;
}

}  // namespace heatsink::bench
