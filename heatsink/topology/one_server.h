// SPDX-License-Identifier: Apache-2.0
// One server of keys: a connection that tracks them, and one for commands. It may be a master that
// moves.
#pragma once

#include <string>
#include <string_view>

#include "heatsink/net/net.h"
#include "heatsink/redis/redis.h"
#include "heatsink/topology/followed_master.h"
#include "heatsink/topology/key_servers.h"

namespace heatsink::topology {

// If Sentinels or replicas name the master, a copy also depends on their confirmation. All copies
// end before any connection leads to another master, or where the name of the server leads now.
class OneServer final : public KeyServers,
                        private redis::TrackerEvents,
                        private FollowedMaster::Listener {
 public:
  // All references outlive it.
  OneServer(net::EventLoop& loop, KeyServersOptions options, ChangeListener& changes,
            KeyServers::Listener& listener);

  // Where the master is now. Others may follow it, too.
  redis::UpstreamAddress& address() { return address_; }

  // It tracks nothing from now on and says nothing more; the commands that are under way end.
  void end_tracking(const std::string& reason);

  void begin() override;
  void tick() override;
  void flush() override;
  void close(const std::string& reason) override;
  ServerIndex server_of(std::string_view /*key*/) const override { return 0; }
  std::uint64_t losses() const override { return 0; }  // the tracker fails what it has lost
  bool has_certain_owner(std::string_view key) const override;
  void track(redis::FillId id, std::string_view key) override;
  void ask(Words words, Done done) override;

 private:
  void on_facts(const redis::ServerFacts& facts) override;
  void on_up() override;
  void on_heartbeat(TimePoint sent_at) override;
  void on_exchanges_known(TimePoint asked_at) override { exchanges_known_at_ = asked_at; }
  void on_invalidate(std::string_view name) override { changes_.on_changed(name); }
  void on_flush() override { changes_.on_all_changed(); }
  void on_filled(redis::FillReply& reply) override { listener_.on_tracked(reply); }
  void on_barrier(std::uint64_t) override {}
  void on_rights_changed() override { changes_.on_all_changed(); }
  void on_down(const std::string& reason) override;

  void leave_master() override;
  void follow_master() override;
  void master_told(const FollowedMaster::Change& change) override;
  void master_confirmed(TimePoint at) override;

  bool look_up();
  void publish();

  net::EventLoop& loop_;
  const KeyServersOptions options_;
  ChangeListener& changes_;
  KeyServers::Listener& listener_;
  redis::UpstreamAddress address_;
  redis::Tracker tracker_;
  redis::Pipeline pipeline_;
  redis::ServerConnection tracking_;
  redis::ServerConnection data_;
  FollowedMaster master_;
  TimePoint proven_at_ = TimePoint::min();           // of the tracker's last heartbeat; min(): none
  TimePoint confirmed_at_ = TimePoint::max();        // max(): the URL names the server itself
  TimePoint exchanges_known_at_ = TimePoint::max();  // max(): the server does not tell
  TimePoint moved_at_ = TimePoint::min();  // to another master than the first; min(): never
  bool is_cluster_ = false;
  bool is_up_ = false;
  bool has_ended_tracking_ = false;
};

}  // namespace heatsink::topology
