// SPDX-License-Identifier: Apache-2.0
// One command of a client: what it says, and how far it has come.
#pragma once

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
#include "heatsink/copies/fill_waiters.h"
#include "heatsink/copies/local_reads.h"
#include "heatsink/copies/permission_cache.h"
#include "heatsink/proxy/command_facts.h"
#include "heatsink/proxy/reply_guess.h"
#include "heatsink/proxy/route.h"
#include "heatsink/resp/resp.h"

namespace heatsink::proxy {

class Relief;

inline constexpr CommandFacts kUnknownCommand{};

// What a request, or the one behind it, waits for.
enum class Awaited : std::uint8_t {
  kNothing,
  kDrain,    // until nothing is in flight
  kAnswer,   // likewise; but what comes next may go on another connection
  kPrivate,  // until its private connection is ready
  kShared,   // until the shared connection is ready
  kRelief,   // until the relief that holds it lets it go
};

// A request is parsed once. Most are answered or sent at once, and then their arguments are views
// of what was read from the client. One that has to wait keeps its bytes, so that the client's
// input is free, and what it has waited for: it is looked at again from there.
//
// Belongs to one session; not thread-safe.
struct Request {
  // Both live until keep(); `wire` is empty while not all has come.
  Request(const std::vector<std::string_view>& its_args, std::string_view wire)
      : raw(wire), args_(&its_args) {}
  Request(Request&&) = default;

  const std::vector<std::string_view>& args() const { return *args_; }
  bool has_right_arity() const {  // REQUIRES command
    const auto count = static_cast<std::int64_t>(args().size());
    return command->arity >= 0 ? count == command->arity : count >= -command->arity;
  }
  NameHash name_hash(std::size_t arg, std::uint64_t seed) const {  // of an argument
    return arg == 1 && first_name ? *first_name : hash_name_inline(args()[arg], seed);
  }
  cache::Read read() const {  // REQUIRES facts->local and a key
    return {facts->local->number, std::span(args()).subspan(2)};
  }

  // Copies the bytes, once.
  void keep() {
    if (kept_bytes() > 0) return;
    if (raw.empty()) {  // what has come of it: the arguments are enough
      ByteBuffer wire;
      resp::append_request(wire, args());
      return take(wire.view(), true);
    }
    take(raw, false);
    raw = waited_->bytes;
  }
  // Of a request that came in another form than the server is to have it.
  void rewrite() {
    ByteBuffer wire;
    resp::append_request(wire, args());
    take(wire.view(), true);
    raw = waited_->bytes;
  }
  std::size_t kept_bytes() const { return waited_ == nullptr ? 0 : waited_->bytes.size(); }

  // ---- what it says

  std::string_view raw;
  TimePoint now{};                         // of this look at it; read after its bytes were
  const resp::Command* command = nullptr;  // null: unknown
  const CommandFacts* facts = &kUnknownCommand;
  Route route = Route::kPinned;             // facts->route, or where an error is to come from
  bool is_last = false;                     // nothing of the client's has come behind it
  std::optional<NameHash> first_name = {};  // of the first argument, once it was asked for

  // ---- how far it has come

  // Of one that could not go on at once.
  struct Waited {
    // Why it has no connection: its own one failed meanwhile, or the server refused its database.
    std::string connection_error, db_error;
    std::string refusal;  // the answer to it for the lack of one
    const Relief* held_by = nullptr;
    // A read: since when it waits for a copy, and what has come.
    TimePoint fill_wanted_at{};
    std::shared_ptr<const copies::FillAnswer> answer;
    // What it has asked the tracker for, under a number of its session's.
    std::uint64_t ticket = 0;
    enum class Barrier : std::uint8_t { kNone, kAsked, kPassed, kLate } barrier = Barrier::kNone;

    std::string bytes;  // its own
    std::vector<std::string_view> args;
  };
  Waited& waited() {
    if (waited_ == nullptr) waited_ = std::make_unique<Waited>();
    return *waited_;
  }
  bool has_waited() const { return waited_ != nullptr; }

  // Once it goes to the server:
  ExpectedReply expected;                      // how long its reply will be
  std::unique_ptr<copies::AskedRight> proves;  // what its reply proves
  copies::ReadHash reply_of;                   // if its reply's length is worth knowing

 private:
  // The arguments stand in `wire` in their order; at other places than args() if it is `rebuilt`.
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
