// SPDX-License-Identifier: Apache-2.0
#include "heatsink/relief/shared_write_carrier.h"

#include <utility>

namespace heatsink::proxy {

// The connection has used this database before, so SELECT cannot fail.
bool SharedWriteCarrier::is_ready(std::string_view key, const GatheredWrite::Target& target) {
  const Upstream* const connection = shared(key, target).connection;
  return connection != nullptr && connection->knows_db(target.db);
}

std::optional<std::string> SharedWriteCarrier::refusal(std::string_view key,
                                                       const GatheredWrite::Target& target) {
  const Upstreams::Shared shared = this->shared(key, target);
  if (shared.connection == nullptr)
    return shared.down != nullptr ? *shared.down
                                  : shared.server.unreachable("the connection to it was lost");
  if (shared.connection->may_use_db(target.db)) return std::nullopt;
  return "the connection to upstream " + shared.server.where() +
         " has not used the client's database yet: try again";
}

void SharedWriteCarrier::send(std::string_view key, const GatheredWrite::Target& target,
                              std::string_view request, Pending&& pending) {
  Upstream& connection = *shared(key, target).connection;
  // Each request on a shared connection has its SELECT right before it, if the database changes.
  connection.use_db(target.db);
  copies_.begin_writes(pending);
  counters_.add(copies::Count::kForwardedShared);
  connection.send(request, std::move(pending));
}

}  // namespace heatsink::proxy
