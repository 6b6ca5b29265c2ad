// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/places.h"

#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace heatsink::observe {

struct Places::Search {
  std::mutex mutex;
  std::optional<Result<Server>> answer;

  void put(Result<Server> found) {
    const std::lock_guard lock(mutex);
    answer = std::move(found);
  }
  std::optional<Result<Server>> take() {
    const std::lock_guard lock(mutex);
    return std::exchange(answer, std::nullopt);
  }
};

void Places::begin(Place& place, const net::HostPort& address) const {
  auto search = std::make_shared<Search>();
  try {
    std::thread([search, address, reach = reach_] { search->put(reach(address)); }).detach();
    place.search = std::move(search);
  } catch (const std::system_error& error) {
    place.trouble = std::string("cannot start a thread to look up its name: ") + error.what();
  }
}

Places::Found Places::find(const std::string& node, const net::HostPort& address, TimePoint now) {
  Place& place = places_[node];
  if (place.server) return {&*place.server, ""};
  const bool is_new = place.tried_at == TimePoint{};
  if (!place.search && (is_new || now - place.tried_at >= kTryAgain)) {
    place.tried_at = now;
    begin(place, address);
  }
  auto answer = place.search ? place.search->take() : std::nullopt;
  if (answer) place.search.reset();
  if (answer && *answer) {
    place.server = std::move(*answer).value();
    return {&*place.server, ""};
  }
  if (answer) place.trouble = answer->error().message;
  const bool is_slow = place.search && now - place.tried_at >= kSlow;
  return {nullptr, is_slow ? "looking up its name" : place.trouble};
}

void Places::keep_only(const std::set<std::string>& nodes) {
  std::erase_if(places_, [&nodes](const auto& place) { return !nodes.contains(place.first); });
}

}  // namespace heatsink::observe
