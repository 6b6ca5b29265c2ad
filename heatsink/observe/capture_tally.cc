// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/capture_tally.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace heatsink::observe {
namespace {

constexpr std::uint32_t kSlots = 10;
constexpr double kSlow = 0.99;            // the quantile of latency that is reported
constexpr double kLatestRead = 1.0 / 64;  // weight of the latest read in the mean of its bytes

std::uint32_t whole_bytes(double bytes) {
  constexpr double kMost = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::min(bytes + 0.5, kMost));
}

detect::RecorderOptions tally_options(const MonitorNames& names, std::uint64_t seed) {
  detect::RecorderOptions options;
  options.window = CaptureTally::kWindow;
  options.slots = kSlots;
  options.template_bytes = 100'000;
  options.seed = seed;
  options.names = &names;
  return options;
}

}  // namespace

CaptureTally::CaptureTally(std::uint64_t seed)
    : seed_(seed), recorder_(tally_options(names_, seed)) {}

void CaptureTally::take(const capture::CapturedCommand& command, TimePoint now) {
  if (command.keys.empty()) return;
  count_server(command.server);
  const std::uint32_t client = client_number(command.client);
  const std::uint16_t number = names_.command_number(command.command);
  const bool writes = std::ranges::any_of(command.keys, &capture::CapturedKey::write);
  for (const capture::CapturedKey& key : command.keys) {
    detect::Access access = command.access(key, seed_);
    access.client = client;
    access.command = number;
    const auto followed = followed_.find(access.hash.value);
    if (followed != followed_.end()) {
      Answers& answers = followed->second;
      if (command.reply) take_answer(command, writes, answers, now);
      if (!command.reply && !writes) access.bytes = whole_bytes(answers.read_bytes.value_or(0));
    }
    recorder_.record(access, now);
  }
}

void CaptureTally::take_answer(const capture::CapturedCommand& command, bool writes,
                               Answers& answers, TimePoint now) {
  if (command.reply->latency) answers.latency.record(command.reply->latency->count(), now);
  if (writes) return;
  answers.absent.record(command.missed() ? 1 : 0, now);
  const auto bytes = static_cast<double>(command.value_bytes());
  const double before = answers.read_bytes.value_or(bytes);
  answers.read_bytes = before + kLatestRead * (bytes - before);
}

// Formatting an address costs more than all other work per command, so each is formatted once.
std::uint32_t CaptureTally::client_number(const capture::Endpoint& client) {
  const auto at = clients_.find(client.address);
  if (at != clients_.end()) return at->second;
  if (clients_.size() >= kAddressesMax) return detect::kNoClient;
  return clients_[client.address] = names_.client_number(client.text());
}

void CaptureTally::count_server(const capture::Endpoint& server) {
  const auto at = servers_.find(server);
  if (at != servers_.end()) {
    ++at->second;
  } else if (servers_.size() < kServersMax) {
    servers_[server] = 1;
  }
}

std::string CaptureTally::busiest_server() const {
  const auto busiest =
      std::ranges::max_element(servers_, {}, [](const auto& server) { return server.second; });
  return busiest == servers_.end() ? "" : busiest->first.text();
}

detect::Summary CaptureTally::summarize(TimePoint now) {
  detect::Summary summary = recorder_.summarize(now, kKeysMax);
  follow(summary);
  return summary;
}

void CaptureTally::follow(const detect::Summary& summary) {
  boost::unordered_flat_map<std::uint64_t, Answers> kept;
  for (const detect::KeyCount& key : summary.keys) {
    const auto known = followed_.find(key.hash.value);
    kept.emplace(key.hash.value,
                 known != followed_.end()
                     ? std::move(known->second)
                     : Answers{stats::Window({kWindow, kSlots}), stats::Window({kWindow, kSlots})});
  }
  followed_ = std::move(kept);
}

std::optional<KeyAnswers> CaptureTally::answers(KeyHash key, TimePoint now) {
  const auto at = followed_.find(key.value);
  if (at == followed_.end()) return std::nullopt;
  const stats::Summary latency = at->second.latency.summary(now);
  const stats::Summary absent = at->second.absent.summary(now);
  if (latency.count == 0 && absent.count == 0) return std::nullopt;
  KeyAnswers out;
  out.absent_share = absent.mean();
  if (latency.count > 0) {
    out.latency_mean = Nanos(static_cast<std::int64_t>(latency.mean()));
    out.latency_p99 = Nanos(latency.quantile(kSlow));
  }
  return out;
}

}  // namespace heatsink::observe
