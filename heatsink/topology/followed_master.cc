// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/followed_master.h"

#include <utility>

#include "heatsink/topology/make_leader_watch.h"

namespace heatsink::topology {
namespace {

// Whether the address that is connected to stays the same.
bool is_first_of(const LeaderResolver::Addresses& now, const LeaderResolver::Addresses& before) {
  return !now.empty() && !before.empty() && same_address(now.front(), before.front());
}

}  // namespace

void FollowedMaster::begin(LeaderWatchOptions options, ServerCredentials credentials,
                           bool has_led) {
  has_led_ = has_led;
  watch_ = watch_leader(loop_, std::move(options), std::move(credentials), *this);
  if (watch_ != nullptr) watch_->begin();
}

// The order is essential: no copy may be served once any connection leads to the new server.
void FollowedMaster::leader_changed(const LeaderVerdict& verdict,
                                    const LeaderResolver::Addresses& addresses, bool renews) {
  Change change{.verdict = verdict,
                .before = address_.where(),
                .was_withheld = address_.is_withheld(),
                .renews = renews,
                .is_elsewhere = renews && !is_first_of(addresses, address_.addresses()),
                .is_new_problem = verdict.problem != problem_,
                .had_led = has_led_};
  change.is_other = verdict.leader && verdict.leader->text() != change.before;
  change.is_move = verdict.leader && (change.was_withheld || change.is_other || renews);
  problem_ = verdict.problem;
  if (!verdict.leader) {
    if (!change.was_withheld) leave();
    address_.withhold(verdict.problem);
    if (!change.was_withheld) listener_.follow_master();
  } else if (change.is_move) {
    leave();
    address_.move_to(*verdict.leader, addresses);
    listener_.follow_master();
  }
  has_led_ |= verdict.leader.has_value();
  listener_.master_told(change);
}

void FollowedMaster::leave() {
  proven_since_move_ = false;
  listener_.leave_master();
}

void FollowedMaster::doubt() {
  loop_.post([this] {
    if (watch_ != nullptr && std::exchange(proven_since_move_, false)) watch_->doubt();
  });
}

}  // namespace heatsink::topology
