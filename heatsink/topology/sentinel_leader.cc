// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/sentinel_leader.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace heatsink::topology {
namespace {

constexpr std::size_t kFormerMax = 64, kProblemsMax = 3;

std::string count_of(std::uint64_t count, const char* noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace

bool SentinelLeader::add(const std::string& sentinel) {
  if (sentinels_.size() >= kSentinelsMax) return sentinels_.contains(sentinel);
  sentinels_.try_emplace(sentinel);
  return true;
}

bool SentinelLeader::identify(const std::string& sentinel, const std::string& id) {
  const auto found = sentinels_.find(sentinel);
  if (found == sentinels_.end() || id.empty()) return true;
  const bool is_double = std::any_of(sentinels_.begin(), sentinels_.end(), [&](const auto& each) {
    return each.first != sentinel && each.second.id == id;
  });
  if (!is_double) found->second.id = id;
  return !is_double;
}

void SentinelLeader::said(const std::string& sentinel, const SentinelAnswer& answer,
                          TimePoint asked_at) {
  const auto found = sentinels_.find(sentinel);
  if (found == sentinels_.end()) return;
  found->second.answer = answer;
  found->second.asked_at = asked_at;
  found->second.problem.clear();
  found->second.is_tried = true;
}

// Its last answer stays for as long as it is fresh.
void SentinelLeader::failed(const std::string& sentinel, std::string why) {
  const auto found = sentinels_.find(sentinel);
  if (found == sentinels_.end()) return;
  found->second.problem = std::move(why);
  found->second.is_tried = true;
}

bool SentinelLeader::is_fresh(const Sentinel& sentinel, TimePoint now) const {
  return sentinel.answer && now - sentinel.asked_at <= kAnswerLasts;
}

// Sentinels that a Sentinel has ever met count for its elections, too, even if they are gone.
std::uint64_t SentinelLeader::known(TimePoint now) const {
  std::uint64_t count = sentinels_.size();
  for (const auto& [address, sentinel] : sentinels_) {
    if (is_fresh(sentinel, now)) count = std::max(count, sentinel.answer->others + 1);
  }
  return count;
}

std::size_t SentinelLeader::fresh_votes(const net::HostPort& master, TimePoint now) const {
  return static_cast<std::size_t>(
      std::count_if(sentinels_.begin(), sentinels_.end(), [&](const auto& each) {
        return is_fresh(each.second, now) && each.second.answer->master == master;
      }));
}

std::optional<SentinelAnswer> SentinelLeader::best(TimePoint now) const {
  std::optional<SentinelAnswer> best;
  for (const auto& [address, sentinel] : sentinels_) {
    if (!is_fresh(sentinel, now)) continue;
    const SentinelAnswer& answer = *sentinel.answer;
    const bool is_better = !best || answer.epoch > best->epoch ||
                           (answer.epoch == best->epoch &&
                            fresh_votes(answer.master, now) > fresh_votes(best->master, now));
    if (is_better) best = answer;
  }
  return best;
}

bool SentinelLeader::may_begin(TimePoint now) const {
  if (now - begun_at_ >= kFirstAnswers) return true;
  const auto fresh = static_cast<std::uint64_t>(
      std::count_if(sentinels_.begin(), sentinels_.end(),
                    [&](const auto& each) { return is_fresh(each.second, now); }));
  if (fresh > known(now) / 2) return true;
  return std::all_of(sentinels_.begin(), sentinels_.end(),
                     [](const auto& each) { return each.second.is_tried; });
}

// A master that was removed and added again has epoch 0. A majority may then name another server,
// but none that was the master before.
bool SentinelLeader::may_follow(const SentinelAnswer& best, TimePoint now) const {
  const auto former = former_.find(best.master.text());
  if (former != former_.end() && best.epoch <= former->second) return false;
  return best.epoch > epoch_ || fresh_votes(best.master, now) > known(now) / 2;
}

void SentinelLeader::follow(const SentinelAnswer& best, LeaderRoles& roles, TimePoint now) {
  if (leader_ && former_.size() < kFormerMax) former_[leader_->text()] = epoch_;
  former_.erase(best.master.text());
  leader_ = best.master;
  epoch_ = best.epoch;
  followed_at_ = now;
  roles.forget_promotions();
}

LeaderVerdict SentinelLeader::decide(LeaderRoles& roles, TimePoint now) {
  const std::optional<SentinelAnswer> named = best(now);
  if (named && !leader_ && may_begin(now)) {
    follow(*named, roles, now);
  } else if (named && leader_ && named->master != *leader_) {
    if (may_follow(*named, now)) follow(*named, roles, now);
  } else if (named && leader_) {
    epoch_ = std::max(epoch_, named->epoch);
  }
  LeaderVerdict verdict;
  if (!leader_) {
    verdict.problem = why_none(now);
    return verdict;
  }
  verdict.problem = withheld(roles, now);
  if (!verdict.problem.empty()) return verdict;
  verdict.leader = leader_;
  verdict.confirmed_at = confirmed_at(now);
  verdict.problem = why_unconfirmed(now);
  return verdict;
}

// "": the leader may be used.
std::string SentinelLeader::withheld(LeaderRoles& roles, TimePoint now) const {
  const std::string leader = leader_->text();
  if (const ServerRole* const promoted = roles.promoted(leader_)) {
    if (now - *promoted->promoted_at < kPromotionLasts)
      return promoted->address.text() + " was a replica and says that it is a master now, so " +
             leader + " is not used any more: waiting until the Sentinels name the new master";
    roles.forget_promotions();  // the Sentinels have had the time to name it, or to make it a
                                // replica again
  }
  const ServerRole* const role = roles.find(*leader_);
  if (role != nullptr && role->is_answering && role->role == Role::kReplica)
    return leader + ", which the Sentinels name as the master, says that it is a replica" +
           (role->master ? " of " + role->master->text() : std::string()) +
           ": waiting until the Sentinels name another";
  return "";
}

// When the last one of a majority was asked that names this master: the time of the majority-th
// youngest answer.
TimePoint SentinelLeader::confirmed_at(TimePoint now) const {
  std::vector<TimePoint> votes;
  votes.reserve(sentinels_.size());
  for (const auto& [address, sentinel] : sentinels_) {
    if (sentinel.answer && sentinel.answer->master == *leader_ && !sentinel.answer->doubts &&
        sentinel.answer->epoch >= epoch_)
      votes.push_back(sentinel.asked_at);
  }
  const std::uint64_t majority = known(now) / 2 + 1;
  if (votes.size() < majority) return TimePoint::min();
  std::sort(votes.begin(), votes.end(), std::greater<>());
  return votes[majority - 1];
}

std::string SentinelLeader::why_none(TimePoint now) const {
  const std::uint64_t answering = counts(now).answering;
  if (answering > 0) return "waiting for the first answers of the Sentinels";
  std::string why;
  std::size_t named = 0;
  for (const auto& [address, sentinel] : sentinels_) {
    if (sentinel.problem.empty() || named++ == kProblemsMax) continue;
    why += (why.empty() ? "" : "; ") + address + ": " + sentinel.problem;
  }
  if (why.empty()) return "waiting for the first answers of the Sentinels";
  return "no Sentinel names the master '" + name_ + "' (" + why +
         "): check the addresses and the name in upstream.url, and the Sentinels";
}

std::string SentinelLeader::why_unconfirmed(TimePoint now) const {
  const std::uint64_t all = known(now), majority = all / 2 + 1;
  std::uint64_t naming = 0;
  for (const auto& [address, sentinel] : sentinels_) {
    const bool names = is_fresh(sentinel, now) && sentinel.answer->master == *leader_ &&
                       !sentinel.answer->doubts && sentinel.answer->epoch >= epoch_;
    naming += names ? 1U : 0U;
  }
  // The others hear of a new master some time later.
  if (naming >= majority || now - followed_at_ < kFirstAnswers) return "";
  return "only " + count_of(naming, "Sentinel") + " of " + std::to_string(all) + " can name " +
         leader_->text() + " as a healthy master, and a majority is " + std::to_string(majority) +
         ": no local copies, reads go to the server; look at the Sentinels and the network";
}

SentinelCounts SentinelLeader::counts(TimePoint now) const {
  SentinelCounts counts{.known = known(now)};
  for (const auto& [address, sentinel] : sentinels_) {
    counts.answering += is_fresh(sentinel, now) ? 1U : 0U;
  }
  return counts;
}

}  // namespace heatsink::topology
