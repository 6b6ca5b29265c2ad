// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/node_resolver.h"

#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace heatsink::observe {

struct NodeResolver::Search {
  std::mutex mutex;
  std::optional<Result<ServerAddress>> answer;

  void put(Result<ServerAddress> found) {
    const std::lock_guard lock(mutex);
    answer = std::move(found);
  }
  std::optional<Result<ServerAddress>> take() {
    const std::lock_guard lock(mutex);
    return std::exchange(answer, std::nullopt);
  }
};

void NodeResolver::begin(Node& known, const net::HostPort& address) const {
  auto search = std::make_shared<Search>();
  try {
    std::thread([search, address, resolve = resolve_] { search->put(resolve(address)); }).detach();
    known.search = std::move(search);
  } catch (const std::system_error& error) {
    known.trouble = std::string("cannot start a thread to look up its name: ") + error.what();
  }
}

NodeResolver::Found NodeResolver::find(const std::string& node, const net::HostPort& address,
                                       TimePoint now) {
  Node& known = nodes_[node];
  if (known.server) return {&*known.server, ""};
  const bool is_new = known.tried_at == TimePoint{};
  if (!known.search && (is_new || now - known.tried_at >= kTryAgain)) {
    known.tried_at = now;
    begin(known, address);
  }
  auto answer = known.search ? known.search->take() : std::nullopt;
  if (answer) known.search.reset();
  if (answer && *answer) {
    known.server = std::move(*answer).value();
    return {&*known.server, ""};
  }
  if (answer) known.trouble = answer->error().message;
  const bool is_slow = known.search && now - known.tried_at >= kSlow;
  return {nullptr, is_slow ? "looking up its name" : known.trouble};
}

void NodeResolver::keep_only(const std::set<std::string>& nodes) {
  std::erase_if(nodes_, [&nodes](const auto& known) { return !nodes.contains(known.first); });
}

}  // namespace heatsink::observe
