// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>

#include "heatsink/base/printable.h"
#include "heatsink/doctor/check.h"

namespace heatsink::doctor {
namespace {

constexpr std::size_t kFirstBytesShownMax = 60;

constexpr const char* kNothingWorks = "every command of every client fails";

// A program that answers like this, and the remedy.
struct Greeting {
  std::string_view begins_with;
  std::string_view is;
  std::string_view mend = "give the address of the Redis or Valkey server";
};
constexpr std::array<Greeting, 12> kGreetings = {{
    {"HTTP/", "a web server (it answers in HTTP)"},
    {"<!DOCTYPE", "a web server (it answers in HTML)"},
    {"<!doctype", "a web server (it answers in HTML)"},
    {"<html", "a web server (it answers in HTML)"},
    {"SSH-", "an SSH server"},
    {"\x15\x03", "a port with TLS", "use rediss:// instead of redis://"},
    {"ERROR\r\n", "a memcached server, or something like it"},
    {"220", "a mail or FTP server"},
    {"+OK ", "a mail server (POP3)"},
    {"* OK", "a mail server (IMAP)"},
    {"AMQP", "a message broker (AMQP)"},
    {"RFB ", "a VNC server"},
}};

const Greeting* find_greeting(std::string_view bytes) {
  for (const Greeting& greeting : kGreetings)
    if (bytes.starts_with(greeting.begins_with)) return &greeting;
  return nullptr;
}

void check_reachable(const Facts& facts, Findings& out) {
  const ServerFacts& server = facts.server;
  const std::string where = printable(server.where);
  const auto error = [&](std::string what, std::string mend, std::string paste = "") {
    out.push_back(
        {Level::kError, std::move(what), kNothingWorks, std::move(mend), std::move(paste)});
  };
  switch (server.contact) {
    case Contact::kNoMaster:
      return error("no master is known: " + one_line(server.problem),
                   "see docs/guides/fail-over.md for what each reason means");
    case Contact::kNotResolved:
      return error(where + " has no address: " + server.problem,
                   "correct the name in upstream.url, or the resolver of this machine",
                   "getent hosts " + printable(facts.upstream.address.host));
    case Contact::kNotConnected:
      return error(where + " cannot be reached: " + server.problem,
                   "check that the server runs, its bind and port, and firewalls between",
                   "redis-cli -h " + printable(facts.upstream.address.host) + " -p " +
                       std::to_string(facts.upstream.address.port) + " ping");
    case Contact::kSilent:
      return error(where + " accepts connections, but says nothing: " + server.problem,
                   "check whether the server is stopped or runs a slow command or script, "
                   "and that this is a port of Redis");
    case Contact::kClosed:
      return error(
          where + " accepts connections, but closes them without an answer: " + server.problem,
          "check that this is a port of Redis, whether it wants TLS (rediss://), "
          "and what stands between: a load balancer without a server closes like this");
    case Contact::kTlsFailed:
    case Contact::kNotRedis:
      out.push_back({Level::kOk, where + " accepts connections"});
      return;
    case Contact::kAnswered:
      break;
  }
  if (server.problem.empty()) {
    out.push_back({Level::kOk, where + " answers"});
    return;
  }
  out.push_back({Level::kError, where + " stopped answering: " + server.problem,
                 "commands in flight fail; the checks behind it could not be made",
                 "look into the server's log, and at what stands between; then run it again"});
}

void check_master(const Facts& facts, Findings& out) {
  if (!facts.search) return;
  const MasterSearch& search = *facts.search;
  const bool has_sentinels = facts.configured.topology == net::Topology::kSentinel;
  for (const std::string& failure : search.failures) {
    out.push_back({Level::kWarning, one_line(failure),
                   has_sentinels ? "it does not count when the Sentinels name the master"
                                 : "the proxy does not see it become the master",
                   "mend it, or take its address out of upstream.url"});
  }
  if (!facts.server.is_answering()) return;
  const std::string master = printable(facts.upstream.where());
  const std::string counted = fmt::format("{} of {} {}", search.answering, search.known,
                                          has_sentinels ? "Sentinels answer" : "servers answer");
  if (has_sentinels && search.answering * 2 <= search.known) {
    out.push_back({Level::kError, counted + ": no majority can name " + master + " as the master",
                   "no local copies; reads and writes pass", "bring the other Sentinels back"});
    return;
  }
  if (has_sentinels && search.known < 3) {
    out.push_back({Level::kWarning, counted + ", and they name " + master,
                   "fewer than three Sentinels cannot fail over safely, "
                   "and without a majority of them there are no local copies",
                   "run three Sentinels or more, on different machines"});
    return;
  }
  out.push_back({Level::kOk, counted + ": the master is " + master});
}

void check_tls(const Facts& facts, Findings& out) {
  if (!facts.upstream.tls) return;
  if (facts.server.contact == Contact::kTlsFailed) {
    out.push_back({Level::kError, "no TLS connection: " + one_line(facts.server.problem),
                   kNothingWorks,
                   "use redis:// if that port has no TLS; else correct upstream.tls-ca, "
                   "upstream.tls-server-name or the certificate"});
    return;
  }
  if (!facts.options.upstream_tls_verify) {
    out.push_back({Level::kWarning, "upstream.tls-verify is false: any server is accepted",
                   "an attacker who can redirect the connection reads and answers everything",
                   "set upstream.tls-ca to the authority of the server's certificate",
                   "upstream: {tls-verify: true, tls-ca: /etc/heatsink/ca.crt}", "verify"});
  }
  if (const auto& certificate = facts.server.certificate) {
    out.push_back(validity_finding("the server's certificate", *certificate, facts.machine.now,
                                   "renew it on the server, before the proxy refuses it"));
  }
}

void check_protocol(const Facts& facts, Findings& out) {
  const ServerFacts& server = facts.server;
  if (server.contact != Contact::kNotRedis) {
    if (server.is_answering()) out.push_back({Level::kOk, "it speaks the Redis protocol"});
    return;
  }
  const std::string shown = "\"" + printable(server.first_bytes, kFirstBytesShownMax) + "\"";
  const Greeting* const greeting = find_greeting(server.first_bytes);
  if (greeting != nullptr) {
    out.push_back({Level::kError,
                   fmt::format("{} is {}, no Redis: it says {}", printable(server.where),
                               greeting->is, shown),
                   kNothingWorks, std::string(greeting->mend)});
    return;
  }
  out.push_back({Level::kError,
                 fmt::format("{} does not speak the Redis protocol: {}; it says {}",
                             printable(server.where), server.problem, shown),
                 kNothingWorks, "give the address of the Redis or Valkey server"});
}

// The server's refusals of a login, with what to do.
struct Refusal {
  std::string_view begins_with;
  std::string_view what;
  std::string_view mend;
  std::string_view paste = "";
};
constexpr std::array<Refusal, 7> kRefusals = {{
    {"NOAUTH", "the server wants a password, and there is none",
     "write it into a file that only the proxy's user can read",
     "heatsink proxy --set upstream.password-file=/etc/heatsink/password"},
    {"WRONGPASS", "the user or the password is wrong",
     "compare upstream.url and upstream.password-file with the server's ACL", "redis-cli ACL LIST"},
    {"DENIED", "the server is in protected mode: it has no password and refuses other machines",
     "give its default user a password, or bind it to loopback", "CONFIG SET requirepass PASSWORD"},
    {"ERR max number of clients", "the server has no room for another client (maxclients)",
     "raise the server's limit, or look for clients that leak connections",
     "CONFIG SET maxclients 20000"},
    {"ERR AUTH", "the server has no password, but one is given",
     "remove the password from upstream.url, "
     "upstream.password-file and HEATSINK_UPSTREAM_PASSWORD"},
    {"ERR Client sent AUTH", "the server has no password, but one is given",
     "remove the password from upstream.url, "
     "upstream.password-file and HEATSINK_UPSTREAM_PASSWORD"},
    {"NOPERM", "the server's user may not log in here",
     "allow it +hello and +auth, or use another user"},
}};

void check_login(const Facts& facts, Findings& out) {
  const ServerFacts& server = facts.server;
  const std::string user =
      facts.upstream.user.empty() ? std::string("default") : printable(facts.upstream.user);
  if (server.login_error.empty()) {
    const bool has_password = !facts.upstream.password.empty();
    out.push_back({Level::kOk, fmt::format("logged in as the server's user '{}'{}", user,
                                           has_password ? "" : ", without a password")});
    return;
  }
  const std::string said = ": it says \"" + printable(server.login_error) + "\"";
  for (const Refusal& refusal : kRefusals) {
    if (!server.login_error.starts_with(refusal.begins_with)) continue;
    out.push_back(
        {Level::kError, std::string(refusal.what) + said,
         "the proxy gets no data: there are no copies, and clients that use its user get errors",
         std::string(refusal.mend), std::string(refusal.paste)});
    return;
  }
  out.push_back({Level::kError, "the server refuses the login of '" + user + "'" + said,
                 "the proxy gets no data", "compare upstream.url with the server's ACL",
                 "redis-cli ACL LIST"});
}

}  // namespace

std::span<const Check> contact_checks() {
  static constexpr std::array<Check, 5> kRows = {{
      {"server-reachable",
       "Whether the server's name has an address, and the server answers there.", Needs::kNothing,
       When::kConnect, check_reachable, true},
      {"upstream-master",
       "With redis+sentinel:// or redis+replicas://: whether a majority of the Sentinels, "
       "or all servers, can be asked which server is the master.",
       Needs::kNothing, When::kConnect, check_master},
      {"server-tls",
       "With rediss://: the handshake, whether the server's certificate is verified, "
       "and until when it is valid.",
       Needs::kNothing, When::kConnect, check_tls},
      {"server-protocol",
       "Whether it is a Redis server at all. A web server, a port with TLS and others are named.",
       Needs::kNothing, When::kConnect, check_protocol},
      {"server-login", "Whether the server accepts the proxy's user and password.", Needs::kAnswer,
       When::kConnect, check_login, true},
  }};
  return kRows;
}

}  // namespace heatsink::doctor
