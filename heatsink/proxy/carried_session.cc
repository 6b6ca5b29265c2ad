// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/carried_session.h"

#include <algorithm>
#include <utility>

#include "heatsink/handover/encoding.h"

namespace heatsink::proxy {
namespace {

using handover::Reader;
using handover::Writer;

constexpr std::uint8_t kLayout = 1;  // changes with every change of the fields below

// One function for both directions, so that they cannot differ.
class Out {
 public:
  void flag(bool value) { out_.flag(value); }
  void number(std::uint32_t value) { out_.u32(value); }
  void number(std::uint64_t value) { out_.u64(value); }
  void text(const std::string& value, std::size_t /*bytes_max*/) { out_.text(value); }
  void protocol(resp::Protocol value) { flag(value == resp::Protocol::kResp3); }
  void user(ClientState::User value) { out_.u8(static_cast<std::uint8_t>(value)); }
  void channels(const Channels& value) {
    out_.u32(static_cast<std::uint32_t>(value.size()));
    for (const std::string& name : value) out_.text(name);
  }
  template <class T>
  bool present(const std::optional<T>& value) {
    flag(value.has_value());
    return value.has_value();
  }
  std::string take() { return out_.take(); }

 private:
  Writer out_;
};

class In {
 public:
  explicit In(std::string_view bytes) : in_(bytes) {}

  void flag(bool& value) { value = in_.flag(); }
  void number(std::uint32_t& value) { value = in_.u32(); }
  void number(std::uint64_t& value) { value = in_.u64(); }
  void text(std::string& value, std::size_t bytes_max) { value = in_.text(bytes_max); }
  void protocol(resp::Protocol& value) {
    value = in_.flag() ? resp::Protocol::kResp3 : resp::Protocol::kResp2;
  }
  void user(ClientState::User& value) {
    const std::uint8_t number = in_.u8();
    if (number > static_cast<std::uint8_t>(ClientState::User::kOther)) in_.fail();
    if (in_.ok()) value = static_cast<ClientState::User>(number);
  }
  void channels(Channels& value) {
    const std::size_t count = in_.count(CarriedSession::kChannelsMax);
    for (std::size_t i = 0; i < count && in_.ok(); ++i) {
      // In the order of the set and each once, so that the bytes of a session are unique.
      const std::string name(in_.text(CarriedSession::kInputMax));
      if (!value.empty() && name <= value.last()) in_.fail();
      value.insert(name);
    }
  }
  template <class T>
  bool present(std::optional<T>& value) {
    if (in_.flag()) value.emplace();
    return value.has_value();
  }
  bool ended() const { return in_.ended(); }

 private:
  Reader in_;
};

template <class Direction, class State>
void walk_state(Direction& io, State& state) {
  constexpr std::size_t kNameMax = CarriedSession::kNameMax;
  io.protocol(state.protocol_);
  io.user(state.user_);
  io.text(state.user_name_, kNameMax);
  io.text(state.name_, kNameMax);
  io.text(state.library_name_, kNameMax);
  io.text(state.library_version_, kNameMax);
  io.number(state.db_);
  for (auto* flag :
       {&state.pinned_, &state.introduced_, &state.lent_name_, &state.in_multi_, &state.watching_,
        &state.watch_refused_, &state.no_local_reads_, &state.reply_off_, &state.reply_skip_,
        &state.transaction_flush_, &state.transaction_changes_access_, &state.transaction_names_,
        &state.name_owed_, &state.receives_messages_})
    io.flag(*flag);
  io.channels(state.channels_);
  io.channels(state.patterns_);
  io.channels(state.shard_channels_);
}

template <class Direction, class Session>
void walk(Direction& io, Session& session) {
  io.number(session.id);
  walk_state(io, session.state);
  io.text(session.input, CarriedSession::kInputMax);
  io.flag(session.is_raw);
  io.flag(session.ran_script);
  if (io.present(session.private_connection)) {
    auto& connection = *session.private_connection;
    io.protocol(connection.protocol);
    io.flag(connection.has_login);
    io.flag(connection.knows_hello);
    io.number(connection.db);
  }
  if (io.present(session.waiting)) {
    io.text(session.waiting->request, CarriedSession::kWaitingRequestMax);
    io.number(session.waiting->connection);
    io.flag(session.waiting->silent);
  }
}

// Redis's rule for names of clients and libraries: printable, no space.
bool is_name(const std::string& name) {
  return std::all_of(name.begin(), name.end(), [](char c) { return c >= '!' && c <= '~'; });
}

// State that lives on the private connection, without one, cannot be.
bool is_consistent(const CarriedSession& session) {
  const ClientState& state = session.state;
  const bool needs_login =
      state.user_ == ClientState::User::kOther && state.user_name_ != "default";
  const bool needs_private = needs_login || state.pinned_ || state.in_multi_ || state.watching_ ||
                             state.subscribed() || state.receives_messages_ || session.is_raw ||
                             session.waiting;
  const bool names_hold =
      is_name(state.name_) && is_name(state.library_name_) && is_name(state.library_version_);
  return names_hold && session.id != 0 && state.db_ <= INT32_MAX &&
         (session.private_connection || !needs_private) && !(session.is_raw && session.waiting);
}

}  // namespace

std::string encode(const CarriedSession& session) {
  Out out;
  out.number(static_cast<std::uint32_t>(kLayout));
  walk(out, session);
  return out.take();
}

Result<CarriedSession> decode_session(std::string_view bytes) {
  In in(bytes);
  std::uint32_t layout = 0;
  in.number(layout);
  if (layout != kLayout)
    return Error{ErrorCode::kProtocol, "the session's layout is " + std::to_string(layout) +
                                           "; this program reads layout " +
                                           std::to_string(kLayout)};
  CarriedSession session;
  walk(in, session);
  if (!in.ended() || !is_consistent(session))
    return Error{ErrorCode::kProtocol, "the fields of the session are invalid"};
  return session;
}

}  // namespace heatsink::proxy
