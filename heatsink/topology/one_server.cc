// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/one_server.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "heatsink/base/log.h"
#include "heatsink/topology/make_leader_watch.h"

namespace heatsink::topology {
namespace {

// A former master that Sentinels have replaced says for 10 to 11 s that it is one. The server to
// which a name led before keeps its connections.
constexpr Nanos kOldMasterLasts = std::chrono::seconds(15);

LeaderWatchOptions watch_options(const KeyServersOptions& options,
                                 const redis::UpstreamAddress& address) {
  LeaderWatchOptions how;
  how.url = options.url;
  how.sentinel_credentials = options.sentinel_credentials;
  how.tls = [&address] { return address.tls(); };
  how.connection = options.connection();
  how.resolved = address.addresses();
  return how;
}

}  // namespace

OneServer::OneServer(net::EventLoop& loop, KeyServersOptions options, ChangeListener& changes,
                     KeyServers::Listener& listener)
    : loop_(loop),
      options_(std::move(options)),
      changes_(changes),
      listener_(listener),
      address_(options_.url, is_watched(options_.url) ? redis::UpstreamAddress::Resolved::kElsewhere
                                                      : redis::UpstreamAddress::Resolved::kHere),
      tracker_(options_.tracker, *this),
      pipeline_(options_.pipeline),
      tracking_(loop, address_, tracker_, options_.connection(), "local copies"),
      data_(loop, address_, pipeline_, options_.connection(), "server"),
      master_(loop, address_, *this) {
  address_.set_tls(options_.tls);
  if (!must_be_found(options_.url)) return;
  address_.withhold("which server is the master is not known yet");
  confirmed_at_ = TimePoint::min();
}

void OneServer::begin() {
  const net::RedisUrl& url = options_.url;
  const bool has_led = is_watched(url) && !must_be_found(url) && look_up();
  master_.begin(
      watch_options(options_, address_),
      [&url] {
        return redis::Credentials{url.user, url.password};
      },
      has_led);
  tracking_.connect();
  data_.connect();
}

// The loop's thread may wait for a name server now: nothing is connected yet, and the first
// commands need the address anyway.
bool OneServer::look_up() {
  auto found = net::resolve_server(options_.url);
  if (!found.ok()) return false;
  address_.set_addresses(std::move(found).value());
  return true;
}

void OneServer::end_tracking(const std::string& reason) {
  has_ended_tracking_ = true;
  master_.end();
  tracking_.close(reason);
}

void OneServer::tick() {
  data_.tick();
  if (has_ended_tracking_) return;
  tracking_.tick();
  if (is_up_) return;
  // The tracker does not report failed connection attempts.
  const std::string withheld = address_.withheld();
  const std::string& lost = withheld.empty() ? tracking_.problem() : withheld;
  if (!lost.empty()) listener_.set_problem(lost);
}

void OneServer::flush() {
  data_.flush();
  if (!has_ended_tracking_) tracking_.flush();
}

void OneServer::close(const std::string& reason) {
  master_.end();
  tracking_.close(reason);
  data_.close(reason);
}

// ---- keys

bool OneServer::has_certain_owner(std::string_view /*key*/) const {
  return moved_at_ == TimePoint::min() || loop_.clock() - moved_at_ >= kOldMasterLasts;
}

// A fill for its tracking only: PTTL tracks the key and returns its remaining life. The read after
// it does not matter, so it is a cheap one.
void OneServer::track(redis::FillId id, std::string_view key) {
  const std::array<std::string_view, 2> exists = {"EXISTS", key};
  tracker_.fill(id, {.key = key, .db = options_.url.db, .request = exists}, loop_.clock());
}

void OneServer::ask(Words words, Done done) {
  const std::vector<std::string_view> args(words->begin(), words->end());
  pipeline_.ask(
      args,
      [this, done = std::move(done)](Result<resp::Value> said) {
        const bool refuses = said.ok() && said->is_error() && said->text.starts_with("READONLY");
        if (refuses && !has_ended_tracking_) master_.doubt();
        done(std::move(said));
      },
      loop_.clock());
}

// ---- proofs

void OneServer::on_facts(const redis::ServerFacts& facts) {
  is_cluster_ = facts.cluster;
  if (is_cluster_) listener_.on_cluster_found();
}

void OneServer::on_up() {
  if (is_cluster_) return;
  is_up_ = true;
  master_.note_proof();
  listener_.set_problem(master_.problem());
  listener_.set_up(true);
}

void OneServer::on_heartbeat(TimePoint sent_at) {
  if (!is_up_) return;
  proven_at_ = std::max(proven_at_, sent_at);
  publish();
}

// All must be recent: the answer of the server, the word of those who vote for the master, and what
// is known of exchanged databases. A heartbeat's answer follows, so that this is published then.
void OneServer::publish() {
  if (!is_up_ || proven_at_ == TimePoint::min()) return;
  const TimePoint recent = std::min({proven_at_, confirmed_at_, exchanges_known_at_});
  changes_.on_proven(0, recent + options_.max_staleness);
}

void OneServer::on_down(const std::string& reason) {
  is_up_ = false;
  proven_at_ = TimePoint::min();
  listener_.set_up(false);
  listener_.set_problem(reason);
  changes_.on_proven(0, TimePoint::min());
  changes_.on_all_changed();
  if (tracker_.found_replica() && !has_ended_tracking_) master_.doubt();
}

// ---- a master that moves

void OneServer::leave_master() {
  proven_at_ = confirmed_at_ = TimePoint::min();
  changes_.on_proven(0, TimePoint::min());
  changes_.on_all_changed();
}

void OneServer::follow_master() {
  tracking_.follow();
  data_.follow();
}

void OneServer::master_told(const FollowedMaster::Change& change) {
  const LeaderVerdict& verdict = change.verdict;
  if (change.is_new_problem && !verdict.problem.empty())
    log(LogLevel::kWarning, "server.url: " + verdict.problem);
  if (is_up_) listener_.set_problem(verdict.problem);
  if (!change.is_move) return;
  log(LogLevel::kInfo, change.had_led && !change.is_other
                           ? "server.url: connecting to " + change.before +
                                 " anew, because its name leads to another server, "
                                 "or its server has become a replica"
                           : "server.url: the master is " + verdict.leader->text());
  if (change.had_led) moved_at_ = loop_.clock();
}

void OneServer::master_confirmed(TimePoint at) {
  confirmed_at_ = at;
  publish();
}

}  // namespace heatsink::topology
