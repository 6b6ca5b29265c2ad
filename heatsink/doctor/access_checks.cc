// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "heatsink/base/printable.h"
#include "heatsink/doctor/check.h"
#include "heatsink/doctor/role_checks.h"
#include "heatsink/net/net.h"
#include "heatsink/policy/needed_rights.h"
#include "heatsink/redis/redis.h"

namespace heatsink::doctor {
namespace {

// `address`: host:port or unix:/path, as options have it. A name other than localhost counts as
// reachable, and so does what cannot be parsed.
bool listens_beyond_loopback(std::string_view address) {
  const Result<net::Endpoint> parsed = net::parse_endpoint(address);
  if (!parsed.ok()) return true;
  if (parsed->is_unix()) return false;
  const std::string& host = parsed->tcp.host;
  return host != "localhost" && host != "::1" && !host.starts_with("127.");
}

std::string user_of(const Facts& facts) {
  return printable(redis::Credentials{facts.upstream.user, ""}.acl_user());
}

void check_rights(const Facts& facts, Findings& out) {
  const ServerFacts& server = facts.server;
  if (server.right_replies.empty()) return;
  const auto missing = policy::missing_rights(
      redis::Credentials{facts.upstream.user, ""}.acl_user(),
      policy::heartbeat_pattern(facts.options.heartbeat_key, is_cluster_node(facts.server)),
      server.rights, server.right_replies);
  for (const policy::MissingRight& right : missing) {
    const bool needed = right.for_copies && facts.options.cache_enabled;
    out.push_back(
        {needed ? Level::kError : Level::kWarning, right.what, right.without_it,
         right.grant.empty() ? "give the command its name back on the server" : "grant it",
         right.grant, right.what});
  }
  const std::string_view touch = server.error("TOUCH");
  const bool needs_touch = server.evicts_by_use();
  if (needs_touch && policy::refuses_command(touch)) {
    out.push_back({Level::kWarning, "the server's user '" + user_of(facts) + "' may not run TOUCH",
                   "the server may evict keys that are read from copies, because it sees no reads",
                   "grant it", "ACL SETUSER " + user_of(facts) + " +touch", "touch"});
  }
  if (missing.empty() && (!needs_touch || touch.empty()) &&
      std::ranges::none_of(server.right_replies, policy::says_nothing_of_rights)) {
    out.push_back(
        {Level::kOk, fmt::format("the server's user '{}' has all {} rights that the proxy needs",
                                 user_of(facts), server.right_replies.size())});
  }
}

bool is_open(const ServerFacts& server) {
  const std::string_view error = server.error("PING");
  return !error.starts_with("NOAUTH") && !error.starts_with("NOPERM");
}

// A client that reaches the proxy reaches the server: the proxy forwards logins, and adds none.
void check_clients(const Facts& facts, Findings& out) {
  const ServerFacts& server = facts.server;
  const std::string user = user_of(facts);
  const std::size_t before = out.size();
  if (!server.replies.contains("PING")) return;
  if (!is_open(server)) {
    out.push_back(
        {Level::kOk,
         fmt::format(
             "clients must log in (AUTH); those that use '{}' share the proxy's connections",
             user)});
    return;
  }
  if (user != "default") {
    out.push_back(
        {Level::kNote,
         fmt::format("clients need no login: they are the server's user 'default', not '{}'", user),
         "each keeps a private connection to the server, and gets copies only of what it may read",
         "let the proxy use 'default', or require a login", "ACL SETUSER default resetpass",
         "private"});
  }
  const bool has_certificates = facts.options.tls_client_auth == net::ClientAuth::kRequired;
  if (listens_beyond_loopback(facts.options.listen) && !has_certificates) {
    out.push_back(
        {Level::kWarning,
         fmt::format("proxy.listen is {}, and the server lets clients in without a password",
                     printable(facts.options.listen)),
         "every host that reaches this port may run every command, as FLUSHALL",
         "give the server's default user a password; clients then send it through the proxy",
         "CONFIG SET requirepass PASSWORD", "open"});
  }
  if (out.size() == before)
    out.push_back({Level::kOk, "clients need no login, and share the proxy's connections"});
}

void check_admin(const Facts& facts, Findings& out) {
  const policy::ProxyOptions& options = facts.options;
  if (options.admin == "off") {
    out.push_back({Level::kNote, "admin.listen is off",
                   "no metrics, no health check, no heatsink top for this proxy",
                   "let it listen on loopback", "admin: {listen: 127.0.0.1:6390}"});
    return;
  }
  const bool has_token = !options.admin_token.empty() || !options.admin_token_file.empty();
  if (!listens_beyond_loopback(options.admin)) {
    out.push_back(
        {Level::kOk, fmt::format("the admin API listens on {}{}", printable(options.admin),
                                 has_token ? ", with a token" : "")});
  } else if (!has_token) {
    out.push_back({Level::kError,
                   fmt::format("admin.listen is {} without a token", printable(options.admin)),
                   "the proxy does not start", "listen on loopback, or set a token",
                   "openssl rand -hex 32 > /etc/heatsink/admin-token"});
  } else {
    out.push_back({Level::kNote,
                   fmt::format("admin.listen is {}: its token crosses the network in plain text",
                               printable(options.admin)),
                   "other machines on that network can read the token, and with it use the API",
                   "put a TLS endpoint in front of it, or listen on loopback"});
  }
  if (!options.admin_token.empty()) {
    out.push_back({Level::kNote, "admin.token is given as text",
                   "users of this machine may see it in a command line or a file",
                   "write it into a file that only the proxy's user can read",
                   "admin: {token-file: /etc/heatsink/admin-token}", "token"});
  }
}

}  // namespace

std::span<const Check> access_checks() {
  static constexpr std::array<Check, 3> kRows = {{
      {"rights",
       "The ACL rights of the proxy's user, one by one, "
       "by trying each command in a form that changes nothing. "
       "Refused ones appear in the server's ACL LOG.",
       Needs::kData, When::kConnect, check_rights, true},
      {"client-login",
       "Whether clients must log in, as which user they come, "
       "and whether the port is open to other machines.",
       Needs::kData, When::kStart, check_clients},
      {"admin-api", "Who can reach the admin API, and whether it has a token.", Needs::kNothing,
       When::kStart, check_admin},
  }};
  return kRows;
}

}  // namespace heatsink::doctor
