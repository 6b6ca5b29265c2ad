// SPDX-License-Identifier: Apache-2.0
#include "heatsink/fleet/link.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "heatsink/base/log.h"

namespace heatsink::fleet {
namespace {

// Interval of the check for a server that owes a reply for too long.
constexpr Nanos kTick = Millis(250);
// A report that takes longer is of no use: the next one is due.
constexpr Nanos kResponseTimeoutMax = std::chrono::seconds(2);

// Sets the options that are the same for all links.
LinkOptions completed(LinkOptions options) {
  options.url.db = 0;
  options.server.client_name = "heatsink-fleet";
  options.server.use = "counts of the fleet";
  options.server.response_timeout = std::min(options.server.response_timeout, kResponseTimeoutMax);
  return options;
}

}  // namespace

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
                  "; hot keys are found by this instance's own counts meanwhile: "
                  "the user needs the rights that docs/guides/fleet.md lists, "
                  "and the server memory",
              loop_.now());
}

// ---- the server

void Link::ask(std::vector<std::string> words, Done done) {
  const std::string key = words[1];
  nodes_->ask(
      key,
      [this, words = std::move(words)](distributed::ServerNode& node, bool is_asking,
                                       redis::Pipeline::Done on_reply) {
        const TimePoint now = loop_.clock();
        const std::string_view asking = "ASKING";
        if (is_asking)
          node.pipeline.ask(
              {&asking, 1}, [](const Result<resp::Value>&) {}, now);
        const std::vector<std::string_view> request(words.begin(), words.end());
        node.pipeline.ask(request, std::move(on_reply), now);
        flush_soon();
        return true;
      },
      [this, done = std::move(done)](Result<resp::Value> reply) {
        done(std::move(reply), loop_.clock());
        note_lists();
        arm();
      });
}

void Link::note_lists() {
  const std::uint64_t lists = member_.counts().lists;
  if (std::exchange(lists_, lists) != lists && on_list_) on_list_();
}

}  // namespace heatsink::fleet
