// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/watch/poller.h"

#include <fmt/format.h>
#include <pthread.h>

#include <chrono>
#include <optional>
#include <system_error>
#include <utility>

#include "apps/heatsink/http/http.h"
#include "apps/heatsink/watch/numeric_address.h"
#include "heatsink/base/blocked_signals.h"

namespace heatsink::app {

// One instance. A round is: /api/hotkeys if its answer is getting old, then /api/counts. On the
// thread of `io`.
class Poller::Peer {
 public:
  Peer(boost::asio::io_context& io, const WatchedAdmin& at, TimePoint now)
      : io_(io), token_(at.token), names_(at.address) {
    told_.name = at.address.text();
    told_.problem = "no answer yet";
    told_.since = now;
  }

  // No effect while a round is under way. REQUIRES that the peer outlives the run of `io`.
  void ask() {
    if (is_asking_) return;
    const Result<net::HostPort> numeric = names_.at(BootClock::now());
    if (!numeric.ok()) {
      failure_ = numeric.error().message;
      return;
    }
    told_.address = *numeric;
    is_asking_ = true;
    ++round_;
    const bool wants_view = !told_.view || !has_counts_ || round_ % kRoundsPerView == 0;
    wants_view ? ask_view() : ask_counts();
  }

  // What is known at `now`.
  const Instance& told(TimePoint now) {
    if (told_.answers() && now - answered_at_ > kSilentAfter) {
      told_.problem = failure_.empty() ? "it did not answer in time" : failure_;
      told_.since = answered_at_;
      told_.view.reset();  // of an older moment: its sums are over
      told_.counts.reset();
    } else if (!told_.answers() && !failure_.empty()) {
      told_.problem = failure_;
    }
    return told_;
  }
  const Asked& asked() const { return asked_; }

 private:
  void ask_view() {
    http_get(io_, told_.address, "/api/hotkeys", token_, kTimeout, kViewBytesMax,
             [this](const Result<std::string>& body) {
               if (!body.ok()) return fail(body.error().message);
               Result<HotkeysView> view = parse_hotkeys(*body);
               if (!view.ok()) return fail(view.error().message);
               view_ = std::make_shared<const HotkeysView>(std::move(view).value());
               has_counts_ || round_ % kRoundsPerTry == 1 ? ask_counts() : succeed(std::nullopt);
             });
  }

  void ask_counts() {
    http_get(io_, told_.address, "/api/counts", token_, kTimeout, heat::kMomentBytesMax,
             [this](const Result<std::string>& body) {
               if (!body.ok() && body.error().code == ErrorCode::kNotFound) {
                 has_counts_ = false;
                 return succeed(std::nullopt);
               }
               if (!body.ok()) return fail(body.error().message);
               const TimePoint now = BootClock::now();
               Result<heat::Moment> counts = heat::parse_moment(*body, now);
               if (!counts.ok()) return fail(counts.error().message);
               // Its counting is stuck, or it is a watch whose instances are all silent.
               if (const Nanos age = now - counts->at; age > kSilentAfter)
                 return fail(fmt::format("its counts are {:.0f} s old",
                                         std::chrono::duration<double>(age).count()));
               has_counts_ = true;
               succeed(std::move(counts).value());
             });
  }

  void succeed(std::optional<heat::Moment> counts) {
    // The last view has ended while this round was on its way: the next one asks for it.
    if (!view_ && !told_.view) return fail("it did not answer in time");
    const TimePoint now = BootClock::now();
    if (!told_.answers()) told_.since = now;
    told_.problem.clear();
    told_.counts = std::move(counts);
    // A round without /api/hotkeys goes on with the last answer, which ends with the silence.
    if (view_) told_.view = std::exchange(view_, nullptr);
    answered_at_ = now;
    failure_.clear();
    ++asked_.answers;
    is_asking_ = false;
  }

  void fail(std::string problem) {
    failure_ = std::move(problem);
    names_.try_another();
    view_.reset();
    ++asked_.failures;
    is_asking_ = false;
  }

  boost::asio::io_context& io_;
  const std::string token_;
  NumericAddress names_;
  Instance told_;
  std::shared_ptr<const HotkeysView> view_;  // of the round under way
  std::string failure_;                      // of the last round; "": none
  TimePoint answered_at_{};
  int round_ = 0;
  bool has_counts_ = true;
  bool is_asking_ = false;
  Asked asked_;
};

Poller::Poller(std::vector<WatchedAdmin> of, std::uint64_t seed)
    : of_(std::move(of)), seed_(seed), started_(BootClock::now()) {
  for (const WatchedAdmin& each : of_)
    peers_.push_back(std::make_shared<Peer>(io_, each, started_));
  picture_ = std::make_shared<const Picture>(picture_of(told(started_), started_, started_, seed_));
  asked_.resize(peers_.size());
}

Poller::~Poller() {
  io_.stop();
  if (thread_.joinable()) thread_.join();
}

Status Poller::start() {
  try {
    const BlockedSignals blocked;
    thread_ = std::thread([this] {
      pthread_setname_np(pthread_self(), "heatsink-watch");
      run();
    });
  } catch (const std::system_error& error) {
    return Error{ErrorCode::kUnavailable, std::string("cannot start a thread: ") + error.what()};
  }
  return Unit{};
}

void Poller::run() {
  for (const auto& peer : peers_) peer->ask();
  tick();
  io_.run();
}

void Poller::tick() {
  timer_.expires_after(kInterval);
  timer_.async_wait([this](auto error) {
    if (error) return;
    publish(BootClock::now());
    for (const auto& peer : peers_) peer->ask();
    tick();
  });
}

std::vector<Instance> Poller::told(TimePoint now) const {
  std::vector<Instance> instances;
  instances.reserve(peers_.size());
  for (const auto& peer : peers_) instances.push_back(peer->told(now));
  return instances;
}

void Poller::publish(TimePoint now) {
  std::vector<Asked> asked;
  for (const auto& peer : peers_) asked.push_back(peer->asked());
  auto picture = std::make_shared<const Picture>(picture_of(told(now), started_, now, seed_));
  if (picture->silent() < peers_.size()) heat_.add(picture->moment);
  const std::lock_guard lock(mutex_);
  events_.note(*picture);
  picture_ = std::move(picture);
  asked_ = std::move(asked);
}

std::shared_ptr<const Picture> Poller::picture() const {
  const std::lock_guard lock(mutex_);
  return picture_;
}

std::vector<report::Event> Poller::events() const {
  const std::lock_guard lock(mutex_);
  return events_.all();
}

std::vector<Poller::Asked> Poller::asked() const {
  const std::lock_guard lock(mutex_);
  return asked_;
}

}  // namespace heatsink::app
