// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/carried_session.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "heatsink/handover/handover.h"

namespace heatsink::proxy {
namespace {

using handover::Reader;
using handover::Writer;

// One function for both directions, so that they cannot differ.
class Out {
 public:
  void flag(bool value) { out_.flag(value); }
  void slot(std::uint16_t value) { out_.u32(value); }
  void number(std::uint32_t value) { out_.u32(value); }
  void number(std::uint64_t value) { out_.u64(value); }
  void text(const std::string& value, std::size_t /*bytes_max*/) { out_.text(value); }
  void protocol(resp::Protocol value) { flag(value == resp::Protocol::kResp3); }
  void user(ClientState::User value) { out_.u8(static_cast<std::uint8_t>(value)); }
  void texts(const std::vector<std::string>& value, std::size_t /*count_max*/) {
    out_.u32(static_cast<std::uint32_t>(value.size()));
    for (const std::string& each : value) out_.text(each);
  }
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
  void slot(std::uint16_t& value) {
    const std::uint32_t number = in_.u32();
    if (number >= resp::kSlots) in_.fail();
    value = static_cast<std::uint16_t>(number % resp::kSlots);
  }
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
  void texts(std::vector<std::string>& value, std::size_t count_max) {
    const std::size_t count = in_.count(count_max);
    for (std::size_t i = 0; i < count && in_.ok(); ++i)
      value.emplace_back(in_.text(handover::kMessageBytesMax));
  }
  void channels(Channels& value) {
    const std::size_t count = in_.count(SubscribedNames::kCarriedMax);
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

template <class Direction, class Session>
void walk_state(Direction& io, Session& session) {
  auto& state = session.state;
  auto& names = session.subscriptions;
  auto& transaction = session.transaction;
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
        &transaction.flush, &transaction.changes_access, &transaction.names, &state.name_owed_,
        &names.receives_messages})
    io.flag(*flag);
  io.channels(names.channels);
  io.channels(names.patterns);
  io.channels(names.shard_channels);
}

template <class Direction, class Queued>
void walk_queued(Direction& io, Queued& queued) {
  io.texts(queued.requests, QueuedTransaction::kCommandsMax);
  io.texts(queued.scripts, QueuedTransaction::kCommandsMax);
  if (io.present(queued.slot)) io.slot(*queued.slot);
  io.flag(queued.failed);
  io.flag(queued.watches);
}

template <class Direction, class Session>
void walk_second(Direction& io, Session& session) {
  io.flag(session.state.replicates_);
  io.text(session.transaction.refusal, CarriedSession::kNameMax);
  io.number(session.transaction.queued);
  io.flag(session.has_written);
  io.flag(session.listens);
  io.number(session.nodes);
  if (io.present(session.login)) {
    io.text(session.login->user, CarriedSession::kLoginMax);
    io.text(session.login->password, CarriedSession::kLoginMax);
  }
  if (io.present(session.transaction.watched_slot)) io.slot(*session.transaction.watched_slot);
  if (io.present(session.transaction.queue)) walk_queued(io, *session.transaction.queue);
}

template <class Direction, class Mode>
void walk_near(Direction& io, Mode& mode) {
  for (auto* flag :
       {&mode.is_on, &mode.opts_in, &mode.opts_out, &mode.skips_own, &mode.says_caching})
    io.flag(*flag);
}

template <class Direction, class Session>
void walk(Direction& io, Session& session, std::uint32_t layout) {
  io.number(session.id);
  walk_state(io, session);
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
  if (layout >= 2) walk_second(io, session);
  if (layout >= 3) io.flag(session.subscriptions.hears_hot);
  if (layout >= 4) walk_near(io, session.state.near_mode_);
}

// Redis's rule for names of clients and libraries: printable, no space.
bool is_name(const std::string& name) {
  return std::all_of(name.begin(), name.end(), [](char c) { return c >= '!' && c <= '~'; });
}

// Of the fields that came with layout 2.
bool second_holds(const CarriedSession& session) {
  const ClientState& state = session.state;
  const bool login_holds =
      !session.login || (state.user_ == ClientState::User::kOther &&
                         session.login->acl_user() == std::string_view(state.user_name_));
  const bool is_queued = session.transaction.queue.has_value();
  const bool has_failed = !session.transaction.refusal.empty();
  const bool transaction_holds =
      (!is_queued && !has_failed) || (state.in_multi_ && !(is_queued && has_failed));
  return login_holds && transaction_holds && (session.is_raw || !state.replicates_) &&
         session.nodes <= handover::kNodesMax && (session.listens || session.nodes == 0);
}

// Of the fields that came with layout 4.
bool near_holds(const NearMode& mode) {
  const bool chooses = mode.opts_in || mode.opts_out;
  return (mode.is_on || !(chooses || mode.skips_own)) && !(mode.opts_in && mode.opts_out) &&
         (chooses || !mode.says_caching);
}

// State that lives on the private connection, without one, cannot be.
bool is_consistent(const CarriedSession& session) {
  const ClientState& state = session.state;
  const bool needs_login =
      state.user_ == ClientState::User::kOther && state.user_name_ != "default" && !session.login;
  const bool is_in_transaction =
      state.in_multi_ && !session.transaction.queue && session.transaction.refusal.empty();
  const SubscribedNames& names = session.subscriptions;
  const bool hears = !names.channels.empty() || !names.patterns.empty() ||
                     names.receives_messages || (!names.shard_channels.empty() && !session.listens);
  const bool needs_private = needs_login || state.pinned_ || is_in_transaction || state.watching_ ||
                             hears || session.is_raw || session.waiting;
  const bool names_hold =
      is_name(state.name_) && is_name(state.library_name_) && is_name(state.library_version_);
  return names_hold && second_holds(session) && near_holds(state.near_mode_) && session.id != 0 &&
         state.db_ <= INT32_MAX && (session.private_connection || !needs_private) &&
         !(session.is_raw && session.waiting);
}

}  // namespace

std::string encode(const CarriedSession& session, std::uint32_t layout) {
  Out out;
  out.number(layout);
  walk(out, session, layout);
  return out.take();
}

Result<CarriedSession> decode_session(std::string_view bytes) {
  In in(bytes);
  std::uint32_t layout = 0;
  in.number(layout);
  if (layout < CarriedSession::kOldestLayout || layout > CarriedSession::kLayout)
    return Error{ErrorCode::kProtocol, "the session's layout is " + std::to_string(layout) +
                                           "; this program reads layouts up to " +
                                           std::to_string(CarriedSession::kLayout)};
  CarriedSession session;
  walk(in, session, layout);
  if (session.transaction.queue) {
    QueuedTransaction& queue = *session.transaction.queue;
    for (const std::string& each : queue.requests) queue.bytes += each.size();
  }
  if (!in.ended() || !is_consistent(session))
    return Error{ErrorCode::kProtocol, "the fields of the session are invalid"};
  return session;
}

}  // namespace heatsink::proxy
