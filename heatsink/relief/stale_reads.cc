// SPDX-License-Identifier: Apache-2.0
#include "heatsink/relief/stale_reads.h"

#include <span>
#include <vector>

#include "heatsink/cache/unproven_copy.h"
#include "heatsink/policy/limits.h"

namespace heatsink::proxy {

Outcome StaleReads::refused(const Request& request) {
  if (!lookup_.applies(request)) return Outcome::kPass;
  const bool many = CopyLookup::is_of_many(request);
  const std::size_t count = many ? request.args().size() - 1 : 1;
  if (count > copies::kJoinedKeysMax) return Outcome::kPass;
  const cache::Read read = many ? CopyLookup::read_of_one(request) : request.read();
  std::vector<CopyLookup::Key> keys;
  for (const std::string_view name : std::span(request.args()).subspan(1, count)) {
    keys.push_back(lookup_.find(name));
    if (!find_unproven(keys.back(), read, request.now)) return Outcome::kPass;
  }
  // The right comes last, because checking it may send a request to the server.
  if (!lookup_.may_read(request, keys)) return Outcome::kPass;
  parts_.count_hit(*request.facts->local);
  if (many) {
    lookup_.serve_joined(request, keys);
  } else {
    lookup_.serve(request, keys.front());
  }
  return Outcome::kAnswered;
}

bool StaleReads::find_unproven(CopyLookup::Key& key, const cache::Read& read, TimePoint now) const {
  if (key.entry == nullptr) return false;
  policy::Limits* const limits = parts_.shared.limits();
  const policy::RuleLimit* const limit =
      limits == nullptr ? nullptr : limits->of(key.key, key.hash);
  if (limit == nullptr || limit->policy().over != policy::LimitPolicy::Over::kStale)
    return lookup_.judge(key, read, now) == cache::Ruling::kServe;
  key.copy = cache::unproven_copy(*key.entry, read, now, limit->policy().stale_max);
  return key.copy != nullptr;
}

}  // namespace heatsink::proxy
