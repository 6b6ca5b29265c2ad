// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/node_probe.h"

#include <utility>

namespace heatsink::observe {
namespace {

constexpr Nanos kLoadEvery = std::chrono::seconds(1);

bool says_no_cluster(const resp::Value& reply) {
  return reply.is_error() && reply.text.find("cluster support disabled") != std::string::npos;
}

}  // namespace

NodeProbe::NodeProbe(NodeProbeOptions options)
    : options_(std::move(options)), pipeline_({.login = options_.login}) {}

void NodeProbe::tick(TimePoint now) {
  pipeline_.tick(now);
  const bool due = options_.counts && !asking_load_ && now >= next_load_at_;
  if (pipeline_.is_up() && due) ask_load(now);
}

void NodeProbe::ask_load(TimePoint now) {
  asking_load_ = true;
  next_load_at_ = now + kLoadEvery;
  pipeline_.ask({"INFO", "commandstats"}, now,
                [this](const Result<resp::Value>& reply, TimePoint at) {
                  asking_load_ = false;
                  if (!reply) return;
                  refuses_load_ = !reply->is_text();
                  if (!refuses_load_) meter_.add(call_counts(reply->text), at);
                });
}

void NodeProbe::ask_map(TimePoint now) {
  if (asking_map_ || !pipeline_.is_up()) return;
  asking_map_ = true;
  pipeline_.ask({"CLUSTER", "SHARDS"}, now, [this](const Result<resp::Value>& reply, TimePoint at) {
    if (reply && reply->is_error() && !says_no_cluster(*reply)) return ask_slots(at);
    take(reply, reply ? topology::parse_cluster_shards(*reply, options_.address, options_.tls)
                      : std::nullopt);
  });
}

void NodeProbe::ask_slots(TimePoint now) {
  pipeline_.ask({"CLUSTER", "SLOTS"}, now, [this](const Result<resp::Value>& reply, TimePoint) {
    take(reply, reply ? topology::parse_cluster_slots(*reply, options_.address) : std::nullopt);
  });
}

// A lost connection is no answer; the question is asked again. A master without slots has no keys.
void NodeProbe::take(const Result<resp::Value>& reply, std::optional<topology::AnnouncedMap> map) {
  asking_map_ = false;
  if (!reply) return;
  MapAnswer answer;
  if (map) {
    std::erase_if(*map, [](const auto& shard) { return shard.slots.empty(); });
    answer = {.is_cluster = true, .masters = std::move(*map), .why = ""};
  } else if (reply->is_error() && !says_no_cluster(*reply)) {
    answer.why = refusal("CLUSTER SLOTS", reply->text).message;
  } else if (!reply->is_error()) {
    answer.why = "the server's reply to CLUSTER SHARDS is malformed";
  }
  map_answer_ = std::move(answer);
}

std::optional<NodeProbe::MapAnswer> NodeProbe::take_map() {
  return std::exchange(map_answer_, std::nullopt);
}

}  // namespace heatsink::observe
