// SPDX-License-Identifier: Apache-2.0
#include "heatsink/doctor/probe.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <future>
#include <memory>
#include <thread>
#include <utility>

#include "heatsink/base/blocked_signals.h"
#include "heatsink/doctor/conversation.h"
#include "heatsink/doctor/fleet_checks.h"
#include "heatsink/doctor/role_checks.h"
#include "heatsink/doctor/setting_checks.h"
#include "heatsink/policy/tls.h"
#include "heatsink/redis/redis.h"

namespace heatsink::doctor {
namespace {

using resp::Value;
using Addresses = std::vector<net::ResolvedAddress>;

constexpr Nanos kResolve = std::chrono::seconds(2);
constexpr Nanos kReply = std::chrono::seconds(2);  // of each command
constexpr Nanos kPingsFor = std::chrono::seconds(1);
constexpr int kPings = 50;
constexpr Nanos kPush = std::chrono::seconds(1);
// A longer CLIENT LIST is not asked for: 20 000 lines are 6 MB.
constexpr double kClientsMax = 20'000;
constexpr std::string_view kName = "heatsink-doctor";
constexpr const char* kScratchMs = "5000";

constexpr std::array<const char*, 11> kSettings = {"maxmemory-policy",
                                                   "tracking-table-max-keys",
                                                   "client-output-buffer-limit",
                                                   "tcp-keepalive",
                                                   "maxclients",
                                                   "maxmemory-clients",
                                                   "stop-writes-on-bgsave-error",
                                                   "min-replicas-to-write",
                                                   "save",
                                                   "databases",
                                                   "appendonly"};

// getaddrinfo() cannot be interrupted, and may wait longer than all of this.
Result<Addresses> resolve_within(const net::RedisUrl& url, Nanos limit,
                                 const std::atomic<bool>* stop) {
  auto answer = std::make_shared<std::promise<Result<Addresses>>>();
  std::future<Result<Addresses>> found = answer->get_future();
  {
    const BlockedSignals blocked;
    std::thread([answer, url] { answer->set_value(net::resolve_server(url)); }).detach();
  }
  for (const TimePoint until = BootClock::now() + limit;
       BootClock::now() < until && (stop == nullptr || !*stop);) {
    if (found.wait_for(Conversation::kSlice) == std::future_status::ready) return found.get();
  }
  return Error{ErrorCode::kTimedOut, "the name server does not answer"};
}

// One look at one server. Fills `facts_` as far as it comes.
class Probe {
 public:
  Probe(const policy::ProxyOptions& options, const net::RedisUrl& url, const ProbeOptions& how)
      : options_(options),
        url_(url),
        how_(how),
        credentials_{url.user, url.password},
        deadline_(BootClock::now() + how.limit),
        talk_(how.stop) {
    facts_.where = url.where();
  }

  ServerFacts run() {
    if (!connect() || !greet()) return std::move(facts_);
    if (facts_.login_error.empty()) ask_all();
    return std::move(facts_);
  }

 private:
  TimePoint within(Nanos time) const { return std::min(deadline_, BootClock::now() + time); }

  bool stop(Contact contact, const Error& why) {
    facts_.contact = contact;
    facts_.problem = why.message;
    return false;
  }

  bool connect();
  bool greet();
  bool log_in_resp2();
  void judge_silence(const Error& why);
  bool ask(const std::string& name, std::initializer_list<std::string_view> words);
  bool ask_settings();
  bool ask_rights();
  bool ask_fleet();
  void ask_all();
  bool measure();
  void test_push();
  bool write_scratch(Conversation& writer);
  Result<Value> said(Conversation& to, std::initializer_list<std::string_view> words);

  const policy::ProxyOptions& options_;
  const net::RedisUrl& url_;
  const ProbeOptions& how_;
  const redis::Credentials credentials_;
  const TimePoint deadline_;
  Addresses addresses_;
  net::TlsContext tls_;
  Conversation talk_;
  ServerFacts facts_;
};

bool Probe::connect() {
  Result<Addresses> found = resolve_within(url_, std::min(kResolve, how_.limit), how_.stop);
  if (!found.ok()) return stop(Contact::kNotResolved, found.error());
  addresses_ = std::move(found).value();
  facts_.is_local = !addresses_.empty() && net::is_of_this_machine(addresses_.front());
  if (url_.tls) {
    Result<policy::TlsContexts> contexts = policy::load_tls(options_, url_);
    if (!contexts.ok()) return stop(Contact::kTlsFailed, contexts.error());
    tls_ = contexts->upstream;
  }
  const Status connected =
      talk_.connect(addresses_, tls_, options_.connect_timeout, within(std::chrono::seconds(4)));
  if (!connected.ok()) {
    return stop(url_.tls && talk_.was_accepted() ? Contact::kTlsFailed : Contact::kNotConnected,
                connected.error());
  }
  facts_.certificate = talk_.peer_certificate();
  return true;
}

void Probe::judge_silence(const Error& why) {
  facts_.first_bytes = talk_.first_bytes();
  Contact contact = Contact::kNotRedis;
  if (facts_.first_bytes.empty())
    contact = why.code == ErrorCode::kTimedOut ? Contact::kSilent : Contact::kClosed;
  stop(contact, why);
}

// PING comes before the login: its reply says whether clients need one. HELLO waits for that reply,
// because Redis from 7.2 on sends no WRONGPASS while another reply is pending (addAuthErrReply).
bool Probe::greet() {
  for (const std::string name : {"PING", "HELLO"}) {
    if (name == "PING")
      talk_.ask({name});
    else
      redis::append_hello(talk_.output(), resp::Protocol::kResp3, credentials_, kName);
    Result<Value> reply = talk_.receive(within(kReply));
    if (!reply.ok()) {
      // A server that is full or in protected mode says so, and closes.
      if (!facts_.error("PING").empty() && reply.error().code == ErrorCode::kUnavailable) {
        facts_.contact = Contact::kAnswered;
        facts_.login_error = std::string(facts_.error("PING"));
        return true;
      }
      judge_silence(reply.error());
      return false;
    }
    Value& kept = facts_.replies[name] = std::move(reply).value();
    if (kept.is_error()) kept.text = redis::without_arguments(kept.text);
  }
  const Value& hello = facts_.replies["HELLO"];
  // A server's replies to PING and HELLO are no others.
  if (!hello.is_error() && hello.type != Value::Type::kMap) {
    judge_silence({ErrorCode::kProtocol, "its reply to HELLO is none of Redis"});
    return false;
  }
  facts_.contact = Contact::kAnswered;
  if (!hello.is_error()) return true;
  facts_.first_bytes = talk_.first_bytes();
  return log_in_resp2();
}

// A server that does not know HELLO may still accept a login.
bool Probe::log_in_resp2() {
  const std::string& error = facts_.replies["HELLO"].text;
  const bool is_final = error.starts_with("WRONGPASS") || error.starts_with("ERR AUTH") ||
                        error.starts_with("DENIED") || error.starts_with("ERR max");
  if (is_final || (!credentials_.given() && error.starts_with("NOAUTH"))) {
    facts_.login_error = error;
    return true;
  }
  if (!credentials_.given()) return true;
  const Result<Value> reply = credentials_.user.empty()
                                  ? said(talk_, {"AUTH", credentials_.password})
                                  : said(talk_, {"AUTH", credentials_.user, credentials_.password});
  if (!reply.ok()) return stop(Contact::kAnswered, reply.error());
  if (reply->is_error()) facts_.login_error = redis::without_arguments(reply->text);
  return true;
}

Result<Value> Probe::said(Conversation& to, std::initializer_list<std::string_view> words) {
  to.ask(words);
  return to.receive(within(kReply));
}

// False: the connection is of no more use.
bool Probe::ask(const std::string& name, std::initializer_list<std::string_view> words) {
  Result<Value> reply = said(talk_, words);
  if (!reply.ok())
    return stop(Contact::kAnswered,
                {reply.error().code, "at " + name + ": " + reply.error().message});
  facts_.replies[name] = std::move(reply).value();
  return true;
}

bool Probe::ask_settings() {
  if (!ask("CONFIG GET timeout", {"CONFIG", "GET", "timeout"})) return false;
  // A refusal is the same for all, and each appears in the server's ACL LOG.
  if (!facts_.error("CONFIG GET timeout").empty()) return true;
  for (const char* const name : kSettings) talk_.ask({"CONFIG", "GET", name});
  for (const char* const name : kSettings) {
    Result<Value> reply = talk_.receive(within(kReply));
    if (!reply.ok()) return stop(Contact::kAnswered, reply.error());
    facts_.replies[std::string("CONFIG GET ") + name] = std::move(reply).value();
  }
  return true;
}

bool Probe::ask_rights() {
  const bool is_cluster = is_cluster_node(facts_);
  if (is_cluster &&
      (!ask("CLUSTER NODES", {"CLUSTER", "NODES"}) || !ask("CLUSTER INFO", {"CLUSTER", "INFO"})))
    return false;
  const auto rights =
      policy::needed_rights(credentials_.acl_user(), options_.heartbeat_key, is_cluster);
  for (const policy::NeededRight& right : rights) {
    const std::vector<std::string_view> words(right.words.begin(), right.words.end());
    talk_.ask(words);
  }
  std::vector<Value> replies;
  for (std::size_t i = 0; i < rights.size(); ++i) {
    Result<Value> reply = talk_.receive(within(kReply));
    if (!reply.ok()) return stop(Contact::kAnswered, reply.error());
    replies.push_back(std::move(reply).value());
  }
  facts_.rights = rights;
  facts_.right_replies = std::move(replies);
  return true;
}

bool Probe::ask_fleet() {
  if (!options_.fleet_enabled) return true;
  const auto ask_words = [this](const std::vector<std::string>& words) {
    const std::vector<std::string_view> views(words.begin(), words.end());
    talk_.ask(views);
    Result<Value> reply = talk_.receive(within(kReply));
    if (!reply.ok()) return stop(Contact::kAnswered, reply.error());
    facts_.replies[fleet_reply(words.front())] = std::move(reply).value();
    return true;
  };
  for (const std::vector<std::string>& words : fleet_commands(options_.fleet_name))
    if (!ask_words(words)) return false;
  // Without MULTI the SADD would be executed.
  if (!ask("MULTI", {"MULTI"})) return false;
  if (facts_.reply("MULTI") == nullptr) return true;
  return ask_words(fleet_sadd(options_.fleet_name)) && ask("DISCARD", {"DISCARD"});
}

// Asks all that changes nothing on the server.
void Probe::ask_all() {
  if (!ask("INFO", {"INFO"}) || !ask("ROLE", {"ROLE"})) return;
  if (is_sentinel(facts_)) {
    ask("SENTINEL MASTERS", {"SENTINEL", "MASTERS"});
    return;
  }
  if (!ask_rights() || !ask_fleet()) return;
  if (facts_.evicts_by_use() && !ask("TOUCH", {"TOUCH", options_.heartbeat_key})) return;
  if (facts_.replies["HELLO"].type == Value::Type::kMap &&
      !ask("CLIENT TRACKING ON", {"CLIENT", "TRACKING", "ON"}))
    return;
  if (how_.is_thorough) {
    if (!ask_settings()) return;
    std::vector<std::string_view> words = {"COMMAND", "INFO"};
    const auto names = named_commands();
    words.insert(words.end(), names.begin(), names.end());
    talk_.ask(words);
    Result<Value> known = talk_.receive(within(kReply));
    if (!known.ok()) return void(stop(Contact::kAnswered, known.error()));
    facts_.replies["COMMAND INFO"] = std::move(known).value();
    if (facts_.info_number("connected_clients").value_or(0) <= kClientsMax &&
        !ask("CLIENT LIST", {"CLIENT", "LIST"}))
      return;
    if (!measure()) return;
  }
  if (!how_.scratch_key.empty()) test_push();
}

Nanos server_time_of(const Value& time) {
  const auto part = [&](std::size_t i) {
    return static_cast<std::int64_t>(
        redis::number_in(i < time.items.size() ? time.items[i].text : "").value_or(0));
  };
  return std::chrono::seconds(part(0)) + std::chrono::microseconds(part(1));
}

bool Probe::measure() {
  std::vector<Nanos> trips;
  const TimePoint until = within(kPingsFor);
  while (trips.size() < kPings && BootClock::now() < until) {
    const TimePoint sent = BootClock::now();
    const Result<Value> pong = said(talk_, {"PING"});
    if (!pong.ok()) return stop(Contact::kAnswered, pong.error());
    trips.push_back(BootClock::now() - sent);
  }
  if (trips.empty()) return true;
  std::ranges::sort(trips);
  const auto count = trips.size();
  facts_.round_trips = {trips[count / 2], trips[(count * 99 - 1) / 100], trips.back(),
                        static_cast<int>(count)};
  const auto before = std::chrono::system_clock::now().time_since_epoch();
  if (!ask("TIME", {"TIME"})) return false;
  const auto after = std::chrono::system_clock::now().time_since_epoch();
  if (const Value* const time = facts_.reply("TIME"))
    facts_.clock_ahead = server_time_of(*time) - (before + (after - before) / 2);
  return true;
}

// Logs in on a second connection, and writes. False: `push_problem` says why not.
bool Probe::write_scratch(Conversation& writer) {
  const auto refused = [this](const std::string& what, const std::string& why) {
    facts_.push_test = PushTest::kRefused;
    facts_.push_problem = what + ": " + why;
    return false;
  };
  const Status connected =
      writer.connect(addresses_, tls_, options_.connect_timeout, within(kReply));
  if (!connected.ok()) return refused("a second connection", connected.error().message);
  redis::append_hello(writer.output(), resp::Protocol::kResp3, credentials_, kName);
  const Result<Value> hello = writer.receive(within(kReply));
  if (!hello.ok()) return refused("a second connection", hello.error().message);
  const Result<Value> set = said(writer, {"SET", how_.scratch_key, "1", "PX", kScratchMs});
  if (!set.ok()) return refused("SET", set.error().message);
  return set->is_error() ? refused("SET", set->text) : true;
}

bool is_about(const Value& push, std::string_view key) {
  if (push.items.size() != 2 || push.items[0].text != "invalidate") return false;
  return std::ranges::any_of(push.items[1].items,
                             [&](const Value& name) { return name.text == key; });
}

void Probe::test_push() {
  if (facts_.reply("CLIENT TRACKING ON") == nullptr) return;
  Conversation writer(how_.stop);
  const Result<Value> read = said(talk_, {"GET", how_.scratch_key});
  if (!read.ok() || read->is_error()) {
    facts_.push_test = PushTest::kRefused;
    facts_.push_problem = "GET: " + (read.ok() ? read->text : read.error().message);
    return;
  }
  const TimePoint sent = BootClock::now();
  if (write_scratch(writer)) {
    Result<Value> push = talk_.receive_push(within(kPush));
    while (push.ok() && !is_about(*push, how_.scratch_key))
      push = talk_.receive_push(within(kPush));
    facts_.push_test = push.ok() ? PushTest::kArrived : PushTest::kMissing;
    facts_.push_delay = BootClock::now() - sent;
    if (!push.ok()) facts_.push_problem = push.error().message;
  }
  // Even after a failure: the write may have happened. If this fails, the key expires.
  (void)said(writer, {"DEL", how_.scratch_key});
}

}  // namespace

ServerFacts without_master(const net::RedisUrl& configured, const std::string& why) {
  ServerFacts facts;
  facts.where = configured.where();
  facts.contact = Contact::kNoMaster;
  facts.problem = why;
  return facts;
}

ServerFacts look_at_server(const policy::ProxyOptions& options, const net::RedisUrl& upstream,
                           const ProbeOptions& how) {
  return Probe(options, upstream, how).run();
}

}  // namespace heatsink::doctor
