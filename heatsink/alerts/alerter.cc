// SPDX-License-Identifier: Apache-2.0
#include "heatsink/alerts/alerter.h"

#include <pthread.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "heatsink/base/blocked_signals.h"
#include "heatsink/base/hash.h"
#include "heatsink/base/log.h"

namespace heatsink::alerts {
namespace {

constexpr Nanos kTurn = std::chrono::seconds(1);

constexpr MetricRow kRaised{"heatsink_alerts_raised_total", MetricKind::kCounter,
                            "Alerts that were raised (alerts.*). kind is as in alerts.on.", "kind"};
constexpr MetricRow kFiring{"heatsink_alerts_firing", MetricKind::kGauge,
                            "Alerts that were raised and are not over."};
constexpr MetricRow kHeldBack{"heatsink_alerts_held_back_total", MetricKind::kCounter,
                              "Alerts that ended before alerts.per-minute let them be raised, "
                              "or for which there was no room."};
constexpr MetricRow kDelivered{"heatsink_alerts_delivered_total", MetricKind::kCounter,
                               "Alerts, repeats and ends that a target took.", "to"};
constexpr MetricRow kFailed{"heatsink_alerts_failed_attempts_total", MetricKind::kCounter,
                            "Attempts to deliver to a target that failed.", "to"};
constexpr MetricRow kDropped{
    "heatsink_alerts_dropped_total", MetricKind::kCounter,
    "Alerts, repeats and ends that a target never got. "
    "reason is full (too many waited), late (alerts.retry-for) or refused (by the target).",
    "to, reason"};
constexpr MetricRow kWaiting{"heatsink_alerts_waiting", MetricKind::kGauge,
                             "Alerts, repeats and ends that wait to be delivered to a target.",
                             "to"};

LogLevel level_of(const Notice& notice) {
  if (notice.is_over) return LogLevel::kInfo;
  return severity_of(notice.alert.kind) == Severity::kCritical ? LogLevel::kError
                                                               : LogLevel::kWarning;
}

BothClocks both_clocks() { return {BootClock::now(), std::chrono::system_clock::now()}; }

double number_of(std::uint64_t count) { return static_cast<double>(count); }

}  // namespace

Alerter::Alerter(const policy::AlertOptions& options, Sources sources)
    : sources_(std::move(sources)),
      logs_(options.log),
      keeps_alive_(options.has_webhook() &&
                   options.webhook_format == policy::WebhookFormat::kAlertmanager),
      conditions_(options),
      book_(options) {
  if (!sources_.state_file.empty()) state_.emplace(sources_.state_file);
}

Result<std::unique_ptr<Alerter>> Alerter::start(const policy::AlertOptions& options,
                                                Sources sources) {
  std::unique_ptr<Alerter> out(new Alerter(options, std::move(sources)));
  Alerter* const self = out.get();
  Result<std::vector<Target>> targets = targets_of(options, [self] { return self->head(); });
  if (!targets.ok()) return targets.error();
  try {
    for (Target& target : *targets)
      out->couriers_.push_back(std::make_unique<Courier>(std::move(target), options.retry_for));
    const BlockedSignals blocked;
    out->thread_ = std::thread([self] {
      pthread_setname_np(pthread_self(), "heatsink-alerts");
      self->run();
    });
  } catch (const std::system_error& error) {
    return Error{ErrorCode::kUnavailable,
                 std::string("cannot start a thread for alerts: ") + error.what()};
  }
  return out;
}

Alerter::~Alerter() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
  keep();
}

void Alerter::apply(const policy::AlertOptions& options) {
  const std::lock_guard lock(mutex_);
  conditions_.set(options);
  book_.set(options);
}

// Not of a report made now: a courier must not wait for the keeper, and Alertmanager takes an alert
// of another upstream for another alert.
Letterhead Alerter::head() const {
  const std::lock_guard lock(mutex_);
  return {sources_.instance, upstream_, BootClock::now(), std::chrono::system_clock::now()};
}

void Alerter::run() {
  do look();
  while (wait());
}

bool Alerter::wait() {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, kTurn, [this] { return stop_.load(); });
  return !stop_;
}

// Without the file alerts are sent as ever, and may be repeated after a restart.
bool Alerter::may_alert(TimePoint now) {
  if (!state_ || state_->is_taken()) return true;
  const Result<std::vector<ToldAlert>> told = state_->take(both_clocks());
  if (told.ok()) {
    const std::lock_guard lock(mutex_);
    book_.restore(*told, now);
    return true;
  }
  if (!waits_since_) waits_since_ = now;
  if (told.error().code == ErrorCode::kUnavailable && now - *waits_since_ < kPredecessor)
    return false;
  log(LogLevel::kWarning, told.error().message + "; until a restart, alerts are sent without it");
  state_.reset();
  return true;
}

void Alerter::look() {
  if (!may_alert(BootClock::now())) return;
  const report::Report report = sources_.report();
  // Its zeros are no facts: by them the server would be down, and all else over.
  if (!report.is_answered) return;
  const TimePoint now = BootClock::now();
  std::vector<Notice> notices;
  {
    const std::lock_guard lock(mutex_);
    upstream_ = report.upstream;
    notices = book_.turn(conditions_.observe(report, now), now);
  }
  if (keeps_alive_) repeat(now);
  tell(notices);
  keep();
}

// Before what is new, and in half of the room at most: a courier that has no more room drops the
// oldest, and an end is told only once.
void Alerter::repeat(TimePoint now) {
  for (const std::unique_ptr<Courier>& courier : couriers_) {
    if (courier->label() != "webhook") continue;
    constexpr std::size_t kHalf = Delivery::kWaitingMax / 2;
    const std::size_t room = kHalf - std::min(kHalf, courier->counts().waiting);
    std::vector<Notice> again;
    {
      const std::lock_guard lock(mutex_);
      again = round_.next(book_, room, now);
    }
    if (!again.empty()) courier->post(std::move(again));
  }
}

// A first notice that waits was not told: the next process raises it again. An end that waits is
// told again.
void Alerter::keep() {
  if (!state_ || !state_->is_taken()) return;
  std::vector<Notice> waiting;
  for (const std::unique_ptr<Courier>& courier : couriers_)
    for (Notice& notice : courier->undelivered())
      if (!notice.is_repeat) waiting.push_back(std::move(notice));
  std::vector<ToldAlert> told;
  {
    const std::lock_guard lock(mutex_);
    told = book_.told();
  }
  std::uint64_t signature = 1;
  const auto sign = [&signature](const ToldAlert& each) {
    signature = hash_name(each.alert.identity(), signature + (each.is_over ? 1 : 0)).value +
                static_cast<std::uint64_t>(each.told_at.time_since_epoch().count());
  };
  for (const Notice& notice : waiting) {
    const std::string identity = notice.alert.identity();
    std::erase_if(told, [&](const ToldAlert& each) { return each.alert.identity() == identity; });
    if (notice.is_over) told.push_back({notice.alert, notice.alert.since, true});
  }
  for (const ToldAlert& each : told) sign(each);
  if (signature == kept_) return;
  const Status saved = state_->save(told, both_clocks());
  if (saved.ok())
    kept_ = signature;
  else
    log_limited(LogLevel::kWarning, "alert state", saved.error().message, BootClock::now());
}

void Alerter::tell(const std::vector<Notice>& notices) {
  if (notices.empty()) return;
  for (const std::unique_ptr<Courier>& courier : couriers_) courier->post(notices);
  if (!logs_) return;
  for (const Notice& notice : notices) log(level_of(notice), log_line(notice));
}

MetricRows Alerter::metric_rows() {
  return {&kRaised, &kFiring, &kHeldBack, &kDelivered, &kFailed, &kDropped, &kWaiting};
}

MetricSamples Alerter::samples() const {
  MetricSamples out;
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
      const auto which = static_cast<Kind>(kind);
      if (which == Kind::kTest) continue;
      out.push_back(
          {&kRaised, number_of(book_.told(which)), {{"kind", std::string(to_string(which))}}});
    }
    out.push_back({&kFiring, number_of(book_.firing().size())});
    out.push_back({&kHeldBack, number_of(book_.held_back())});
  }
  for (const std::unique_ptr<Courier>& courier : couriers_) {
    const Courier::Counts counts = courier->counts();
    const std::string& to = courier->label();
    out.push_back({&kDelivered, number_of(counts.delivered), {{"to", to}}});
    out.push_back({&kFailed, number_of(counts.failed), {{"to", to}}});
    out.push_back({&kDropped, number_of(counts.dropped_full), {{"to", to}, {"reason", "full"}}});
    out.push_back({&kDropped, number_of(counts.dropped_late), {{"to", to}, {"reason", "late"}}});
    out.push_back(
        {&kDropped, number_of(counts.dropped_refused), {{"to", to}, {"reason", "refused"}}});
    out.push_back({&kWaiting, number_of(counts.waiting), {{"to", to}}});
  }
  return out;
}

Notice test_notice(TimePoint now) {
  return {{.kind = Kind::kTest,
           .summary = "this is a test of heatsink's alerts",
           .advice = "nothing is to be done: 'heatsink alert test' has sent it",
           .since = now},
          false,
          false};
}

}  // namespace heatsink::alerts
