// SPDX-License-Identifier: Apache-2.0
#include "heatsink/redis/server_identity.h"

#include <memory>
#include <utility>

#include "heatsink/redis/own_slots.h"
#include "heatsink/redis/refusal.h"

namespace heatsink::redis {

using resp::Value;

void ServerIdentity::begin() {
  facts_ = {};
  is_in_cluster_ = is_replica_ = false;
  slots_.reset();
}

Status ServerIdentity::on_handshake(Question question, const Value& reply) {
  if (question == Question::kPing) {
    // A server that loads its data or runs a slow script answers PING with an
    // error, too.
    facts_.open = !reply.text.starts_with("NOAUTH") && !reply.text.starts_with("NOPERM");
    events_.on_facts(facts_);
  } else if (question == Question::kHello) {
    if (refuses_login(reply.text) && reply.is_error())
      return Error{ErrorCode::kUnavailable, login_problem(reply.text)};
    if (reply.is_error()) return refusal_error("HELLO 3 (RESP3) failed", reply);
    const Value* version = reply.find("version");
    if (version != nullptr) facts_.version = version->text;
    return on_role(reply);
  } else if (question == Question::kCommand) {
    Result<resp::CommandTable> table = resp::CommandTable::from_reply(reply);
    if (table.ok())
      facts_.commands = std::make_shared<const resp::CommandTable>(std::move(table).value());
    facts_.cluster = is_in_cluster_;
    events_.on_facts(facts_);
  } else if (reply.is_error()) {
    return refusal_error("CLIENT TRACKING failed", reply);
  }
  return Unit{};
}

// A replica may lag without limit and still answers the heartbeat. A demoted
// master is a replica.
Status ServerIdentity::on_role(const Value& hello) {
  if (hello.type != Value::Type::kMap) return refusal_error("the heartbeat (HELLO) failed", hello);
  const Value* role = hello.find("role");
  if (role != nullptr && (role->text == "replica" || role->text == "slave")) {
    is_replica_ = true;
    return Error{ErrorCode::kUnsupported,
                 "the server is a replica, and a replica's data may be stale: "
                 "use the master, or redis+replicas:// with the addresses of both"};
  }
  const Value* mode = hello.find("mode");
  // Not kUnsupported: no command of any client works here, so the server counts
  // as unreachable.
  if (mode != nullptr && mode->text == "sentinel") {
    return Error{ErrorCode::kUnavailable,
                 "this is a Sentinel, not a data server: "
                 "use redis+sentinel://HOST:PORT/NAME with the name of the master that it watches"};
  }
  is_in_cluster_ = mode != nullptr && mode->text == "cluster";
  return Unit{};
}

// A slot that moves to another node takes its keys with it, and there is no
// push for tracked keys that do not exist.
Result<bool> ServerIdentity::on_slots(const Value& nodes) {
  if (!nodes.is_text()) return refusal_error("CLUSTER NODES failed", nodes);
  std::string slots = own_slots(nodes.text);
  const bool have_changed = slots_.has_value() && *slots_ != slots;
  slots_ = std::move(slots);
  return have_changed;
}

}  // namespace heatsink::redis
