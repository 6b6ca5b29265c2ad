// SPDX-License-Identifier: Apache-2.0
#include "heatsink/upstream/replica_role.h"

namespace heatsink::proxy {

void ReplicaRole::ask(Upstream* connection) {
  if (!std::exchange(is_due_, false) || connection == nullptr || !connection->ready()) return;
  constexpr std::string_view kQuestion = "*1\r\n$4\r\nROLE\r\n";
  Pending pending;
  pending.read_only = true;
  pending.reveals_keys = false;
  send_in_any_db(*connection, ++last_, kQuestion, std::move(pending));
}

// REPLICAOF changes host and port at once; "connected" comes after the data of the new master.
bool ReplicaRole::agrees(const resp::Value& role, const topology::Replica& replica) {
  const std::vector<resp::Value>& said = role.items;
  if (said.size() < 4 || !said[0].is_text() || !said[1].is_text() || !said[3].is_text())
    return false;
  if (said[2].type != resp::Value::Type::kInteger || said[0].text != "slave" ||
      said[3].text != "connected")
    return false;
  return replica.follows(std::string(said[1].text) + ":" + std::to_string(said[2].integer));
}

void ReplicaRole::answered(ReplyQueue::Ticket /*ticket*/, const resp::Value& reply) {
  if (reply.is_error() && refusal_.empty()) refusal_ = reply.text;
  release(!reply.is_error() && agrees(reply, *replica_));
}

void ReplicaRole::lost(ReplyQueue::Ticket /*ticket*/, const std::string& /*problem*/) {
  release(false);
}

// A session may send further reads meanwhile.
void ReplicaRole::release(bool same_master) {
  for (const Held& each : std::exchange(held_, {}))
    each.reader->replica_follows(each.ticket, same_master);
}

}  // namespace heatsink::proxy
