// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/identity.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "heatsink/command/ascii.h"
#include "heatsink/session/presented_cluster.h"

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

// ---- the user

void Identity::become(User user, std::string_view name) {
  state_.user_ = user;
  state_.user_name_ = user == User::kOther ? name : std::string_view();
  state_.user_hash_ = hash_name(name, parts_.shared.seed).value;
  client_.user_changed();
}

void Identity::use_servers_of(const redis::Credentials& credentials) {
  const bool is_proxys = parts_.shared.is_own_login(credentials.user);
  servers_.serve(is_proxys ? nullptr : parts_.users.of(credentials));
  become(is_proxys ? User::kShared : User::kOther, credentials.acl_user());
  const Upstream* const own = servers_.own();
  if (own != nullptr && !servers_.has_state())
    servers_.give_back(is_proxys && own->user() == nullptr && own->protocol() == state_.protocol_ &&
                       own->login() == Upstream::Login::kOwn);
}

void Identity::become_fresh() {
  servers_.serve(nullptr);
  become(fresh_user());
  if (state_.user_ == User::kOther && parts_.shared.cluster.is_expected()) use_servers_of({});
}

// Of a client that has not logged in.
Identity::User Identity::fresh_user() const {
  const SharedState& shared = parts_.shared;
  if (!shared.upstream_open.load(std::memory_order_relaxed)) return User::kUnauthenticated;
  return shared.credentials().acl_user() == "default" ? User::kShared : User::kOther;
}

bool Identity::is_user(std::string_view name) const {
  if (state_.user_ == User::kShared) return name == parts_.shared.credentials().acl_user();
  return state_.user_ == User::kOther && name == state_.user_name_;
}

// Whether a new connection can have the client's present login.
bool Identity::can_log_in() const {
  return state_.user_ != User::kUnauthenticated &&
         (state_.user_ == User::kOther || parts_.shared.may_log_in());
}

// "": the client may try to log in. What it has on one connection in front of a cluster
// (subscriptions, WATCH) belongs to the user who asked for it.
std::string Identity::why_not_as(const redis::Credentials& asked) const {
  if (!parts_.shared.cluster.is_expected() || asked.user.empty()) return {};
  if (asked.user.size() + asked.password.size() > kLoginBytesMax)
    return "ERR heatsink: the name and the password of a user are limited to 16 KiB";
  const bool stays = is_user(asked.user);
  if (!stays && (state_.pinned_ || state_.watching_ || client_.must_keep_user()))
    return "ERR heatsink: in front of a cluster a client must log in as another user before it "
           "subscribes, watches or tracks keys: use a new connection";
  if (parts_.users.has_room_for(asked)) return {};
  return fmt::format(
      "ERR heatsink: clients of this worker use {} ACL users already, or {} passwords of this "
      "user, "
      "which is the most there may be: use fewer, or more workers (proxy.workers)",
      UserServers::kUsersMax, UserServers::kPasswordsMax);
}

// ---- AUTH and HELLO

Step Identity::no_connection(Request& request, Step step) {
  return step == Step::kStall ? step : client_.refuse_without_connection(request);
}

Step Identity::auth(Request& request) {
  const std::vector<std::string_view>& args = request.args();
  const bool is_login = args.size() == 2 || (args.size() == 3 && !args[1].empty());
  if (!is_login) return forward_for_refusal(request);
  const std::string_view user = args.size() == 3 ? args[1] : "default";
  return authenticate(request, 0, {{std::string(user), std::string(args.back())}, {}});
}

// The server checks the password on a connection in the client's present state. A client that is
// logged in uses one with a login and its database, because the new user may lack the right to
// SELECT. Any other client uses one without a login, where the server refuses SELECT.
Step Identity::authenticate(Request& request, std::uint32_t protocol, LoginAsked&& asked) {
  if (!client_.is_drained()) return client_.stall_for(Awaited::kDrain);
  if (const std::string why = why_not_as(asked.credentials); !why.empty()) {
    if (!servers_.has_state()) servers_.give_back(false);  // opened to check the password
    return client_.reply_error(why);
  }
  Step step = Step::kDone;
  // The present user of a client in front of a cluster may have been deleted.
  const bool as_present_user = can_log_in() && (servers_.user() == nullptr || servers_.has_state());
  Upstream* const connection =
      as_present_user ? servers_.own_for(request, step) : servers_.own_without_login(request, step);
  if (connection == nullptr) return no_connection(request, step);
  const std::string& user = asked.credentials.user;
  const bool stays_own = user.empty() || user == parts_.shared.credentials().acl_user() ||
                         parts_.shared.cluster.is_expected();
  const bool is_anonymous = !state_.introduced_ && connection->login() == Upstream::Login::kOwn;
  if (state_.user_ == User::kShared && !stays_own && is_anonymous) {
    // Give the connection its name first, because the new user may lack the right. Wait for the
    // reply: some servers (Redis 8.0.2, Valkey 8.1.1) do not answer a wrong password that is
    // pipelined.
    servers_.introduce(ServerSide::Introduction::kAwaited);
    return client_.stall_for(Awaited::kDrain);
  }
  state_.login_asked_ = std::make_unique<LoginAsked>(std::move(asked));
  client_.send_on(*connection, request, PartRequest(SessionPart::kIdentity), protocol);
  client_.stall_for(Awaited::kDrain);
  return Step::kDone;
}

// HELLO [protocol [AUTH user password] [SETNAME name]]. False: it has other words.
bool Identity::read_hello(const Request& request, std::uint32_t& protocol,
                          LoginAsked& asked) const {
  const std::vector<std::string_view>& args = request.args();
  bool valid =
      args.size() == 1 || (parse_number(args[1], protocol) && (protocol == 2 || protocol == 3));
  for (std::size_t i = 2; valid && i < args.size();) {
    if (equals_ignoring_case(args[i], "auth") && i + 2 < args.size()) {
      asked.credentials = {std::string(args[i + 1]), std::string(args[i + 2])};
      valid = !asked.credentials.user.empty();
      i += 3;
    } else if (equals_ignoring_case(args[i], "setname") && i + 1 < args.size()) {
      asked.name = args[i + 1];  // an empty one removes the client's name
      valid = valid_client_name(*asked.name);
      i += 2;
    } else {
      valid = false;
    }
  }
  return valid;
}

// The proxy answers HELLO without AUTH itself; it sends arguments that it does not understand to
// the server, which refuses them.
Step Identity::hello(Request& request) {
  std::uint32_t protocol = state_.protocol_ == resp::Protocol::kResp3 ? 3 : 2;
  LoginAsked asked;
  const bool valid = read_hello(request, protocol, asked);
  if (valid && (!asked.credentials.user.empty() || servers_.has_state()))
    return authenticate(request, protocol, std::move(asked));
  if (!valid || state_.user_ == User::kUnauthenticated) return forward_for_refusal(request);
  if (servers_.is_bound()) return authenticate(request, protocol, std::move(asked));
  return hello_locally(request, protocol, asked);
}

// The server refuses it. A HELLO may have changed the login or the name by then (Redis before 7.2
// reads its options one by one), so no other client may use the connection.
Step Identity::forward_for_refusal(Request& request) {
  const auto [step, is_sent] = client_.forward_on_own(request, {});
  if (is_sent && servers_.own() != nullptr) state_.introduced_ = true;
  return step;
}

Step Identity::hello_locally(Request& request, std::uint32_t version, const LoginAsked& asked) {
  if (!client_.is_drained()) return client_.stall_for(Awaited::kDrain);
  const resp::Protocol protocol = version == 3 ? resp::Protocol::kResp3 : resp::Protocol::kResp2;
  const Upstreams::Shared shared = servers_.upstreams().shared(protocol, Destination::any());
  if (shared.connection == nullptr) {
    Step step = Step::kDone;
    servers_.without_shared(request, protocol, Destination::any(), shared, step);
    return no_connection(request, step);
  }
  const std::string& answer = shared.connection->hello_reply();
  if (answer.empty()) return client_.forward_on_own(request, {}).step;  // a server without HELLO
  const Upstream* const own = servers_.own();
  if (own != nullptr && own->protocol() != protocol) servers_.give_back(true);
  state_.protocol_ = protocol;
  if (asked.name) state_.name_ = *asked.name;
  return client_.reply(with_id(policy::presents_cluster(parts_.shared.options())
                                   ? as_in_cluster(answer)
                                   : as_standalone(answer),
                               client_.id()));
}

void Identity::authenticated(const Pending& pending, bool ok) {
  const std::unique_ptr<LoginAsked> asked = std::move(state_.login_asked_);
  if (!ok) {
    // Has_state(): its WATCHes are on this connection.
    if (!servers_.has_state()) servers_.give_back(false);
    return;
  }
  if (pending.number != 0) {
    state_.protocol_ = pending.number == 3 ? resp::Protocol::kResp3 : resp::Protocol::kResp2;
    if (servers_.own() != nullptr) servers_.own()->set_protocol(state_.protocol_);
  }
  if (asked->name) state_.name_ = *asked->name;
  if (asked->credentials.user.empty()) return;
  parts_.shared.cluster.is_expected() ? logged_in_to_cluster(*asked) : logged_in(*asked);
}

void Identity::logged_in_to_cluster(const LoginAsked& asked) {
  if (servers_.own() != nullptr && asked.name) state_.introduced_ = true;
  // The cluster was found, or others logged in, while the server checked the password.
  if ((servers_.has_state() && !is_user(asked.credentials.user)) ||
      !parts_.users.has_room_for(asked.credentials))
    return client_.close_when_flushed();
  use_servers_of(asked.credentials);
}

// Without a password of its own, the proxy cannot open connections for this user that need one.
void Identity::logged_in(const LoginAsked& asked) {
  const std::string& user = asked.credentials.user;
  const bool was_other = state_.user_ == User::kOther;
  Upstream* const own = servers_.own();
  if (!parts_.shared.is_own_login(user)) {
    become(User::kOther, user);
    if (!was_other && !state_.introduced_) servers_.introduce();
    own->set_login(Upstream::Login::kNone);  // it has the proxy's no longer
    return servers_.follow_protocol();
  }
  become(User::kShared);
  if (own == nullptr || state_.pinned_) return;
  own->set_login(Upstream::Login::kOwn);  // the connection now has the proxy's login
  state_.introduced_ =
      state_.introduced_ || was_other || asked.name.has_value();  // the client may have named it
  if (!servers_.has_state()) servers_.give_back(own->protocol() == state_.protocol_);
}

// ---- CLIENT

Step Identity::client(Request& request) {
  if (!client_.is_drained()) return client_.stall_for(Awaited::kDrain);
  // The server refuses CLIENT for subscribers in RESP2.
  if (client_.receives_messages() && state_.protocol_ == resp::Protocol::kResp2)
    return client_.forward_on_own(request, {}).step;
  const std::string_view what = request.args()[1];
  if (equals_ignoring_case(what, "reply")) return client_reply(request);
  const bool names = equals_ignoring_case(what, "setname") && request.args().size() == 3;
  if (names && valid_client_name(request.args()[2])) state_.name_ = request.args()[2];
  const bool knows_library = equals_ignoring_case(what, "setinfo") && note_library(request);
  if (state_.pinned_ || servers_.is_bound()) return client_.forward_on_own(request, {}).step;
  if (equals_ignoring_case(what, "getname") && request.args().size() == 2) {
    ByteBuffer wire;
    state_.name_.empty() ? resp::append_null(wire, state_.protocol_)
                         : resp::append_bulk(wire, state_.name_);
    return client_.reply(wire.view());
  }
  if (names && state_.name_ == request.args()[2]) return client_.reply("+OK\r\n");
  if (names)
    return client_.reply_error(
        "ERR Client names cannot contain spaces, newlines or special characters.");
  if (knows_library) return client_.reply("+OK\r\n");
  return client_.forward_on_own(request, {}).step;  // for the server to refuse
}

bool Identity::note_library(const Request& request) {
  if (request.args().size() != 4 || !valid_client_name(request.args()[3])) return false;
  const bool is_name = equals_ignoring_case(request.args()[2], "lib-name");
  if (!is_name && !equals_ignoring_case(request.args()[2], "lib-ver")) return false;
  (is_name ? state_.library_name_ : state_.library_version_) = request.args()[3];
  return true;
}

Step Identity::client_reply(Request& request) {
  if (request.args().size() != 3) return client_.forward_on_own(request, {}).step;
  const std::string_view mode = request.args()[2];
  if (equals_ignoring_case(mode, "on")) {
    state_.reply_off_ = state_.reply_skip_ = false;
    return client_.reply("+OK\r\n");
  }
  if (equals_ignoring_case(mode, "off")) {
    state_.reply_off_ = true;
    state_.reply_skip_ = false;
  } else if (equals_ignoring_case(mode, "skip")) {
    state_.reply_skip_ = !state_.reply_off_;
  } else {
    return client_.reply_error("ERR syntax error");
  }
  return Step::kDone;
}

// ---- SELECT

Step Identity::select(Request& request) {
  std::uint32_t db = 0;
  if (request.args().size() != 2 || !parse_number(request.args()[1], db))
    return client_.forward_whole(request);
  if (!client_.is_drained()) return client_.stall_for(Awaited::kDrain);
  Step step = Step::kDone;
  Upstream* const connection = servers_.connection_for(request, servers_.is_bound(), step);
  if (connection == nullptr) return no_connection(request, step);
  const bool is_own = connection == servers_.own();
  if (!is_own && connection->knows_db(db)) {
    state_.db_ = db;
    return client_.reply("+OK\r\n");
  }
  connection->set_db(is_own ? db : Upstream::kUnknownDb);
  client_.send_on(*connection, request, PartRequest(SessionPart::kDatabase), db);
  client_.stall_for(Awaited::kDrain);  // the reply decides the database of the next request
  return Step::kDone;
}

void Identity::selected(const Pending& pending, bool ok) {
  if (ok) {
    state_.db_ = pending.number;
  } else if (servers_.own() != nullptr) {
    // The database did not change, and another SELECT could be refused, too.
    servers_.own()->set_db(state_.db_);
  }
}

}  // namespace heatsink::proxy
