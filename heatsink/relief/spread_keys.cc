// SPDX-License-Identifier: Apache-2.0
#include "heatsink/relief/spread_keys.h"

#include <utility>

#include "heatsink/base/log.h"

namespace heatsink::proxy {

SpreadKeys::SpreadKeys(SharedState& shared, net::EventLoop& loop, copies::Counters& counters,
                       Upstreams& upstreams, std::uint64_t seed,
                       std::function<void(std::uint64_t)> release)
    : parts_{shared, loop, counters, upstreams, Random(seed)},
      layouts_(parts_),
      release_(std::move(release)) {}

bool SpreadKeys::has_copies(std::string_view key, const policy::SpreadPolicy& policy,
                            resp::Protocol protocol) {
  if (parts_.upstreams.slot_map() == nullptr) {
    if (!parts_.shared.cluster.is_expected())
      log_limited(LogLevel::kWarning, "spread-single",
                  "a rule has spread.copies or spread.parts, but the upstream is a single server: "
                  "its keys are read and written as without the rule; spread.* needs a cluster, "
                  "whose nodes can share the load",
                  parts_.loop.now());
    return false;
  }
  const Destination to = Destination::of_key(key);
  if (SpreadParts::ready(parts_.upstreams.shared(protocol, to).connection) == nullptr) return false;
  return layouts_.known(key, policy.copies) != nullptr;
}

void SpreadKeys::read(std::string_view key, const policy::SpreadPolicy& policy,
                      const SpreadRead::Reader& reader, std::uint64_t client) {
  const std::vector<std::uint16_t>* const slots = layouts_.known(key, policy.copies);
  const std::vector<std::uint16_t> copies =
      slots != nullptr ? *slots : std::vector<std::uint16_t>{};
  reads_.push_back(std::make_unique<SpreadRead>(parts_, reader, key, policy.ttl,
                                                [this] { have_ended_ = true; }));
  reads_.back()->begin(copies, client);
}

// Called while a connection hands on a reply, or fails: requests are sent at the end of the turn.
void SpreadKeys::written(SpreadKeysWritten&& keys, copies::HeldClient* client) {
  if (parts_.upstreams.slot_map() == nullptr) return;
  const bool holds = client != nullptr && !client->closed();
  const std::uint64_t id = holds ? client->id() : 0;
  if (holds) client->hold();
  writes_.push_back(std::make_unique<SpreadWrite>(
      parts_, layouts_, std::move(keys),
      [this, holds, id] {
        if (holds) release_(id);
      },
      [this] { have_ended_ = true; }));
  due_.push_back(writes_.back().get());
}

void SpreadKeys::begin_writes() {
  for (SpreadWrite* const write : std::exchange(due_, {})) write->begin();
}

void SpreadKeys::end_turn() {
  begin_writes();
  layouts_.end_turn();
  if (!std::exchange(have_ended_, false)) return;
  std::erase_if(reads_, [](const auto& read) { return read->is_over(); });
  std::erase_if(writes_, [](const auto& write) { return write->is_over(); });
}

}  // namespace heatsink::proxy
