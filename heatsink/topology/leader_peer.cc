// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/leader_peer.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace heatsink::topology {
namespace {

constexpr Nanos kResolveAgain = std::chrono::seconds(5);

net::RedisUrl url_of(const net::HostPort& address, const LeaderPeerOptions& options) {
  net::RedisUrl url;
  url.address = address;
  url.user = options.credentials.user;
  url.password = options.credentials.password;
  url.tls = options.tls;
  return url;
}

// One that was restarted must be heard soon.
constexpr Nanos kBackoffMax = Millis(500);

redis::ServerConnectionOptions soon_again(redis::ServerConnectionOptions options) {
  options.backoff_max = std::min(options.backoff_max, kBackoffMax);
  options.backoff_min = std::min(options.backoff_min, options.backoff_max);
  return options;
}

}  // namespace

struct LeaderPeer::Round {
  Answered answered;
  TimePoint asked_at;
  std::size_t questions = 0;
  std::vector<resp::Value> replies;
  bool is_over = false;
};

LeaderPeer::LeaderPeer(net::EventLoop& loop, LeaderResolver& resolver, const net::HostPort& address,
                       LeaderPeerOptions options, const std::string& use)
    : loop_(loop),
      resolver_(resolver),
      target_(address),
      options_(std::move(options)),
      address_(url_of(address, options_), redis::UpstreamAddress::Resolved::kElsewhere),
      pipeline_({.credentials = options_.credentials,
                 .name = options_.name,
                 .response_timeout = kAnswerWithin}),
      connection_(loop, address_, pipeline_, soon_again(options_.connection), use) {
  if (options_.tls && options_.context) address_.set_tls(options_.context());
  resolve();
}

LeaderPeer::~LeaderPeer() {
  *alive_ = false;
  if (round_ != nullptr) round_->is_over = true;
}

void LeaderPeer::resolve() {
  resolved_at_ = loop_.clock();
  const auto is_alive = alive_;
  resolver_.resolve(target_, [this, is_alive](Result<LeaderResolver::Addresses> found) {
    if (!*is_alive) return;
    if (!found.ok()) {
      problem_ = found.error().message;
      return;
    }
    problem_.clear();
    resolved_ = std::move(found).value();
    address_.set_addresses(resolved_);
    if (!std::exchange(is_connecting_, true)) connection_.connect();
  });
}

void LeaderPeer::ask(const std::vector<Question>& questions, Answered answered) {
  if (round_ != nullptr) return;
  if (!is_connecting_) {
    if (!problem_.empty()) answered(Error{ErrorCode::kUnavailable, problem_}, loop_.clock());
    return;
  }
  auto round = std::make_shared<Round>();
  round->answered = std::move(answered);
  round->asked_at = loop_.clock();
  round->questions = questions.size();
  round_ = round;
  for (const Question& each : questions) {
    const std::vector<std::string_view> words(each.begin(), each.end());
    pipeline_.ask(
        words, [this, round](Result<resp::Value> reply) { take(round, std::move(reply)); },
        round->asked_at);
    if (round->is_over) return;
  }
  connection_.flush();
}

void LeaderPeer::take(const std::shared_ptr<Round>& round, Result<resp::Value> reply) {
  if (round->is_over) return;
  const bool is_answered = reply.ok();
  if (is_answered) {
    round->replies.push_back(std::move(reply).value());
    if (round->replies.size() < round->questions) return;
  }
  round->is_over = true;
  round_.reset();
  if (is_answered) {
    round->answered(std::move(round->replies), round->asked_at);
  } else {
    round->answered(reply.error(), round->asked_at);  // NOLINT(bugprone-use-after-move): not moved
  }
}

void LeaderPeer::tick() {
  if (!LeaderResolver::is_numeric(target_.host) && loop_.clock() - resolved_at_ >= kResolveAgain)
    resolve();
  if (options_.tls && options_.context && !pipeline_.up()) address_.set_tls(options_.context());
  if (is_connecting_) connection_.tick();
}

}  // namespace heatsink::topology
