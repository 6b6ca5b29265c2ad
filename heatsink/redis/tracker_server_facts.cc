// SPDX-License-Identifier: Apache-2.0
// What the server says about itself: version, commands, role, slots, eviction, our rights.
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "heatsink/redis/info_text.h"
#include "heatsink/redis/own_slots.h"
#include "heatsink/redis/refusal.h"
#include "heatsink/redis/tracker.h"

namespace heatsink::redis {

using resp::Value;

namespace {

constexpr Nanos kUseRetry = std::chrono::minutes(1);

}  // namespace

Status Tracker::on_handshake(Kind kind, const Value& reply) {
  if (kind == Kind::kPing) {
    // A server that loads its data or runs a slow script answers PING with an error, too.
    facts_.open = !reply.text.starts_with("NOAUTH") && !reply.text.starts_with("NOPERM");
    events_.on_facts(facts_);
  } else if (kind == Kind::kHello) {
    if (refuses_login(reply.text) && reply.is_error())
      return Error{ErrorCode::kUnavailable, login_problem(reply.text)};
    if (reply.is_error()) return refusal_error("HELLO 3 (RESP3) failed", reply);
    const Value* version = reply.find("version");
    if (version != nullptr) facts_.version = version->text;
    return on_role(reply);
  } else if (kind == Kind::kCommand) {
    Result<resp::CommandTable> table = resp::CommandTable::from_reply(reply);
    if (table.ok())
      facts_.commands = std::make_shared<const resp::CommandTable>(std::move(table).value());
    facts_.cluster = cluster_;
    events_.on_facts(facts_);
  } else if (reply.is_error()) {
    return refusal_error("CLIENT TRACKING failed", reply);
  }
  return Unit{};
}

// A replica may lag without limit and still answers the heartbeat. A demoted master is a replica.
Status Tracker::on_role(const Value& hello) {
  if (hello.type != Value::Type::kMap) return refusal_error("the heartbeat (HELLO) failed", hello);
  const Value* role = hello.find("role");
  if (role != nullptr && (role->text == "replica" || role->text == "slave")) {
    found_replica_ = true;
    return Error{ErrorCode::kUnsupported,
                 "the server is a replica, and a replica's data may be stale: use the master, or "
                 "redis+replicas:// with the addresses of both"};
  }
  const Value* mode = hello.find("mode");
  // Not kUnsupported: no command of any client works here, so the server counts as unreachable.
  if (mode != nullptr && mode->text == "sentinel") {
    return Error{
        ErrorCode::kUnavailable,
        "this is a Sentinel, not a data server: use redis+sentinel://HOST:PORT/NAME with the "
        "name of the master that it watches"};
  }
  cluster_ = mode != nullptr && mode->text == "cluster";
  return Unit{};
}

// A slot that moves to another node takes its keys with it, and there is no push for tracked keys
// that do not exist.
Status Tracker::on_slots(const Value& reply) {
  if (!reply.is_text()) return refusal_error("CLUSTER NODES failed", reply);
  std::string slots = own_slots(reply.text);
  if (slots_.has_value() && *slots_ != slots) flush();
  slots_ = std::move(slots);
  return Unit{};
}

void Tracker::on_eviction(const Value& reply) {
  const auto field = [&reply](std::string_view name) {
    const std::size_t at = reply.text.find("\r\n" + std::string(name) + ":");
    if (at == std::string::npos) return std::string();
    const std::size_t begin = at + 2 + name.size() + 1;
    return reply.text.substr(begin, reply.text.find('\r', begin) - begin);
  };
  const std::string policy = field("maxmemory_policy");
  const bool by_use = policy.ends_with("lru") || policy.ends_with("lfu");
  evicts_by_use_ = policy.empty() || (by_use && field("maxmemory") != "0");
}

void Tracker::ask_swaps(TimePoint now, bool after_code) {
  if (cluster_ || options_.is_node) return;
  send(Kind::kSwaps, {"INFO", "commandstats"}, now, after_code ? 1 : 0);
  swaps_asked_at_ = now;
}

// An error (NOPERM), or a server without these counts, proves nothing: code that may have exchanged
// databases then ends all copies, and exchanges by others stay unseen.
void Tracker::on_swaps(const Expected& expected, const Value& reply) {
  const SwapCount::Finding found = swaps_.look(reply.is_text() ? reply.text : std::string_view());
  const bool after_code = expected.token != 0;
  if (found == SwapCount::Finding::kSwapped || (after_code && found != SwapCount::Finding::kSame))
    flush();
  events_.on_exchanges_known(swaps_.counts() && !cluster_ ? expected.sent_at : TimePoint::max());
}

// Behind the proof, which INFO would delay. Two questions: servers before Redis 7.0 take one
// section.
void Tracker::ask_use(TimePoint now) {
  if (options_.use_interval == Nanos(0) || state_ == State::kHandshake) return;
  if (now < use_asked_from_) return;
  use_asked_from_ = now + options_.use_interval;
  send(Kind::kCommandsDone, {"INFO", "stats"}, now);
  send(Kind::kCpuUsed, {"INFO", "cpu"}, now);
}

void Tracker::on_use(Kind kind, const Value& reply, TimePoint now) {
  const auto take = [&](const char* name, double& sum) {
    const std::optional<double> value = info_number(reply.text, name);
    if (reply.is_error()) {
      use_.problem = reply.text;
    } else if (!value) {
      use_.problem = std::string("INFO has no ") + name;
    } else {
      sum += *value;
    }
  };
  if (kind == Kind::kCommandsDone) {
    use_ = {};
    return take("total_commands_processed", use_.commands);
  }
  take("used_cpu_user", use_.cpu_s);
  take("used_cpu_sys", use_.cpu_s);
  // Each refusal is a line in the server's ACL LOG.
  if (!use_.problem.empty()) use_asked_from_ = now + kUseRetry;
  events_.on_server_use(use_);
}

void Tracker::ask_rights(TimePoint now) {
  send(Kind::kRights, {"ACL", "GETUSER", options_.credentials.acl_user()}, now);
  rights_asked_at_ = now;
}

// An error (NOPERM, or ACL is renamed) means that the user's rights are unknown.
void Tracker::on_rights(const Value& reply) {
  std::string rights(reply.is_error() ? std::string_view() : input_.view());
  const bool changed = rights_.has_value() && *rights_ != rights;
  rights_ = std::move(rights);
  if (changed) events_.on_rights_changed();
}

}  // namespace heatsink::redis
