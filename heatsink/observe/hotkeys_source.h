// SPDX-License-Identifier: Apache-2.0
// A source that reads the server's own HOTKEYS (Redis 8.6, Valkey 9.2).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heatsink/observe/command_pipeline.h"
#include "heatsink/observe/rows.h"
#include "heatsink/observe/source.h"

namespace heatsink::observe {

struct HotkeysSourceOptions {
  Login login;
  std::string server;  // as shown, without a password
  std::uint64_t seed = 0;
};

// The server's counts. Valkey 9.2 sends a list of entries with key, db and qps, the estimated
// accesses per second in the last complete window. Redis 8.6 sends one table for a session that a
// client started; its fields by-cpu-time-us and by-net-bytes are lists of key and number.
struct HotkeysReply {
  std::vector<KeyRow> rows;
  bool of_redis = false;
  bool active = false;  // Redis: the session still counts
  double seconds = 0;   // Redis: duration of the session
};

// Changes nothing on Valkey, which counts if hotkey-top-k is set; if it is not, the note says what
// to set. On Redis it starts a session if there is none. That session lasts kSession, so it ends by
// itself after heatsink has gone. A session of another client is read and left running.
class HotkeysSource final : public Source {
 public:
  static constexpr Nanos kSession = std::chrono::seconds(60);

  explicit HotkeysSource(HotkeysSourceOptions options);

  std::span<ServerProtocol* const> protocols() override { return protocols_; }
  void tick(TimePoint now) override;
  Observation observe(TimePoint now) override;

 private:
  void ask(TimePoint now);
  void take(const resp::Value& reply, TimePoint now);
  void start_session(TimePoint now);
  void ask_setting(TimePoint now);
  void give_up(std::string why);

  HotkeysSourceOptions options_;
  CommandPipeline pipeline_;
  std::vector<ServerProtocol*> protocols_;
  bool asking_ = false;
  bool start_refused_ = false;
  int empty_ = 0;  // empty replies in a row
  TimePoint next_at_{};
  TimePoint started_at_{};
  HotkeysReply latest_;
  SourceState state_ = SourceState::kStarting;
  std::string note_;
};

}  // namespace heatsink::observe
