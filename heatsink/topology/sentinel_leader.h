// SPDX-License-Identifier: Apache-2.0
// Decides from the answers of Sentinels, and from the roles of the servers, which one is the
// master.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/topology/leader_roles.h"
#include "heatsink/topology/leader_verdict.h"
#include "heatsink/topology/sentinel_replies.h"

namespace heatsink::topology {

// A state machine: answers and times in, a verdict out. One thread. The rules, and their reasons,
// are in docs/decisions/0055-the-master-is-who-the-sentinels-name.md:
//  * The highest epoch wins, by one Sentinel's word: a majority has agreed to it. A former master
//  is
//    named again only with a higher epoch than it had.
//  * A replica that becomes a master ends the use of the present one at once, before any Sentinel
//    names it.
//  * The verdict is confirmed as far as a majority of all Sentinels named this master without
//  doubt.
class SentinelLeader {
 public:
  static constexpr std::size_t kSentinelsMax = 64;
  // An older answer does not count for the choice.
  static constexpr Nanos kAnswerLasts = std::chrono::seconds(2);
  // At the start all Sentinels have this long to answer; then those that did decide.
  static constexpr Nanos kFirstAnswers = std::chrono::seconds(1);
  // Sentinels turn a replica that became a master by mistake into a replica again, after about 10
  // s.
  static constexpr Nanos kPromotionLasts = std::chrono::seconds(15);

  SentinelLeader(std::string master_name, TimePoint now)
      : name_(std::move(master_name)), begun_at_(now) {}

  // Sentinels are known by the address under which they are asked. False: there are too many.
  bool add(const std::string& sentinel);
  void remove(const std::string& sentinel) { sentinels_.erase(sentinel); }
  // False: another address leads to the same Sentinel, so this one must not count.
  bool identify(const std::string& sentinel, const std::string& id);
  void said(const std::string& sentinel, const SentinelAnswer& answer, TimePoint asked_at);
  void failed(const std::string& sentinel, std::string why);

  LeaderVerdict decide(LeaderRoles& roles, TimePoint now);
  SentinelCounts counts(TimePoint now) const;
  const std::optional<net::HostPort>& leader() const { return leader_; }

 private:
  struct Sentinel {
    std::optional<SentinelAnswer> answer;
    TimePoint asked_at{};
    std::string id = {};
    std::string problem = {};
    bool is_tried = false;
  };

  bool is_fresh(const Sentinel& sentinel, TimePoint now) const;
  std::uint64_t known(TimePoint now) const;
  std::optional<SentinelAnswer> best(TimePoint now) const;
  std::size_t fresh_votes(const net::HostPort& master, TimePoint now) const;
  bool may_begin(TimePoint now) const;
  bool may_follow(const SentinelAnswer& best, TimePoint now) const;
  void follow(const SentinelAnswer& best, LeaderRoles& roles, TimePoint now);
  std::string withheld(LeaderRoles& roles, TimePoint now) const;
  TimePoint confirmed_at(TimePoint now) const;
  std::string why_none(TimePoint now) const;
  std::string why_unconfirmed(TimePoint now) const;

  const std::string name_;
  const TimePoint begun_at_;
  std::map<std::string, Sentinel, std::less<>> sentinels_;
  std::optional<net::HostPort> leader_;
  TimePoint followed_at_{};  // since when there is this leader
  std::uint64_t epoch_ = 0;
  // Epochs of those that were the master before, by address.
  std::map<std::string, std::uint64_t, std::less<>> former_;
};

}  // namespace heatsink::topology
