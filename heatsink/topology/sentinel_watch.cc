// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/sentinel_watch.h"

#include <algorithm>
#include <utility>

#include "heatsink/redis/redis.h"
#include "heatsink/topology/sentinel_replies.h"

namespace heatsink::topology {
namespace {

void add_unique(std::vector<net::HostPort>& to, const net::HostPort& server) {
  if (std::find(to.begin(), to.end(), server) == to.end()) to.push_back(server);
}

std::vector<net::HostPort> addresses_in(const resp::Value& reply, std::size_t count_max) {
  std::vector<net::HostPort> out;
  out.reserve(count_max);
  for (SentinelMember& each : parse_members(reply, count_max))
    out.push_back(std::move(each.address));
  return out;
}

}  // namespace

SentinelWatch::SentinelWatch(net::EventLoop& loop, LeaderWatchOptions options,
                             ServerCredentials credentials, Listener& listener)
    : loop_(loop),
      options_(std::move(options)),
      resolver_(loop),
      poll_(loop, resolver_, options_, std::move(credentials), [this] { decide(); }),
      leader_(options_.url.master_name, loop.clock()),
      publisher_(listener) {}

SentinelWatch::~SentinelWatch() { loop_.cancel(timer_); }

void SentinelWatch::begin() {
  add(options_.url.address, true);
  for (const net::HostPort& other : options_.url.others) add(other, true);
  turn();
  timer_ = loop_.call_every(LeaderRolePoll::kInterval, [this] { turn(); });
}

void SentinelWatch::add(const net::HostPort& address, bool is_configured) {
  if (find(address.text()) != nullptr || !leader_.add(address.text())) return;
  LeaderPeerOptions how;
  how.credentials = options_.sentinel_credentials;
  how.tls = options_.url.tls;
  how.context = options_.tls;
  how.connection = options_.connection;
  how.connection.commands = nullptr;  // a Sentinel is no server: it has no load to take off
  auto sentinel = std::make_unique<Sentinel>();
  sentinel->peer = std::make_unique<LeaderPeer>(loop_, resolver_, address, std::move(how),
                                                "watch of Sentinel " + address.text());
  sentinel->is_configured = is_configured;
  sentinels_.push_back(std::move(sentinel));
}

SentinelWatch::Sentinel* SentinelWatch::find(const std::string& key) {
  const auto found = std::find_if(sentinels_.begin(), sentinels_.end(), [&](const auto& each) {
    return each->peer->address().text() == key;
  });
  return found == sentinels_.end() ? nullptr : found->get();
}

void SentinelWatch::doubt() {
  for (const auto& each : sentinels_) each->asked_at = TimePoint::min();
  turn();
}

void SentinelWatch::turn() {
  const TimePoint now = loop_.clock();
  follow_lists();
  for (const auto& each : sentinels_) {
    each->peer->tick();
    if (!each->is_double) ask(*each, now);
  }
  poll_.ask();
  decide();
}

void SentinelWatch::ask(Sentinel& sentinel, TimePoint now) {
  if (sentinel.asked_at != TimePoint::min() && now - sentinel.asked_at < kInterval) return;
  sentinel.asked_at = now;
  const std::string& name = options_.url.master_name;
  std::vector<LeaderPeer::Question> questions = {{"SENTINEL", "GET-MASTER-ADDR-BY-NAME", name},
                                                 {"SENTINEL", "MASTER", name}};
  const bool lists =
      sentinel.listed_at == TimePoint::min() || now - sentinel.listed_at >= kListInterval;
  if (lists) {
    sentinel.listed_at = now;
    questions.push_back({"SENTINEL", "REPLICAS", name});
    questions.push_back({"SENTINEL", "SENTINELS", name});
    questions.push_back({"SENTINEL", "MYID"});
    questions.push_back({"SENTINEL", "MASTERS"});
  }
  const std::string key = sentinel.peer->address().text();
  sentinel.peer->ask(
      questions, [this, key, lists](const Result<std::vector<resp::Value>>& replies,
                                    TimePoint asked_at) { take(key, replies, lists, asked_at); });
}

void SentinelWatch::take(const std::string& key, const Result<std::vector<resp::Value>>& replies,
                         bool has_lists, TimePoint asked_at) {
  Sentinel* const sentinel = find(key);
  if (sentinel == nullptr) return;
  if (!replies.ok()) {
    sentinel->listed_at = TimePoint::min();
    leader_.failed(key, replies.error().message);
    return decide();
  }
  if (has_lists) take_lists(*sentinel, *replies);
  if (sentinel->is_double) return;
  if (const auto answer = parse_sentinel_answer((*replies)[0], (*replies)[1])) {
    leader_.said(key, *answer, asked_at);
  } else {
    // With the lists comes the one of the names that it knows.
    if (has_lists || !is_unknown_master((*replies)[0], (*replies)[1]))
      leader_.failed(
          key, why_no_answer((*replies)[0], (*replies)[1],
                             has_lists ? (*replies)[5] : resp::Value(), options_.url.master_name));
  }
  decide();
}

void SentinelWatch::take_lists(Sentinel& sentinel, const std::vector<resp::Value>& replies) {
  if (!replies[2].is_error())
    sentinel.replicas = addresses_in(replies[2], LeaderRoles::kServersMax);
  if (!replies[3].is_error())
    sentinel.others = addresses_in(replies[3], SentinelLeader::kSentinelsMax);
  if (replies[4].is_text())
    sentinel.is_double = !leader_.identify(sentinel.peer->address().text(), replies[4].text);
  if (sentinel.is_double) leader_.remove(sentinel.peer->address().text());
}

// Outside of a peer's answer: peers may go here.
void SentinelWatch::follow_lists() {
  std::vector<net::HostPort> servers, others;
  if (leader_.leader()) servers.push_back(*leader_.leader());
  for (const auto& each : sentinels_) {
    for (const net::HostPort& server : each->replicas) add_unique(servers, server);
    for (const net::HostPort& other : each->others) add_unique(others, other);
  }
  poll_.keep(servers);
  const std::size_t gone = std::erase_if(sentinels_, [&](const auto& each) {
    const net::HostPort& address = each->peer->address();
    const bool stays =
        each->is_configured || std::find(others.begin(), others.end(), address) != others.end();
    if (!stays) leader_.remove(address.text());
    return !stays;
  });
  // One of these may now be the only address of its Sentinel.
  for (const auto& each : sentinels_) {
    if (gone > 0 && std::exchange(each->is_double, false))
      leader_.add(each->peer->address().text());
  }
  for (const net::HostPort& other : others) add(other, false);
}

void SentinelWatch::decide() {
  LeaderVerdict verdict = leader_.decide(poll_.roles(), loop_.clock());
  LeaderResolver::Addresses addresses;
  if (verdict.leader) {
    poll_.add(*verdict.leader);
    addresses = poll_.addresses_of(*verdict.leader);
    if (addresses.empty()) {
      verdict.problem = "the name of " + verdict.leader->text() + " is not resolved yet";
      verdict.leader.reset();
      verdict.confirmed_at = TimePoint::min();
    }
  }
  publisher_.publish(verdict, addresses);
}

}  // namespace heatsink::topology
