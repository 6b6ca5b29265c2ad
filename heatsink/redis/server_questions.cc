// SPDX-License-Identifier: Apache-2.0
#include "heatsink/redis/server_questions.h"

#include <chrono>
#include <utility>

#include "heatsink/redis/info_text.h"

namespace heatsink::redis {
namespace {

using resp::Value;

constexpr Nanos kUseRetry = std::chrono::minutes(1);

}  // namespace

void ServerQuestions::begin() {
  swaps_.reset();
  evicts_by_use_.reset();
  use_asked_from_ = {};
  rights_.reset();
}

bool ServerQuestions::are_swaps_due(TimePoint now) const {
  const Nanos age = now - swaps_asked_at_ + options_.heartbeat_interval;
  return options_.swap_interval > Nanos(0) && age > options_.swap_interval;
}

void ServerQuestions::ask_swaps(TimePoint now, bool after_code) {
  requests_.send(Question::kSwaps, {"INFO", "commandstats"}, now, after_code ? 1 : 0);
  swaps_asked_at_ = now;
}

// An error (NOPERM), or a server without these counts, proves nothing: code
// that may have exchanged databases then ends all copies, and exchanges by
// others stay unseen.
bool ServerQuestions::on_swaps(const Asked& asked, const Value& reply) {
  const SwapCount::Finding found = swaps_.look(reply.is_text() ? reply.text : std::string_view());
  const bool after_code = asked.token != 0;
  return found == SwapCount::Finding::kSwapped ||
         (after_code && found != SwapCount::Finding::kSame);
}

void ServerQuestions::ask_eviction(TimePoint now) {
  requests_.send(Question::kEviction, {"INFO", "memory"}, now);
}

void ServerQuestions::on_eviction(const Value& reply) {
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

// Two questions: servers before Redis 7.0 take one section.
void ServerQuestions::ask_use_if_due(TimePoint now) {
  if (options_.use_interval == Nanos(0) || now < use_asked_from_) return;
  use_asked_from_ = now + options_.use_interval;
  requests_.send(Question::kCommandsDone, {"INFO", "stats"}, now);
  requests_.send(Question::kCpuUsed, {"INFO", "cpu"}, now);
}

void ServerQuestions::on_use(Question question, const Value& reply, TimePoint now) {
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
  if (question == Question::kCommandsDone) {
    use_ = {};
    return take("total_commands_processed", use_.commands);
  }
  take("used_cpu_user", use_.cpu_s);
  take("used_cpu_sys", use_.cpu_s);
  // Each refusal is a line in the server's ACL LOG.
  if (!use_.problem.empty()) use_asked_from_ = now + kUseRetry;
  events_.on_server_use(use_);
}

void ServerQuestions::ask_rights_if_due(TimePoint now) {
  const bool asks = options_.rights_interval > Nanos(0);
  if (asks && now - rights_asked_at_ >= options_.rights_interval) ask_rights(now);
}

void ServerQuestions::ask_rights(TimePoint now) {
  requests_.send(Question::kRights, {"ACL", "GETUSER", options_.credentials.acl_user()}, now);
  rights_asked_at_ = now;
}

// An error (NOPERM, or ACL is renamed) means that the user's rights are
// unknown.
void ServerQuestions::on_rights(const Value& reply, std::string_view wire) {
  std::string rights(reply.is_error() ? std::string_view() : wire);
  const bool changed = rights_.has_value() && *rights_ != rights;
  rights_ = std::move(rights);
  if (changed) events_.on_rights_changed();
}

}  // namespace heatsink::redis
