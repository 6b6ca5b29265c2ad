// SPDX-License-Identifier: Apache-2.0
// One client of a recorded run: asks, notes what it is told, comes back when it is cut off.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <string>
#include <string_view>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/net/net.h"
#include "heatsink/resp/value.h"
#include "tests/consistency/load_spec.h"
#include "tests/consistency/near_model.h"
#include "tests/consistency/recorder.h"

namespace heatsink::consistency {

// Lives on the loop's thread. All that is passed by reference is not owned and must outlive it.
// Each connection is a session of its own in the history.
class PlayerSession final : public net::FdHandler {
 public:
  static constexpr Nanos kBackoff = Millis(20);
  static constexpr std::size_t kInFlightMax = 4096;  // of a paced one: then it skips a turn

  PlayerSession(net::EventLoop& loop, const net::ResolvedAddress& target, const LoadSpec& spec,
                Recorder& recorder, std::uint64_t seed);
  PlayerSession(const PlayerSession&) = delete;

  void start();
  // Asks nothing more.
  void finish() { finishing_ = true; }
  bool idle() const { return in_flight_.empty(); }
  // What has not been answered is noted as unknown. The last call.
  void stop();

  void on_readable() override;
  void on_writable() override;

 private:
  enum class Verb : std::uint8_t {
    kSelect,
    kTrack,
    kGet,
    kNearGet,
    kMget,
    kSet,
    kAdd,
    kDel,
    kExpire,
    kFlush,
    kSwap,
    kBarrier,
    kWatch,
    kWatchedGet,
    kMulti,
    kQueued,
    kExec,
    kExecAlone,
    kBeside
  };
  struct Request {
    Verb verb;
    Op op;                    // as far as it is known
    std::uint32_t other = 0;  // the second key of kMget
  };
  enum class Transaction : std::uint8_t { kNone, kWatched, kRead, kQueued };

  void connect();
  void lose();
  void turn();
  void next();
  void send_pipeline();
  void think(Nanos pause);
  void send_random();
  void send_random_of_hash();
  void send_read_of_hash(const std::string& name, const Op& op);
  void send_watch();
  void send_watched_get();
  void send_transaction();
  void send_multi();
  void send_exec();
  void send_swap();
  void send(Verb verb, Op op, std::initializer_list<std::string_view> args);
  Op make(Kind kind, std::uint32_t key);
  Op make_ending(Kind kind, std::uint32_t key);
  Op make_read(std::uint32_t key);
  void write_out();
  void note_error(std::string_view text);
  void answered(const Request& request, const resp::Value& reply);
  void note_read(Op op, const resp::Value& reply);
  bool answers_itself(const Op& op, const std::string& name);
  void executed(const Request& request, const resp::Value& reply);
  void forget(const Request& request);
  void note_flush(Verb verb, Op op);
  bool chance(std::uint32_t& dice, std::uint32_t parts) const;
  std::uint32_t random_key();
  std::string note_moment(Op& op) const;

  net::EventLoop& loop_;
  const net::ResolvedAddress& target_;
  const LoadSpec& spec_;
  Recorder& recorder_;
  std::mt19937_64 random_;

  net::Stream socket_;
  bool connected_ = false;
  bool finishing_ = false;
  bool thinking_ = false;
  std::uint32_t session_ = 0;
  std::uint32_t order_ = 0;
  std::uint32_t writes_ = 0;
  TimePoint now_{};  // of this batch of requests, or of replies
  ByteBuffer out_;
  ByteBuffer in_;
  std::deque<Request> in_flight_;
  NearModel near_;                                // of this connection
  Transaction transaction_ = Transaction::kNone;  // it has begun, and what has been sent of it
  Op watched_;                                    // what GET said between WATCH and EXEC
  Op queued_;                                     // what EXEC will do
};

}  // namespace heatsink::consistency
