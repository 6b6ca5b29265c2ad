// SPDX-License-Identifier: Apache-2.0
#include "heatsink/fleet/member.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "heatsink/base/hash.h"
#include "heatsink/base/units.h"
#include "heatsink/fleet/bounds.h"
#include "heatsink/fleet/report.h"

namespace heatsink::fleet {
namespace {

// Every so many reports an instance adds itself to the set again, in case that it was lost.
constexpr std::uint64_t kAddEvery = 8;

// A list that has not changed for two steps, and this, says nothing about now.
constexpr Nanos kListLives = std::chrono::seconds(2);
constexpr std::uint64_t kDoublings = 3;
constexpr Nanos kReportLivesMin = Millis(1500);

std::string life_text(Nanos time) {
  return std::to_string(std::chrono::ceil<Millis>(time).count());
}

}  // namespace

std::uint64_t Member::shard_of(std::string_view id, std::uint64_t shards) {
  return hash_name(id, 0).value % std::max<std::uint64_t>(shards, 1);
}

Member::Member(const MemberOptions& options, Port& port)
    : options_(options),
      names_(options.fleet),
      shard_(shard_of(options.id, options.shards)),
      port_(port),
      random_(static_cast<std::uint32_t>(options.random_seed % 2'147'483'646 + 1)),
      changes_(options.matters) {}

Member::~Member() = default;

TimePoint Member::due() const {
  TimePoint due = std::min({report_due_, read_due_, look_due_});
  if (merger_) due = std::min(due, merger_->due());
  if (merger_ && options_.shards > 1) due = std::min(due, copy_due_);
  if (all_merger_) due = std::min(due, all_merger_->due());
  return due;
}

// Without any list, the fleet may be of any size, and the server may be overloaded by its start:
// the step doubles a few times.
Nanos Member::step() const {
  if (list_) return std::max(options_.interval, list_->step);
  return options_.interval * (1 << std::min<std::uint64_t>(counts_.reports / 2, kDoublings));
}

Nanos Member::look() const { return look_of(instances(), options_.interval); }

Nanos Member::refresh() const {
  return std::max(options_.interval, list_ ? list_->refresh : Nanos(0));
}

// A report may come a tenth of a step late, and the server may be slow for a second.
Nanos Member::life() const {
  return std::max(2 * step() + std::chrono::seconds(1), kReportLivesMin);
}

Nanos Member::valid_for() const { return 2 * (step() + refresh()) + kListLives; }

// A tenth at most, so that instances that began together spread over the step.
Nanos Member::jittered(Nanos time) {
  const double factor = std::uniform_real_distribution<double>(0.9, 1.1)(random_);
  return Nanos(static_cast<Nanos::rep>(static_cast<double>(time.count()) * factor));
}

List Member::list(TimePoint now) const {
  if (!list_ || now - list_at_ > valid_for()) return nullptr;
  // A step may be long; a server that refuses or is away is known at the next question.
  const bool is_lost = failing_since_ != TimePoint::max() && now - failing_since_ > kListLives &&
                       now - list_at_ > kListLives;
  return is_lost ? nullptr : list_;
}

void Member::turn(TimePoint now, std::span<const detect::Summary> windows) {
  if (!std::exchange(has_begun_, true)) {
    // Instances of one start do not all begin in the same moment.
    report_due_ =
        now + Nanos(static_cast<Nanos::rep>(std::uniform_real_distribution<double>(0, 1)(random_) *
                                            static_cast<double>(options_.interval.count())));
    all_changed_at_ = now;
    look_due_ = now + options_.interval;
  }
  const bool looks = now >= look_due_;
  if (looks) look_due_ = now + jittered(look());
  if (now >= report_due_) {
    report(now, windows, false);
  } else if (looks && is_urgent(now, windows)) {
    report(now, windows, true);
  } else if (now >= read_due_) {
    read_again(now);
  }
  if (merger_ && merger_->is_over()) merger_.reset();
  if (all_merger_ && all_merger_->is_over()) all_merger_.reset();
  if (merger_) merger_->turn(now);
  if (merger_ && options_.shards > 1 && now >= copy_due_) copy_all_list(now);
  if (all_merger_) all_merger_->turn(now);
}

void Member::ask(std::vector<std::string> words, Port::Done done) {
  ++waiting_;
  port_.ask(std::move(words),
            [this, done = std::move(done)](const Result<resp::Value>& reply, TimePoint now) {
              --waiting_;
              done(reply, now);
              if (waiting_ > 0 || has_failed_) return;
              problem_.clear();
              failing_since_ = TimePoint::max();
            });
}

bool Member::needs_counts(TimePoint now) const {
  return !has_begun_ || now >= report_due_ || (now >= look_due_ && may_be_urgent(now));
}

// Where the step is the shortest one, the next report is soon enough.
bool Member::may_be_urgent(TimePoint now) const {
  if (waiting_ > 0 || !list_ || has_failed_ || step() <= options_.interval) return false;
  return urgent_paid_until_ <= now + (kUrgentAtOnce - 1) * step();
}

bool Member::is_urgent(TimePoint now, std::span<const detect::Summary> windows) {
  if (!may_be_urgent(now) || !changes_.matter(windows)) return false;
  urgent_paid_until_ = std::max(urgent_paid_until_, now) + step();
  ++counts_.urgent;
  return true;
}

void Member::report(TimePoint now, std::span<const detect::Summary> windows, bool is_urgent) {
  const Nanos pause = jittered(step());
  report_due_ = now + pause;
  const bool is_eager = step() <= options_.interval;
  if (is_urgent) {
    read_due_ = now + jittered(look());
    reads_left_ = kReadsAfterUrgent;
  } else if (reads_left_ == 0) {
    read_due_ = is_eager ? now + pause / 2 : TimePoint::max();
  }
  if (waiting_ > 0) {
    ++counts_.late;
    return;
  }
  has_failed_ = false;
  const bool was_away = now - reported_at_ > life() || !is_added_;
  reported_at_ = now;
  ++counts_.reports;
  Message message = make_report(windows, list_.get());
  message.step = step();
  changes_.reported(message);
  write({"SET", names_.report(shard_, options_.id), encode(message), "PX", life_text(life())});
  if (was_away || turns_++ % kAddEvery == 0) {
    is_added_ = true;
    write({"SADD", names_.members(shard_), options_.id});
  }
  if (is_urgent) tell_news();
  read_list();
}

// An empty report that ends at once, because the fleet's user may have no right to DEL.
void Member::farewell() {
  if (!is_added_) return;  // never reported, or the server does not answer
  is_added_ = false;
  port_.ask({"SET", names_.report(shard_, options_.id), "", "PX", "1"},
            [](const Result<resp::Value>&, TimePoint) {});
  port_.ask({"SREM", names_.members(shard_), options_.id},
            [](const Result<resp::Value>&, TimePoint) {});
}

// Unlike all news before, so that the merger sees that there are some.
void Member::tell_news() {
  write({"SET", names_.news(shard_), options_.id + ":" + std::to_string(counts_.reports), "PX",
         life_text(kRefreshMax)});
}

void Member::read_again(TimePoint now) {
  reads_left_ = std::max(0, reads_left_ - 1);
  read_due_ = reads_left_ > 0 ? now + jittered(look()) : TimePoint::max();
  if (waiting_ == 0) read_list();
}

void Member::read_list() {
  ask({"GETRANGE", names_.list(shard_), "0", std::to_string(kListBytesMax - 1)},
      [this](const Result<resp::Value>& reply, TimePoint at) { on_list(reply, at); });
}

void Member::failed(const std::string& what, const Result<resp::Value>& reply, TimePoint now) {
  ++counts_.failures;
  is_added_ = false;
  failing_since_ = std::min(failing_since_, now);
  if (std::exchange(has_failed_, true)) return;
  is_refused_ = reply.ok();
  problem_ = what + ": " + (reply.ok() ? reply->text : reply.error().message);
}

void Member::write(std::vector<std::string> words) {
  ask(std::move(words), [this](const Result<resp::Value>& reply, TimePoint now) {
    if (!reply.ok() || reply->is_error())
      failed("this instance cannot report to its fleet", reply, now);
  });
}

void Member::on_list(const Result<resp::Value>& reply, TimePoint now) {
  if (!reply.ok() || reply->is_error()) {
    failed("this instance cannot read the list of its fleet", reply, now);
    return;
  }
  if (!reply->text.empty()) {
    Result<List> list = Error{ErrorCode::kProtocol, ""};
    if (options_.reader) {
      list = options_.reader(reply->text, now);
    } else if (Result<Message> message =
                   decode(reply->text, list_bounds(options_.shards), options_.seed, now);
               message.ok()) {
      list = List(std::make_shared<const Message>(std::move(*message)));
    } else {
      list = message.error();
    }
    if (list.ok()) {
      take(std::move(*list), now);
    } else {
      ++counts_.merger.broken;
    }
  }
  elect_if_stuck(now);
}

void Member::take(List list, TimePoint now) {
  if (list_ && list->sequence == list_->sequence) return;
  ++counts_.lists;
  list_ = std::move(list);
  list_at_ = now;
  changes_.listed(*list_);
}

// ---- merging

void Member::elect_if_stuck(TimePoint now) {
  const bool is_stuck = !list_ || now - list_at_ > 2 * refresh() + Millis(100);
  if (!is_stuck || merger_ || is_electing_) return;
  elect(names_.merger(shard_), [this] { begin_to_merge(); });
}

void Member::elect(const std::string& lock, std::function<void()> elected) {
  is_electing_ = true;
  ask({"SET", lock, options_.id, "NX", "PX", life_text(Merger::lock_life(options_.interval))},
      [this, elected = std::move(elected)](const Result<resp::Value>& reply, TimePoint) {
        is_electing_ = false;
        if (reply.ok() && reply->is_text() && reply->text == "OK") elected();
      });
}

void Member::begin_to_merge() {
  if (merger_) return;
  MergerOptions merging;
  merging.id = options_.id;
  merging.lock = names_.merger(shard_);
  merging.news = names_.news(shard_);
  merging.members = names_.members(shard_);
  merging.report_of = [this](const std::string& id) { return names_.report(shard_, id); };
  merging.out = options_.shards > 1 ? names_.sum(shard_) : names_.list(shard_);
  merging.interval = options_.interval;
  merging.bounds = report_bounds();
  merging.seed = options_.seed;
  merging.first_sequence = list_ ? list_->sequence + 1 : 1;
  merger_ = std::make_unique<Merger>(std::move(merging), port_, counts_.merger);
}

void Member::begin_to_merge_all() {
  if (all_merger_) return;
  MergerOptions merging;
  merging.id = options_.id;
  merging.lock = names_.all_merger();
  merging.sources.reserve(options_.shards);
  for (std::uint64_t shard = 0; shard < options_.shards; ++shard)
    merging.sources.push_back(names_.sum(shard));
  merging.out = names_.all_list();
  merging.interval = options_.interval;
  merging.bounds = list_bounds(1);
  merging.seed = options_.seed;
  merging.first_sequence = all_sequence_ + 1;
  all_merger_ = std::make_unique<Merger>(std::move(merging), port_, counts_.merger);
}

// The merger of a shard passes the list of all shards on to its own, so that no node is read by
// all instances.
void Member::copy_all_list(TimePoint now) {
  copy_due_ = now + copy_of(options_.shards, options_.interval);
  ask({"GETRANGE", names_.all_list(), "0", std::to_string(kListBytesMax - 1)},
      [this](const Result<resp::Value>& reply, TimePoint at) { on_all_list(reply, at); });
}

void Member::on_all_list(const Result<resp::Value>& reply, TimePoint now) {
  if (!reply.ok() || reply->is_error()) {
    failed("this instance cannot read the list of all shards", reply, now);
    return;
  }
  if (const Result<Message> all =
          decode(reply->text, list_bounds(options_.shards), options_.seed, now);
      all.ok() && all->sequence != all_sequence_) {
    all_sequence_ = all->sequence;
    all_changed_at_ = now;
    ask({"SET", names_.list(shard_), reply->text, "PX",
         life_text(std::max<Nanos>(4 * step(), std::chrono::seconds(3)))},
        [](const Result<resp::Value>&, TimePoint) {});
    return;
  }
  const Nanos pace =
      refresh_of(options_.shards, options_.interval) + copy_of(options_.shards, options_.interval);
  if (now - all_changed_at_ <= 2 * pace + Millis(100) || all_merger_ || is_electing_) return;
  elect(names_.all_merger(), [this] { begin_to_merge_all(); });
}

}  // namespace heatsink::fleet
