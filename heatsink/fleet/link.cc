// SPDX-License-Identifier: Apache-2.0
#include "heatsink/fleet/link.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "heatsink/base/log.h"
#include "heatsink/distributed/server_error.h"

namespace heatsink::fleet {
namespace {

// Interval of the check for a server that owes a reply for too long.
constexpr Nanos kTick = Millis(250);
// Minimum time between reconnects to a server that has become a replica.
constexpr Nanos kRenewAfter = std::chrono::seconds(1);
constexpr int kRedirectsMax = 5;
// A report that takes longer is of no use: the next one is due.
constexpr Nanos kResponseTimeoutMax = std::chrono::seconds(2);

// What is the same for all links.
LinkOptions completed(LinkOptions options) {
  options.url.db = 0;
  options.server.client_name = "heatsink-fleet";
  options.server.use = "counts of the fleet";
  options.server.response_timeout = std::min(options.server.response_timeout, kResponseTimeoutMax);
  return options;
}

}  // namespace

struct Link::Question {
  std::vector<std::string> words;
  Done done;
  int redirects = 0;
};

Link::Link(net::EventLoop& loop, const LinkOptions& options, Counted counted, OnList on_list)
    : loop_(loop),
      options_(completed(options)),
      counted_(std::move(counted)),
      on_list_(std::move(on_list)),
      nodes_(std::make_shared<distributed::ServerNodes>(loop, options_.url, options_.tls,
                                                        options_.server, options_.followed)),
      member_(options.member, *this) {}

Link::~Link() {
  loop_.cancel(turn_timer_);
  loop_.cancel(tick_timer_);
  in_turn_ = true;  // no answer that comes now arms a timer
  member_.farewell();
  nodes_->flush();  // what the socket takes at once
  nodes_->disconnect("this instance ends");
}

void Link::begin() {
  nodes_->connect();
  tick_timer_ = loop_.call_every(kTick, [this] { nodes_->tick(); });
  turn();
}

// Nodes that have lost their connection may have posted work, so the old ones go behind it.
void Link::set_credentials(const std::string& user, const std::string& password) {
  if (options_.url.user == user && options_.url.password == password) return;
  options_.url.user = user;
  options_.url.password = password;
  const auto before = std::exchange(
      nodes_, std::make_shared<distributed::ServerNodes>(loop_, options_.url, options_.tls,
                                                         options_.server, options_.followed));
  nodes_->connect();
  before->disconnect("the login has changed");
  loop_.post([before] {});
}

void Link::turn() {
  turn_timer_ = 0;
  in_turn_ = true;
  const TimePoint now = loop_.clock();
  const std::vector<detect::Summary> counted =
      member_.needs_counts(now) ? counted_() : std::vector<detect::Summary>();
  member_.turn(now, counted);
  in_turn_ = false;
  nodes_->flush();
  log_problem();
  armed_for_ = TimePoint::max();
  arm();
}

// A reply may make this instance a merger, which is due at once.
void Link::arm() {
  if (in_turn_) return;
  const TimePoint due = std::max(member_.due(), loop_.clock() + Millis(1));
  if (turn_timer_ != 0 && due >= armed_for_) return;
  loop_.cancel(std::exchange(turn_timer_, 0));
  armed_for_ = due;
  turn_timer_ = loop_.call_at(due, [this] { turn(); });
}

void Link::flush_soon() {
  if (in_turn_ || std::exchange(flushes_, true)) return;
  loop_.post([this] {
    flushes_ = false;
    nodes_->flush();
  });
}

// ServerConnection logs lost connections; this is what the server refuses.
void Link::log_problem() {
  const std::string& problem = member_.problem();
  if (problem == logged_ || (!problem.empty() && !member_.is_refused())) return;
  logged_ = problem;
  if (problem.empty()) {
    log_limited(LogLevel::kInfo, "fleet again", "fleet: working again", loop_.now());
    return;
  }
  log_limited(LogLevel::kWarning, "fleet",
              problem +
                  "; hot keys are found by this instance's own counts meanwhile: the user "
                  "needs the rights that docs/guides/fleet.md lists, and the server memory",
              loop_.now());
}

// ---- the server

void Link::ask(std::vector<std::string> words, Done done) {
  auto question = std::make_shared<Question>();
  question->words = std::move(words);
  question->done = std::move(done);
  send(question, nodes_->of(question->words[1]), false);
  flush_soon();
}

void Link::send(const std::shared_ptr<Question>& question, distributed::ServerNode& node,
                bool is_asking) {
  const TimePoint now = loop_.clock();
  if (is_asking) {
    const std::string_view asking = "ASKING";
    node.pipeline.ask(
        {&asking, 1}, [](const Result<resp::Value>&) {}, now);
  }
  const std::vector<std::string_view> words(question->words.begin(), question->words.end());
  node.pipeline.ask(
      words,
      [this, question, &node](Result<resp::Value> reply) {
        on_reply(question, node, std::move(reply));
      },
      now);
}

void Link::on_reply(const std::shared_ptr<Question>& question, distributed::ServerNode& node,
                    Result<resp::Value> reply) {
  if (!reply.ok()) {
    nodes_->lost(node);
  } else if (redirect(question, node, *reply)) {
    flush_soon();
    return;
  } else if (distributed::is_replica(*reply)) {
    nodes_->lost(node);
    loop_.post([nodes = nodes_, now = loop_.clock()] { nodes->renew_first(now - kRenewAfter); });
  }
  question->done(std::move(reply), loop_.clock());
  if (const std::uint64_t lists = member_.counts().lists; lists != lists_) {
    lists_ = lists;
    if (on_list_) on_list_();
  }
  arm();
}

bool Link::redirect(const std::shared_ptr<Question>& question,
                    const distributed::ServerNode& told_by, const resp::Value& reply) {
  const bool is_moved = distributed::is_moved(reply);
  if (!is_moved && !distributed::is_ask(reply)) return false;
  if (++question->redirects > kRedirectsMax) return false;
  distributed::ServerNode* const node = nodes_->named_by(reply.text, told_by);
  if (node == nullptr) return false;
  if (is_moved) nodes_->has_slot_of(question->words[1], *node);
  send(question, *node, !is_moved);
  return true;
}

}  // namespace heatsink::fleet
