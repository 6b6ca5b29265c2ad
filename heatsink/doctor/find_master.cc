// SPDX-License-Identifier: Apache-2.0
#include "heatsink/doctor/find_master.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "heatsink/doctor/conversation.h"
#include "heatsink/policy/tls.h"
#include "heatsink/redis/redis.h"
#include "heatsink/topology/topology.h"

namespace heatsink::doctor {
namespace {

using resp::Value;

constexpr Nanos kEach = std::chrono::milliseconds(1500);  // for one Sentinel or server
constexpr std::size_t kAskedMax = 16;
// The time to wait for first answers is over.
constexpr Nanos kLongAgo = std::chrono::minutes(1);

class MasterFinder {
 public:
  MasterFinder(const policy::ProxyOptions& options, const net::RedisUrl& configured, Nanos limit)
      : options_(options), configured_(configured), deadline_(now_ + limit) {
    waiting_.push_back(configured.address);
    waiting_.insert(waiting_.end(), configured.others.begin(), configured.others.end());
  }

  FoundMaster run();

 private:
  using Replies = Result<std::vector<Value>>;
  Replies ask(const net::HostPort& address, const redis::Credentials& login,
              const std::vector<std::vector<std::string>>& questions);
  void ask_sentinel(const net::HostPort& address);
  void ask_server(const net::HostPort& address);
  void fail(const net::HostPort& address, const std::string& why);

  const policy::ProxyOptions& options_;
  const net::RedisUrl& configured_;
  // The time of all answers, because they count however long the others take.
  const TimePoint now_ = BootClock::now();
  const TimePoint deadline_;
  std::deque<net::HostPort> waiting_;
  std::set<std::string> asked_;
  topology::LeaderRoles roles_;
  topology::SentinelLeader sentinels_{configured_.master_name, now_ - kLongAgo};
  topology::ReplicaLeader replicas_{now_ - kLongAgo};
  MasterSearch search_;
};

MasterFinder::Replies MasterFinder::ask(const net::HostPort& address,
                                        const redis::Credentials& login,
                                        const std::vector<std::vector<std::string>>& questions) {
  const TimePoint until = std::min(deadline_, BootClock::now() + kEach);
  Result<std::vector<net::ResolvedAddress>> addresses = net::resolve(address);
  if (!addresses.ok()) return addresses.error();
  net::TlsContext tls;
  if (configured_.tls) {
    Result<policy::TlsContexts> contexts = policy::load_tls(options_, configured_);
    if (!contexts.ok()) return contexts.error();
    tls = contexts->upstream.for_server(address.host);
  }
  Conversation talk;
  if (const Status connected = talk.connect(*addresses, tls, kEach, until); !connected.ok())
    return connected.error();
  redis::append_hello(talk.output(), resp::Protocol::kResp3, login, "heatsink-doctor");
  for (const std::vector<std::string>& each : questions)
    talk.ask(std::vector<std::string_view>(each.begin(), each.end()));
  std::vector<Value> replies;
  replies.reserve(questions.size());
  for (std::size_t i = 0; i <= questions.size(); ++i) {
    Result<Value> reply = talk.receive(until);
    if (!reply.ok()) return reply.error();
    if (i == 0 && reply->is_error())
      return Error{ErrorCode::kPermission, redis::quoted_reply(*reply)};
    if (i > 0) replies.push_back(std::move(reply).value());
  }
  return replies;
}

void MasterFinder::fail(const net::HostPort& address, const std::string& why) {
  search_.failures.push_back(address.text() + ": " + why);
}

void MasterFinder::ask_sentinel(const net::HostPort& address) {
  const std::string& name = configured_.master_name;
  const std::string key = address.text();
  if (!sentinels_.add(key)) return;
  const Replies replies = ask(address, {options_.sentinel_user, options_.sentinel_password},
                              {{"SENTINEL", "GET-MASTER-ADDR-BY-NAME", name},
                               {"SENTINEL", "MASTER", name},
                               {"SENTINEL", "SENTINELS", name},
                               {"SENTINEL", "MYID"},
                               {"SENTINEL", "MASTERS"}});
  if (!replies.ok()) {
    const bool refused = replies.error().code == ErrorCode::kPermission;
    const std::string why =
        replies.error().message +
        (refused ? " (upstream.sentinel-user, upstream.sentinel-password-file)" : "");
    sentinels_.failed(key, why);
    return fail(address, why);
  }
  if ((*replies)[3].is_text() && !sentinels_.identify(key, (*replies)[3].text))
    return sentinels_.remove(key);
  const auto answer = topology::parse_sentinel_answer((*replies)[0], (*replies)[1]);
  if (!answer) {
    const std::string why =
        topology::why_no_answer((*replies)[0], (*replies)[1], (*replies)[4], name);
    sentinels_.failed(key, why);
    return fail(address, why);
  }
  sentinels_.said(key, *answer, now_);
  for (const auto& other :
       topology::parse_members((*replies)[2], topology::SentinelLeader::kSentinelsMax))
    waiting_.push_back(other.address);
}

void MasterFinder::ask_server(const net::HostPort& address) {
  roles_.add(address);
  const Replies replies = ask(address, {configured_.user, configured_.password}, {{"ROLE"}});
  const auto role = replies.ok() ? topology::parse_role(replies->front()) : std::nullopt;
  ++search_.known;
  if (!role) {
    const std::string why = !replies.ok()                 ? replies.error().message
                            : replies->front().is_error() ? redis::quoted_reply(replies->front())
                                                          : "it is no data server";
    roles_.failed(address, why);
    return fail(address, why);
  }
  ++search_.answering;
  roles_.said(address, *role, now_);
  if (role->master) waiting_.push_back(*role->master);
}

FoundMaster MasterFinder::run() {
  const bool has_sentinels = configured_.topology == net::Topology::kSentinel;
  while (!waiting_.empty() && asked_.size() < kAskedMax && BootClock::now() < deadline_) {
    const net::HostPort next = waiting_.front();
    waiting_.pop_front();
    if (!asked_.insert(next.text()).second) continue;
    if (has_sentinels) {
      ask_sentinel(next);
    } else {
      ask_server(next);
    }
  }
  const topology::LeaderVerdict verdict =
      has_sentinels ? sentinels_.decide(roles_, now_) : replicas_.decide(roles_, now_);
  if (has_sentinels) {
    search_.known = sentinels_.counts(now_).known;
    search_.answering = sentinels_.counts(now_).answering;
  }
  FoundMaster out{Error{ErrorCode::kUnavailable, verdict.problem}, std::move(search_)};
  if (!verdict.leader) return out;
  net::RedisUrl master = configured_;
  master.address = *verdict.leader;
  master.topology = net::Topology::kServer;
  master.others.clear();
  master.master_name.clear();
  out.master = std::move(master);
  return out;
}

}  // namespace

FoundMaster find_master(const policy::ProxyOptions& options, const net::RedisUrl& configured,
                        Nanos limit) {
  return MasterFinder(options, configured, limit).run();
}

}  // namespace heatsink::doctor
