// SPDX-License-Identifier: Apache-2.0
// Tells the clients of one worker that keep names in caches of their own which names have ended:
// by writes of this worker's clients, by those of other workers, by the keeper, and by time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

#include "heatsink/base/clock.h"
#include "heatsink/command/pending.h"
#include "heatsink/copies/near_mail.h"
#include "heatsink/net/net.h"
#include "heatsink/proxy/near_figures.h"
#include "heatsink/relief/memory_budget.h"
#include "heatsink/relief/shared_state.h"
#include "heatsink/session/near_table.h"

namespace heatsink::proxy {

// One per worker; its thread. While no client keeps a name, a write costs one load.
class NearPushes {
 public:
  // All outlive it.
  NearPushes(SharedState& shared, net::EventLoop& loop, std::size_t worker, copies::NearMail& mail)
      : shared_(shared),
        loop_(loop),
        worker_(worker),
        mail_(mail),
        memory_(shared.memory),
        table_(shared.kept_names, shared.clients_told_at_once) {}
  ~NearPushes() { loop_.cancel(timer_); }
  NearPushes(const NearPushes&) = delete;

  NearTable& table() { return table_; }
  bool empty() const { return table_.empty(); }

  const NearFigures& figures() const { return figures_; }

  // A command of this worker's client has been answered, perhaps with writes. Before its fences are
  // raised: a later copy cannot be served before.
  void settles(const Pending& pending) {
    if (!pending.keys.has_writes() || !shared_.kept_names.any()) return;
    pending.keys.for_each([this](const copies::TouchedKey& key) {
      if (key.write) shared_.kept_names.note_change(key.name);
    });
  }
  // And when they are raised. Before the client gets the reply: clients of this worker are marked
  // by now, and the replies of the writer are held until those of the others are.
  void settled(const Pending& pending) {
    if (pending.keys.has_writes() && shared_.kept_names.any()) written(pending);
  }
  void take_mail();
  // NodeState::current() is another one: ends what its rules do not let clients keep.
  void follow_policy();
  // At the end of a turn.
  void end_turn() {
    if (table_.is_telling()) tell_more();
    if (timer_ == 0 && !table_.empty()) look_later();
    memory_.note(table_.bytes());
    figures_.note(table_);
  }

 private:
  // The table is looked at so often; more often if a rule has a short bound.
  static constexpr Nanos kLookInterval = Millis(50);
  static constexpr Nanos kLookIntervalMin = Millis(2);

  // A writer whose replies are held until the clients here have been told as far as that.
  struct Waiting {
    std::uint64_t until;  // NearTable::told()
    std::shared_ptr<copies::HeldWriter> writer;
  };

  void written(const Pending& pending);
  void tell_more();
  Nanos look_interval() const;
  void look_later();
  void look(Nanos next_look);

  SharedState& shared_;
  net::EventLoop& loop_;
  const std::size_t worker_;
  copies::NearMail& mail_;
  MemoryShare memory_;
  NearTable table_;
  net::TimerId timer_ = 0;
  std::deque<Waiting> waiting_;  // by `until`
  NearFigures figures_;
};

}  // namespace heatsink::proxy
