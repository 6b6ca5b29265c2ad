// SPDX-License-Identifier: Apache-2.0
// Holds one command of a client: its arguments, and its progress.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/base/clock.h"
#include "heatsink/base/hash_inline.h"
#include "heatsink/cache/cache.h"
#include "heatsink/command/command.h"
#include "heatsink/command/reply_sizes.h"
#include "heatsink/command/route.h"
#include "heatsink/copies/fill_waiters.h"
#include "heatsink/copies/local_reads.h"
#include "heatsink/copies/permission_cache.h"
#include "heatsink/resp/resp.h"

namespace heatsink::redis {
class UpstreamAddress;
}  // namespace heatsink::redis

namespace heatsink::proxy {

class Relief;

inline constexpr CommandFacts kUnknownCommand{};

// The event that a request, or the request behind it, waits for.
enum class Awaited : std::uint8_t {
  kNothing,
  kDrain,    // nothing in flight
  kAnswer,   // nothing in flight; the next request may use another connection
  kPrivate,  // its private connection is ready
  kShared,   // the shared connection is ready
  kRelief,   // the relief that holds it lets it go
  kPause,    // a moment, or the end of this turn, because a node of a cluster has refused it
};

// A request is parsed once. Most requests are answered or sent at once; their arguments are views
// into the client's input. A request that waits keeps its own bytes, so that the input is free, and
// remembers what it has waited for: processing resumes from there.
//
// Belongs to one session; not thread-safe.
struct Request {
  // Both arguments live until keep(). `wire` is empty while the request is incomplete.
  Request(const std::vector<std::string_view>& its_args, std::string_view wire)
      : raw(wire), args_(&its_args) {}
  Request(Request&&) = default;

  const std::vector<std::string_view>& args() const { return *args_; }
  bool has_right_arity() const {  // REQUIRES command
    const auto count = static_cast<std::int64_t>(args().size());
    return command->arity >= 0 ? count == command->arity : count >= -command->arity;
  }
  NameHash name_hash(std::size_t arg, std::uint64_t seed) const {
    return arg == 1 && first_name ? *first_name : hash_name_inline(args()[arg], seed);
  }
  cache::Read read() const {  // REQUIRES facts->local and a key
    return {facts->local->number, std::span(args()).subspan(2)};
  }

  // Copies the bytes; only the first call does.
  void keep() {
    if (kept_bytes() > 0) return;
    if (raw.empty()) {  // incomplete: the arguments that have arrived are enough
      ByteBuffer wire;
      resp::append_request(wire, args());
      return take(wire.view(), true);
    }
    take(raw, false);
    raw = waited_->bytes;
  }
  // Replaces the bytes by the multi-bulk form, for the server.
  void rewrite() {
    ByteBuffer wire;
    resp::append_request(wire, args());
    take(wire.view(), true);
    raw = waited_->bytes;
  }
  std::size_t kept_bytes() const { return waited_ == nullptr ? 0 : waited_->bytes.size(); }

  // ---- content

  std::string_view raw;
  TimePoint now{};  // of the current look at the request; read after its bytes
  const resp::Command* command = nullptr;  // null: unknown
  const CommandFacts* facts = &kUnknownCommand;
  Route route = Route::kPinned;  // facts->route, or the route that yields the right error
  bool is_last = false;          // the client has sent nothing after it
  bool is_alone = false;         // nor anything in front of it in the same batch
  std::optional<NameHash> first_name = {};  // hash of the first argument, once computed

  // ---- progress

  // For a request that could not go on at once.
  struct Waited {
    // Why there is no connection: the private one failed meanwhile, or the server refused the
    // database.
    std::string connection_error, db_error;
    bool is_login_refused = false;  // that is what connection_error is about
    bool awaits_server = false;     // it has waited for a server that was away
    std::string refusal;            // the error that the client gets instead
    const Relief* held_by = nullptr;
    // A read: when it began to wait for a copy, and the answer that arrived.
    TimePoint fill_wanted_at{};
    std::shared_ptr<const copies::FillAnswer> answer;
    std::vector<KeyHash> filled;  // a read of several keys: those whose fills it waits for
    // The number of its question to the tracker, unique in the session.
    std::uint64_t ticket = 0;
    // The node that executes it, after another node of the cluster has refused it; after ASKING.
    redis::UpstreamAddress* redirected_to = nullptr;
    bool asking = false;
    // Before WAIT: the proxy's own writes, and why the server refused the last one.
    std::uint8_t own_writes = 0;
    std::string own_write_error;
    enum class Barrier : std::uint8_t { kNone, kAsked, kPassed, kLate } barrier = Barrier::kNone;

    std::string bytes;  // a copy of the request
    std::vector<std::string_view> args;
  };
  Waited& waited() {
    if (waited_ == nullptr) waited_ = std::make_unique<Waited>();
    return *waited_;
  }
  const Waited& waited_for() const { return *waited_; }  // REQUIRES has_waited()
  bool has_waited() const { return waited_ != nullptr; }
  // It has waited for a fill of this key, one of several.
  bool has_filled(KeyHash key) const {
    return has_waited() &&
           std::find(waited_->filled.begin(), waited_->filled.end(), key) != waited_->filled.end();
  }

  // Set when it goes to the server:
  ExpectedReply expected;
  std::unique_ptr<copies::AskedRight> asked_right;  // the right that its reply proves
  copies::ReadHash reply_of;  // set if the length of its reply is worth recording

 private:
  // The arguments stand in `wire` in order; at other offsets than in args() if it is `rebuilt`.
  void take(std::string_view wire, bool rebuilt) {
    Waited& kept = waited();
    kept.bytes = wire;
    const std::string_view bytes = kept.bytes;
    kept.args.reserve(args().size());
    std::size_t at = 0;
    for (const std::string_view arg : args()) {
      if (rebuilt) {
        at = bytes.find('\n', at == 0 ? bytes.find('\n') + 1 : at + 2) + 1;
      } else {
        at = static_cast<std::size_t>(arg.data() - wire.data());
      }
      kept.args.push_back(bytes.substr(at, arg.size()));
      at += arg.size();
    }
    args_ = &kept.args;
  }

  const std::vector<std::string_view>* args_;
  std::unique_ptr<Waited> waited_;
};

}  // namespace heatsink::proxy
