// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <random>
#include <utility>

#include "apps/heatsink/top/answers.h"
#include "apps/heatsink/top/first_answer.h"
#include "apps/heatsink/top/observed_json.h"
#include "apps/heatsink/top/observed_view.h"
#include "apps/heatsink/top/past.h"
#include "apps/heatsink/top/resume.h"

namespace heatsink::app {
namespace {

constexpr Nanos kLookAgain = Millis(50);

class ObservedAnswers final : public TopAnswers {
 public:
  ObservedAnswers(boost::asio::io_context& io, observe::ServerAddress server,
                  observe::FleetOptions options, observe::ResolveNode reach, Nanos first_within,
                  bool wants_json)
      : timer_(io),
        observer_(std::move(server), std::move(options), std::move(reach)),
        first_(BootClock::now(), first_within),
        wants_json_(wants_json) {}

  void ask(Done done) override {
    observe::Picture picture = observer_.observe();
    const bool waits = this->waits(picture, BootClock::now());
    timer_.expires_after(waits ? kLookAgain : Nanos(0));
    timer_.async_wait(
        [this, waits, picture = std::move(picture), done = std::move(done)](auto error) mutable {
          if (error) return;
          if (waits) return ask(std::move(done));
          answer(std::move(picture), done);
        });
  }

  void ask_past(WallTime from, WallTime to, PastDone done) override {
    const TimePoint boot = BootClock::now();
    const WallTime wall = std::chrono::system_clock::now();
    const auto then = [&](WallTime time) {
      return boot - std::chrono::duration_cast<Nanos>(wall - time);
    };
    heat::HeatMap map =
        history_.read({.from = then(from), .to = then(to), .rows_max = heat::History::kRowsMax});
    const auto since_1970 = std::chrono::duration_cast<Nanos>(wall.time_since_epoch());
    for (heat::HeatMap::Step& step : map.steps)
      step.begin = TimePoint(since_1970 - (boot - step.begin));
    boost::asio::post(
        timer_.get_executor(),
        [map = std::move(map), done = std::move(done)]() mutable { done(std::move(map)); });
  }

  void look_closer(std::optional<CloserLook> look) override {
    closer_.reset();
    if (look) closer_ = observe::CloserKey{.name = std::move(look->raw_name)};
    if (look && look->db) closer_->db = static_cast<std::uint32_t>(*look->db);
    observer_.look_closer(closer_);
  }

  bool finished() const override { return finished_; }
  std::string failure() const override { return failure_; }

 private:
  // Only for the first answer: later the user sees values arrive.
  bool waits(const observe::Picture& picture, TimePoint now) {
    if (first_.waits(picture.sources, now, !closer_)) return true;
    return !answered_ && closer_ && first_.waits_for(rows_of(picture), *closer_, now);
  }

  // The rows come from the first source that has any.
  static const observe::Observation& rows_of(const observe::Picture& picture) {
    const auto found = std::ranges::find_if(picture.sources, &observe::Observation::has_shown);
    return found == picture.sources.end() ? picture.sources.front() : *found;
  }

  void answer(observe::Picture picture, const Done& done) {
    answered_ = true;
    std::vector<observe::Observation>& ordered = picture.sources;
    finished_ = std::ranges::none_of(ordered, [](const observe::Observation& each) {
      return each.state == observe::SourceState::kStarting ||
             each.state == observe::SourceState::kRunning;
    });
    const bool failed = std::ranges::all_of(ordered, [](const observe::Observation& each) {
      return each.state == observe::SourceState::kFailed;
    });
    if (failed) failure_ = ordered.front().note;
    // Not std::ranges: clang 14 does not compile that.
    std::stable_partition(ordered.begin(), ordered.end(),
                          [](const auto& each) { return each.has_shown(); });
    const auto missing = first_.missing(ordered.front(), BootClock::now());
    if (missing) return done(Error{ErrorCode::kUnavailable, *missing});
    const Nanos age = BootClock::now() - ordered.front().report.at;
    std::string json;
    if (wants_json_) {
      json = observed_json(picture, std::chrono::time_point_cast<WallTime::duration>(
                                        std::chrono::system_clock::now() - age));
    }
    TopAnswer answer{observed_view(picture), std::move(json)};
    if (!answer.view.only_begins()) history_.add(moment_of(answer.view, BootClock::now()));
    done(std::move(answer));
  }

  boost::asio::steady_timer timer_;
  observe::Observer observer_;
  FirstAnswer first_;
  const bool wants_json_;
  std::optional<observe::CloserKey> closer_;
  heat::History history_;  // of the answers
  bool answered_ = false;
  bool finished_ = false;
  std::string failure_;
};

Result<net::TlsContext> tls_of(const ObservedServer& server, const std::string& host) {
  if (!server.url->tls) return net::TlsContext();
  return net::TlsContext::client(
      {.ca_file = server.tls_ca_file, .cert_file = "", .key_file = "", .server_name = host});
}

Result<observe::ServerAddress> reach(const ObservedServer& server, net::RedisUrl url) {
  auto addresses = net::resolve_server(url);
  if (!addresses) return addresses.error();
  auto tls = tls_of(server, url.address.host);
  if (!tls) return tls.error();
  return observe::ServerAddress{std::move(url), std::move(addresses).value(),
                                std::move(tls).value()};
}

// A cluster's node is reached like the named server: same TLS, same credentials.
observe::ResolveNode reach_node(const ObservedServer& server) {
  return [server](const net::HostPort& address) {
    net::RedisUrl url = *server.url;
    url.address = address;
    url.unix_path.clear();
    return reach(server, std::move(url));
  };
}

// The resume file of `node`: a file per node; a single server uses the given name.
std::string resume_path(const ObservedServer& server, const std::string& node) {
  return node == server.where() ? server.resume_file : server.resume_file + "." + node;
}

observe::SourceOptions source_options(const ObservedServer& server, const std::string& node) {
  observe::SourceOptions options;
  if (server.url) {
    options.login.credentials = {server.url->user, server.url->password};
    options.db = server.url->db;
  }
  options.server = node;
  options.latency_max = server.latency_max;
  options.seed = std::random_device()();
  if (server.first_key) options.first_key = server.first_key->name;
  if (server.first_key) options.first_db = server.first_key->db;
  if (server.resume_file.empty()) return options;
  const std::string path = resume_path(server, node);
  if (auto kept = read_resume_file(path)) options.resume_from = std::move(kept).value();
  options.keep = [path](const std::string& text) { write_resume_file(path, text); };
  return options;
}

// Checks names and files before connecting.
Status check(const ObservedServer& server) {
  for (const std::string& name : server.sources) {
    if (Status known = observe::check_source_name(name); !known) return known;
  }
  if (server.resume_file.empty()) return Unit{};
  const auto kept = read_resume_file(server.resume_file);
  if (!kept) return kept.error();
  return Unit{};
}

// Returns the opened capture once, to the first source that asks for it.
std::function<std::unique_ptr<observe::Source>()> hand_out(
    std::shared_ptr<std::unique_ptr<observe::Source>> opened, bool is_named) {
  return [opened = std::move(opened), is_named] {
    std::unique_ptr<observe::Source> out = std::move(*opened);
    return is_named ? std::move(out) : nullptr;
  };
}

// Opens a capture at once, before there are other threads.
observe::SourcePlan plan_of(const ObservedServer& server, const std::string& name,
                            const observe::ServerAddress* named) {
  auto opened = std::make_shared<std::unique_ptr<observe::Source>>();
  if (name == "capture" || name == "auto") {
    observe::CaptureTarget target = observe::capture_target(named, server.interface, server.ports);
    target.all_replies = server.all_replies;
    *opened = observe::open_capture(target, server.where(), name == "auto");
  }
  return {name, observe::is_for_each_node(name), [server, name, opened](const std::string& node) {
            observe::SourceOptions options = source_options(server, node);
            if (*opened) options.capture = hand_out(opened, node == server.where());
            return observe::make_source(name, options).value();
          }};
}

observe::FleetOptions fleet_options(const ObservedServer& server,
                                    const observe::ServerAddress* named) {
  observe::FleetOptions out;
  out.seed_name = server.where();
  out.choice = server.nodes;
  out.has_server = server.url.has_value();
  if (server.url) {
    out.login.credentials = {server.url->user, server.url->password};
    out.seed = server.url->address;
    out.tls = server.url->tls;
  }
  for (const std::string& name : server.sources) out.plans.push_back(plan_of(server, name, named));
  return out;
}

}  // namespace

std::string ObservedServer::where() const {
  return url ? url->where() : observe::capture_target(nullptr, interface, ports).where();
}

Result<std::unique_ptr<TopAnswers>> observed_answers(boost::asio::io_context& io,
                                                     const ObservedServer& server,
                                                     Nanos first_within) {
  if (const Status sound = check(server); !sound) return sound.error();
  if (!server.url) {
    return std::unique_ptr<TopAnswers>(std::make_unique<ObservedAnswers>(
        io, observe::ServerAddress(), fleet_options(server, nullptr), observe::ResolveNode(),
        first_within, server.wants_json));
  }
  auto seed = reach(server, *server.url);
  if (!seed) return seed.error();
  observe::FleetOptions options = fleet_options(server, &*seed);
  return std::unique_ptr<TopAnswers>(
      std::make_unique<ObservedAnswers>(io, std::move(seed).value(), std::move(options),
                                        reach_node(server), first_within, server.wants_json));
}

}  // namespace heatsink::app
