// SPDX-License-Identifier: Apache-2.0
// The keeper's part of a hand-over between processes: which keys have copies, and loading them
// again. Values are never passed on: the other process reads them from the server.
#include <algorithm>
#include <future>
#include <unordered_set>
#include <utility>

#include "heatsink/copies/copies_by_worth.h"
#include "heatsink/copies/copy_keeper.h"

namespace heatsink::copies {
namespace {

constexpr Nanos kNamesWithin = std::chrono::seconds(1);
constexpr std::uint32_t kFromPredecessor = UINT32_MAX;  // a source of warming besides the windows

}  // namespace

std::vector<CopyKeeper::LastingKey> CopyKeeper::hot_names(std::size_t count_max) {
  auto answer = std::make_shared<std::promise<std::vector<LastingKey>>>();
  std::future<std::vector<LastingKey>> future = answer->get_future();
  loop_.post([this, answer, count_max] {
    std::vector<LastingKey> keys;
    std::unordered_set<std::uint64_t> named;
    const TimePoint now = loop_.clock();
    for (const KeyHash hash : warmer_.keys()) {
      report::WarmedKey warmed = warmer_.report_on(hash);
      if (named.insert(hash.value).second && keys.size() < count_max)
        keys.push_back({std::move(warmed.key), std::max(warmed.until - now, Nanos(0))});
    }
    for (const cache::Entry* const entry : copies_by_worth(shared_.table, best_keys(count_max))) {
      const bool fits = keys.size() < count_max && entry->key().size() <= Warmer::kNameBytesMax;
      if (fits && named.insert(entry->hash().value).second)
        keys.push_back({{entry->key(), entry->db()}, Nanos(0)});
    }
    answer->set_value(std::move(keys));
  });
  if (future.wait_for(kNamesWithin) == std::future_status::ready) return future.get();
  return {};
}

// First the keys that are hot by their rate, the busiest one first; then those whose copies save
// most.
std::vector<KeyHash> CopyKeeper::best_keys(std::size_t count_max) const {
  std::vector<KeyHash> best;
  for (const detect::Verdict& verdict : selector_.verdicts())
    if (verdict.temperature == detect::Temperature::kHot) best.push_back(verdict.count.hash);
  if (!chooser_) return best;
  const auto is_kept = [this](KeyHash key) { return shared_.table.has_copy(key); };
  for (const admit::CopySaving& saving :
       savings_.top(count_max, chooser_->costs(), loop_.clock(), is_kept))
    best.push_back(saving.key);
  return best;
}

Learned CopyKeeper::learned() {
  auto answer = std::make_shared<std::promise<Learned>>();
  std::future<Learned> future = answer->get_future();
  loop_.post([this, answer] { answer->set_value(chooser_ ? chooser_->learned() : Learned{}); });
  if (future.wait_for(kNamesWithin) == std::future_status::ready) return future.get();
  return {};
}

void CopyKeeper::begin_with(const Learned& learned) {
  loop_.post([this, learned] {
    if (learned.server_scale) server_cpu_.believe(*learned.server_scale);
    if (!chooser_) return;
    chooser_->begin_with(learned);
    chooser_->set_server_scale(server_cpu_.scale());
  });
}

void CopyKeeper::warm_all(std::vector<LastingKey> keys, Nanos at_least) {
  loop_.post([this, keys = std::move(keys), at_least] {
    wake();
    const TimePoint now = loop_.clock();
    for (const LastingKey& each : keys) {
      std::string why;  // without room in the table the key becomes hot by its rate again
      const bool is_wanted = each.lasts > Nanos(0);
      static_cast<void>(warmer_.begin(each.key, is_wanted ? Warmer::kByHand : kFromPredecessor,
                                      now + std::max(each.lasts, at_least), now, why));
    }
    keep_warm();
  });
}

}  // namespace heatsink::copies
