// SPDX-License-Identifier: Apache-2.0
// Runs the commands that change what the proxy knows of a client.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "heatsink/command/ascii.h"
#include "heatsink/policy/announced.h"
#include "heatsink/session/presented_cluster.h"
#include "heatsink/session/session.h"

namespace heatsink::proxy {
namespace {

// A password is kept while a client uses it.
constexpr std::size_t kLoginBytesMax = 16 * 1024;

bool parse_number(std::string_view text, std::uint32_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && number <= INT32_MAX;
}

// Redis's rule (validateClientName): printable, no space.
bool valid_client_name(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) { return c >= '!' && c <= '~'; });
}

// To its clients the proxy is one server, also in front of a cluster.
std::string as_standalone(std::string hello) {
  constexpr std::string_view kCluster = "$4\r\nmode\r\n$7\r\ncluster\r\n";
  const std::size_t at = hello.find(kCluster);
  if (at != std::string::npos)
    hello.replace(at, kCluster.size(), "$4\r\nmode\r\n$10\r\nstandalone\r\n");
  return hello;
}

// The cached reply to HELLO, with this client's own id: "...id\r\n:5\r\n...".
std::string with_id(const std::string& hello, std::uint64_t id) {
  constexpr std::string_view kId = "$2\r\nid\r\n:";
  const std::size_t at = hello.find(kId);
  if (at == std::string::npos) return hello;
  const std::size_t begin = at + kId.size();
  const std::size_t end = hello.find('\r', begin);
  return hello.substr(0, begin) + std::to_string(id) + hello.substr(end);
}

}  // namespace

Step Session::run_select(Request& request) {
  std::uint32_t db = 0;
  if (request.args().size() != 2 || !parse_number(request.args()[1], db))
    return forward(request, false);
  if (in_flight() > 0) return stall(Awaited::kDrain);
  Step step = Step::kDone;
  Upstream* connection = connection_for(request, is_bound(), step);
  if (connection == nullptr) return no_connection(request, step);
  if (connection != private_.get() && connection->knows_db(db)) {
    db_ = db;
    return reply("+OK\r\n");
  }
  connection->set_db(connection == private_.get() ? db : Upstream::kUnknownDb);
  send_on(*connection, request, PendingKind::kSelectDb, db);
  stall(Awaited::kDrain);  // the reply decides the database of the next request
  return Step::kDone;
}

Step Session::run_auth(Request& request) {
  const std::vector<std::string_view>& args = request.args();
  const bool is_login = args.size() == 2 || (args.size() == 3 && !args[1].empty());
  if (!is_login) return forward_for_refusal(request);
  const std::string_view user = args.size() == 3 ? args[1] : "default";
  return authenticate(request, 0, {{std::string(user), std::string(args.back())}, {}});
}

// The server checks all passwords, on a connection in the client's present state. A client that is
// logged in uses one with a login and its database, because the new user may lack the right to
// SELECT. Any other client uses one without a login, where the server refuses SELECT.
Step Session::authenticate(Request& request, std::uint32_t protocol, LoginAsked&& asked) {
  if (in_flight() > 0) return stall(Awaited::kDrain);
  if (const std::string why = why_not_as(asked.credentials); !why.empty()) {
    if (private_ && !has_state()) give_back(false);  // opened to check the password
    return reply_error(why);
  }
  Step step = Step::kDone;
  // The present user of a client in front of a cluster may have been deleted.
  const bool as_present_user = can_log_in() && (client_user_ == nullptr || has_state());
  Upstream* connection = as_present_user ? private_connection(request, step)
                                         : unauthenticated_connection(request, step);
  if (connection == nullptr) return no_connection(request, step);
  const std::string& user = asked.credentials.user;
  const bool stays_own = user.empty() || user == parts_.shared.credentials().acl_user() ||
                         parts_.shared.cluster.is_expected();
  const bool is_anonymous = !introduced_ && connection->login() == Upstream::Login::kOwn;
  if (user_ == User::kShared && !stays_own && is_anonymous) {
    // Give the connection its name first, because the new user may lack the right. Wait for the
    // reply: some servers (Redis 8.0.2, Valkey 8.1.1) do not answer a wrong password that is
    // pipelined.
    introduce(Introduction::kAwaited);
    return stall(Awaited::kDrain);
  }
  login_asked_ = std::make_unique<LoginAsked>(std::move(asked));
  send_on(*connection, request, PendingKind::kAuth, protocol);
  stall(Awaited::kDrain);
  return Step::kDone;
}

bool Session::is_user(std::string_view name) const {
  if (user_ == User::kShared) return name == parts_.shared.credentials().acl_user();
  return user_ == User::kOther && name == user_name_;
}

// "": the client may try to log in. What it has on one connection in front of a cluster
// (subscriptions, WATCH) belongs to the user who asked for it.
std::string Session::why_not_as(const redis::Credentials& asked) const {
  if (!parts_.shared.cluster.is_expected() || asked.user.empty()) return {};
  if (asked.user.size() + asked.password.size() > kLoginBytesMax)
    return "ERR heatsink: the name and the password of a user are limited to 16 KiB";
  const bool stays = is_user(asked.user);
  if (!stays && (pinned_ || watching_ || listeners_ != nullptr || in_stream()))
    return "ERR heatsink: in front of a cluster a client must log in as another user before it "
           "subscribes, watches or tracks keys: use a new connection";
  if (parts_.users.has_room_for(asked)) return {};
  return fmt::format(
      "ERR heatsink: clients of this worker use {} ACL users already, or {} passwords of this "
      "user, "
      "which is the most there may be: use fewer, or more workers (proxy.workers)",
      UserServers::kUsersMax, UserServers::kPasswordsMax);
}

// Whether a new connection can have the client's present login.
bool Session::can_log_in() const {
  return user_ != User::kUnauthenticated && (user_ == User::kOther || parts_.shared.may_log_in());
}

Upstream* Session::unauthenticated_connection(Request& request, Step& step) {
  if (private_ && !has_state() && private_->login() == Upstream::Login::kOwn) give_back(true);
  const User user = user_;
  Upstreams* const upstreams = std::exchange(upstreams_, &parts_.upstreams);
  user_ = User::kUnauthenticated;  // acquire() opens a connection without a login
  Upstream* connection = private_in_any_db(request, step);
  user_ = user;
  upstreams_ = upstreams;
  return connection;
}

// HELLO [protocol [AUTH user password] [SETNAME name]]. The proxy answers HELLO without AUTH
// itself; it sends arguments that it does not understand to the server, which refuses them.
Step Session::run_hello(Request& request) {
  std::uint32_t protocol = protocol_ == resp::Protocol::kResp3 ? 3 : 2;
  LoginAsked asked;
  std::optional<std::string>& name = asked.name;  // an empty name removes the client's name
  bool valid = request.args().size() == 1 ||
               (parse_number(request.args()[1], protocol) && (protocol == 2 || protocol == 3));
  for (std::size_t i = 2; valid && i < request.args().size();) {
    if (equals_ignoring_case(request.args()[i], "auth") && i + 2 < request.args().size()) {
      asked.credentials = {std::string(request.args()[i + 1]), std::string(request.args()[i + 2])};
      valid = !asked.credentials.user.empty();
      i += 3;
    } else if (equals_ignoring_case(request.args()[i], "setname") &&
               i + 1 < request.args().size()) {
      name = request.args()[i + 1];
      valid = valid_client_name(*name);
      i += 2;
    } else {
      valid = false;
    }
  }
  if (valid && (!asked.credentials.user.empty() || has_state()))
    return authenticate(request, protocol, std::move(asked));
  if (!valid || user_ == User::kUnauthenticated) return forward_for_refusal(request);
  if (is_bound()) return authenticate(request, protocol, std::move(asked));
  return hello_locally(request, protocol == 3 ? resp::Protocol::kResp3 : resp::Protocol::kResp2,
                       name);
}

// The server refuses it. A HELLO may have changed the login or the name by then (Redis before 7.2
// reads its options one by one), so no other client may use the connection.
Step Session::forward_for_refusal(Request& request) {
  const std::uint64_t sent_before = traffic_.sent;
  const Step step = forward(request, true);
  if (traffic_.sent != sent_before && private_) introduced_ = true;
  return step;
}

Step Session::hello_locally(Request& request, resp::Protocol protocol,
                            const std::optional<std::string>& name) {
  if (in_flight() > 0) return stall(Awaited::kDrain);
  const Upstreams::Shared shared = upstreams_->shared(protocol, Destination::any());
  if (shared.connection == nullptr) {
    Step step = Step::kDone;
    without_shared(request, protocol, Destination::any(), shared, step);
    return no_connection(request, step);
  }
  if (shared.connection->hello_reply().empty())
    return forward(request, true);  // a server without HELLO
  if (private_ && private_->protocol() != protocol) give_back(true);
  protocol_ = protocol;
  if (name) name_ = *name;
  const std::string& answer = shared.connection->hello_reply();
  return reply(with_id(policy::presents_cluster(parts_.shared.options()) ? as_in_cluster(answer)
                                                                         : as_standalone(answer),
                       id_));
}

Step Session::run_client(Request& request) {
  if (in_flight() > 0) return stall(Awaited::kDrain);
  // The server refuses CLIENT for subscribers in RESP2.
  if (receives_messages_ && protocol_ == resp::Protocol::kResp2) return forward(request, true);
  const std::string_view what = request.args()[1];
  if (equals_ignoring_case(what, "reply")) return run_client_reply(request);
  const bool names = equals_ignoring_case(what, "setname") && request.args().size() == 3;
  if (names && valid_client_name(request.args()[2])) name_ = request.args()[2];
  const bool knows_library = equals_ignoring_case(what, "setinfo") && note_library(request);
  if (pinned_ || is_bound()) return forward(request, true);
  if (equals_ignoring_case(what, "getname") && request.args().size() == 2) {
    ByteBuffer wire;
    name_.empty() ? resp::append_null(wire, protocol_) : resp::append_bulk(wire, name_);
    return reply(wire.view());
  }
  if (names && name_ == request.args()[2]) return reply("+OK\r\n");
  if (names)
    return reply_error("ERR Client names cannot contain spaces, newlines or special characters.");
  if (knows_library) return reply("+OK\r\n");
  return forward(request, true);  // for the server to refuse
}

// False: the server will refuse the request.
bool Session::note_library(const Request& request) {
  if (request.args().size() != 4 || !valid_client_name(request.args()[3])) return false;
  const bool is_name = equals_ignoring_case(request.args()[2], "lib-name");
  if (!is_name && !equals_ignoring_case(request.args()[2], "lib-ver")) return false;
  (is_name ? library_name_ : library_version_) = request.args()[3];
  return true;
}

Step Session::run_client_reply(Request& request) {
  if (request.args().size() != 3) return forward(request, true);
  const std::string_view mode = request.args()[2];
  if (equals_ignoring_case(mode, "on")) {
    reply_off_ = reply_skip_ = false;
    return reply("+OK\r\n");
  }
  if (equals_ignoring_case(mode, "off")) {
    reply_off_ = true;
    reply_skip_ = false;
  } else if (equals_ignoring_case(mode, "skip")) {
    reply_skip_ = !reply_off_;
  } else {
    return reply_error("ERR syntax error");
  }
  return Step::kDone;
}

Channels& Session::channels_of(const Request& request) {
  const std::string& command = request.command->name;
  if (command.starts_with('p')) return patterns_;
  return command == "ssubscribe" || command == "sunsubscribe" ? shard_channels_ : channels_;
}

// The server confirms each channel separately; the sets tell how many confirmations will come.
Step Session::run_subscribe(Request& request) {
  Channels& set = channels_of(request);
  if (&set == &shard_channels_ && queues_transactions()) return run_shard_subscribe(request);
  const bool adds = request.command->name.find("unsub") == std::string::npos;
  if (!adds && subscribes_in_flight()) return stall(Awaited::kDrain);
  Step step = Step::kDone;
  Upstream* connection = private_connection(request, step);
  if (connection == nullptr) return no_connection(request, step);
  pin();
  if (needs_all_nodes(request) && !other_nodes_listen(request)) return stall(Awaited::kPause);
  listening_since_ = {};
  std::size_t confirmations = request.args().size() - 1;
  std::vector<std::string> added;
  if (confirmations == 0) {
    confirmations = std::max<std::size_t>(1, set.size());
    set.clear();
  }
  for (std::size_t i = 1; i < request.args().size(); ++i) {
    if (!adds) {
      set.erase(request.args()[i]);
    } else if (set.insert(request.args()[i])) {
      added.emplace_back(request.args()[i]);
    }
  }
  const bool receives_after = !channels_.empty() || !patterns_.empty() || !shard_channels_.empty();
  subscribing_.push_back({&set, std::move(added), receives_after});
  send_on(*connection, request, PendingKind::kSubscribe, static_cast<std::uint32_t>(confirmations));
  return Step::kDone;
}

// MONITOR gets one reply and then streams; SYNC and PSYNC use the replication protocol from the
// first byte.
Step Session::run_raw(Request& request) {
  if (in_flight() > 0) return stall(Awaited::kDrain);
  Step step = Step::kDone;
  Upstream* connection = private_connection(request, step);
  if (connection == nullptr) return no_connection(request, step);
  pin();
  if (request.command->name == "monitor") {
    send_on(*connection, request, PendingKind::kMonitor, 0);
    stall(Awaited::kDrain);
    return Step::kDone;
  }
  connection->relay_raw(request.raw);
  mode_ = Mode::kRaw;
  replicates_ = true;
  return Step::kDone;
}

// The debugger speaks its own protocol on the client's connection until the server closes it. A
// client that goes on with EVAL would run its script for real: so the connection ends.
Step Session::run_script_debug(const Request& request) {
  const std::string_view mode = request.args().size() == 3 ? request.args()[2] : std::string_view();
  if (equals_ignoring_case(mode, "no")) return reply("+OK\r\n");
  if (!equals_ignoring_case(mode, "yes") && !equals_ignoring_case(mode, "sync"))
    return reply_error("ERR Use SCRIPT DEBUG YES/SYNC/NO");
  reply_error(
      "ERR heatsink: the script debugger needs a connection to the server itself: give redis-cli "
      "--ldb the address of the server");
  close_when_flushed();
  return Step::kDone;
}

Step Session::run_reset() {
  if (in_flight() > 0) return stall(Awaited::kDrain);
  note_reply_at(parts_.loop.clock());  // a MONITOR stream may have shown values
  if (private_) give_back(false);
  close_listeners();
  protocol_ = resp::Protocol::kResp2;
  mode_ = Mode::kNormal;
  replicates_ = false;
  db_ = 0;
  name_.clear();
  no_local_reads_ = reply_off_ = false;  // keeps SKIP, which drops this reply
  name_owed_ = false;
  drop_queued();
  forget_transaction();
  traffic_.forget();
  receives_messages_ = false;
  channels_.clear();
  patterns_.clear();
  shard_channels_.clear();
  subscribing_.clear();
  become_fresh();
  return reply("+RESET\r\n");
}

Step Session::run_quit() {
  if (in_flight() > 0 && mode_ != Mode::kRaw) return stall(Awaited::kDrain);
  reply("+OK\r\n");
  close_when_flushed();
  return Step::kDone;
}

}  // namespace heatsink::proxy
