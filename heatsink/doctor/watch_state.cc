// SPDX-License-Identifier: Apache-2.0
#include "heatsink/doctor/watch_state.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace heatsink::doctor {
namespace {

bool is_about_server(const Finding& finding) {
  return finding.code.starts_with("server-") || finding.code == "resp3" ||
         finding.code == "tracking" || finding.code == "rights" || finding.code == "cluster-state";
}

std::ptrdiff_t place_of(const Finding& finding) {
  return find_check(finding.code) - checks().data();
}

// These keep the proxy from serving anything, and their texts say more than a lost connection does.
bool explains(const Finding& finding) {
  return finding.level == Level::kError &&
         (finding.code == "server-kind" || finding.code == "server-protocol" ||
          finding.code == "server-tls" || finding.code == "server-login");
}

}  // namespace

bool WatchState::is_due(TimePoint now, std::uint64_t contacts) const {
  if (!has_looked()) return true;
  const Nanos since = now - looked_at_;
  if (contacts != contacts_) return since >= kPause || !is_complete_;
  return since >= kAgain && (!is_complete_ || has_server_error());
}

void WatchState::learn(const Facts& facts, When when, TimePoint now, std::uint64_t contacts) {
  Examination done = examine(facts, when);
  looked_at_ = now;
  contacts_ = contacts;
  if (when == When::kStart) {
    findings_ = std::move(done.findings);
    left_out_ = done.left_out;
    is_complete_ = facts.server.is_logged_in();
    return;
  }
  merge(std::move(done.findings));
}

// The findings of checks that were not made again stay.
void WatchState::merge(Findings found) {
  std::erase_if(findings_, [](const Finding& old) {
    const Check* const check = find_check(old.code);
    return check == nullptr || check->when == When::kConnect;
  });
  findings_.insert(findings_.end(), std::make_move_iterator(found.begin()),
                   std::make_move_iterator(found.end()));
  std::ranges::stable_sort(findings_, {}, place_of);
}

bool WatchState::has_server_error() const {
  return std::ranges::any_of(findings_, [](const Finding& finding) {
    return finding.level == Level::kError && is_about_server(finding);
  });
}

Findings WatchState::take_news() {
  Findings news;
  for (const Finding& finding : findings_) {
    if (finding.level < Level::kWarning) continue;
    const Check* const check = find_check(finding.code);
    if (check != nullptr && check->is_logged_by_proxy) continue;
    if (logged_.emplace(finding.code, finding.about, finding.level).second) news.push_back(finding);
  }
  return news;
}

Status WatchState::verdict(Status ready) const {
  const auto why = std::ranges::find_if(findings_, explains);
  if (why == findings_.end()) return ready;
  // The proxy reaches it again, and the next look has not been made yet.
  if (ready.ok() && why->code != "server-kind") return ready;
  return Error{ErrorCode::kUnavailable, why->what + "; " + why->mend};
}

}  // namespace heatsink::doctor
