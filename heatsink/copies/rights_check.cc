// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/rights_check.h"

#include <utility>

#include "heatsink/base/log.h"

namespace heatsink::copies {

struct RightsCheck::Asked {
  bool is_cluster = false;
  std::vector<policy::NeededRight> needed;
  std::vector<resp::Value> replies;
  bool is_over = false;
};

RightsCheck::RightsCheck(net::EventLoop& loop, NodeState& shared) : loop_(loop), shared_(shared) {}

RightsCheck::~RightsCheck() {
  if (asked_ != nullptr) asked_->is_over = true;
  loop_.cancel(close_timer_);
}

void RightsCheck::check(bool is_cluster, TimePoint now) {
  is_cluster_ = is_cluster;
  if (asked_ != nullptr || (checked_at_ != TimePoint{} && now - checked_at_ < kPause)) {
    again_ = true;
    return;
  }
  again_ = false;
  checked_at_ = now;
  const std::string_view user = shared_.credentials().acl_user();
  asked_ = std::make_shared<Asked>();
  asked_->is_cluster = is_cluster;
  asked_->needed = policy::needed_rights(user, shared_.options().heartbeat_key, is_cluster);
  pipeline_ = std::make_unique<redis::Pipeline>(
      redis::PipelineOptions{.credentials = shared_.credentials(),
                             .name = "heatsink-rights",
                             .response_timeout = shared_.options().response_timeout});
  connection_ = std::make_unique<redis::ServerConnection>(loop_, shared_.upstream_address,
                                                          *pipeline_, shared_.connection_options(),
                                                          "checks of the user's rights");
  for (const policy::NeededRight& right : asked_->needed) {
    const std::vector<std::string_view> words(right.words.begin(), right.words.end());
    pipeline_->ask(
        words, [this, asked = asked_](Result<resp::Value> reply) { take(asked, std::move(reply)); },
        now);
  }
  connection_->connect();
}

// Without an answer nothing is known. The tracker reports the reason.
void RightsCheck::take(const std::shared_ptr<Asked>& asked, Result<resp::Value> reply) {
  if (asked->is_over) return;
  if (!reply.ok()) return end(*asked);
  if (policy::says_nothing_of_rights(*reply)) {
    again_ = true;
    return end(*asked);
  }
  asked->replies.push_back(std::move(reply).value());
  if (asked->replies.size() < asked->needed.size()) return;
  end(*asked);
  log_changes(policy::missing_rights(
      shared_.credentials().acl_user(),
      policy::heartbeat_pattern(shared_.options().heartbeat_key, asked->is_cluster), asked->needed,
      asked->replies));
}

// The connection is calling this function, so the next turn closes it.
void RightsCheck::end(Asked& asked) {
  asked.is_over = true;
  close_timer_ = loop_.call_after(Nanos(0), [this] { close(); });
}

void RightsCheck::close() {
  close_timer_ = 0;
  connection_.reset();
  pipeline_.reset();
  asked_.reset();
}

void RightsCheck::log_changes(std::vector<policy::MissingRight> missing) {
  // Checks repeat, so only changes are logged.
  if (missing == missing_) return;
  missing_ = std::move(missing);
  for (const policy::MissingRight& right : missing_)
    log(right.for_copies ? LogLevel::kWarning : LogLevel::kInfo, right.sentence);
  if (missing_.empty())
    log(LogLevel::kInfo, "the server's user has all the rights that the proxy needs");
}

void RightsCheck::tick(TimePoint now) {
  if (asked_ != nullptr) return connection_->tick();
  const bool is_due = !why_no_copies().empty() && now - checked_at_ >= kAgain;
  if (is_due || (again_ && now - checked_at_ >= kPause)) check(is_cluster_, now);
}

std::string RightsCheck::why_no_copies() const {
  std::string why;
  for (const policy::MissingRight& right : missing_)
    if (right.for_copies) why += (why.empty() ? "" : "; ") + right.sentence;
  return why;
}

}  // namespace heatsink::copies
