// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <random>
#include <utility>

#include "apps/heatsink/top_answers.h"
#include "apps/heatsink/top_observed_json.h"
#include "apps/heatsink/top_resume.h"

namespace heatsink::app {
namespace {

constexpr Nanos kLookAgain = Millis(50);
constexpr Nanos kAwayFor = std::chrono::seconds(2);  // a server may be just restarting

class ObservedAnswers final : public TopAnswers {
 public:
  ObservedAnswers(boost::asio::io_context& io, observe::Server server, const observe::Login& login,
                  std::vector<std::unique_ptr<observe::Source>> sources, Nanos first_within)
      : timer_(io),
        observer_(std::move(server), login, std::move(sources)),
        started_at_(BootClock::now()),
        first_by_(started_at_ + first_within) {}

  void ask(Done done) override {
    const auto seen = observer_.observe();
    const bool starting = std::ranges::all_of(seen, [](const observe::Observation& each) {
      return each.state == observe::SourceState::kStarting;
    });
    const TimePoint now = BootClock::now();
    const bool away = std::ranges::all_of(seen, [](const observe::Observation& each) {
      return !each.report.upstream_up && !each.note.empty();
    });
    const bool waits = starting && now < first_by_ && !(away && now - started_at_ > kAwayFor);
    timer_.expires_after(waits ? kLookAgain : Nanos(0));
    timer_.async_wait([this, waits, seen, done = std::move(done)](auto error) mutable {
      if (error) return;
      if (waits) return ask(std::move(done));
      answer(seen, done);
    });
  }

  bool finished() const override { return finished_; }

 private:
  void answer(const std::vector<observe::Observation>& seen, const Done& done) {
    finished_ = std::ranges::none_of(seen, [](const observe::Observation& each) {
      return each.state == observe::SourceState::kStarting ||
             each.state == observe::SourceState::kRunning;
    });
    // The rows are those of the first source that has any.
    std::vector<observe::Observation> ordered = seen;
    const auto has_rows = [](const observe::Observation& each) {
      return !each.report.keys.empty() || each.state == observe::SourceState::kRunning ||
             each.state == observe::SourceState::kFinished;
    };
    // Not that of std::ranges, which clang 14 does not compile.
    std::stable_partition(ordered.begin(), ordered.end(), has_rows);
    const observe::Observation& first = ordered.front();
    const bool nothing = first.report.keys.empty() && !first.note.empty() &&
                         first.state != observe::SourceState::kRunning &&
                         first.state != observe::SourceState::kFinished;
    if (nothing) return done(Error{ErrorCode::kUnavailable, first.note});
    done(observed_json(ordered, std::chrono::time_point_cast<admin::WallTime::duration>(
                                    std::chrono::system_clock::now())));
  }

  boost::asio::steady_timer timer_;
  observe::Observer observer_;
  TimePoint started_at_;
  TimePoint first_by_;
  bool finished_ = false;
};

Result<net::TlsContext> tls_of(const ObservedServer& server) {
  if (!server.url.tls) return net::TlsContext();
  return net::TlsContext::client({.ca_file = server.tls_ca_file,
                                  .cert_file = "",
                                  .key_file = "",
                                  .server_name = server.url.address.host});
}

}  // namespace

Result<std::unique_ptr<TopAnswers>> observed_answers(boost::asio::io_context& io,
                                                     const ObservedServer& server,
                                                     Nanos first_within) {
  auto addresses = net::resolve_server(server.url);
  if (!addresses) return addresses.error();
  auto tls = tls_of(server);
  if (!tls) return tls.error();
  observe::SourceOptions options;
  options.login.credentials = {server.url.user, server.url.password};
  options.server = server.url.where();
  options.db = server.url.db;
  options.latency_max = server.latency_max;
  options.seed = std::random_device()();
  if (!server.resume_file.empty()) {
    auto kept = read_resume_file(server.resume_file);
    if (!kept) return kept.error();
    options.resume_from = std::move(kept).value();
    options.keep = [path = server.resume_file](const std::string& text) {
      write_resume_file(path, text);
    };
  }
  std::vector<std::unique_ptr<observe::Source>> sources;
  for (const std::string& name : server.sources) {
    auto source = observe::make_source(name, options);
    if (!source) return source.error();
    sources.push_back(std::move(source).value());
  }
  return std::unique_ptr<TopAnswers>(std::make_unique<ObservedAnswers>(
      io, observe::Server{server.url, std::move(addresses).value(), std::move(tls).value()},
      options.login, std::move(sources), first_within));
}

}  // namespace heatsink::app
