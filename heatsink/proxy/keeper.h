// SPDX-License-Identifier: Apache-2.0
// The one thread that decides what is hot and keeps its copies true.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "heatsink/detect/detect.h"
#include "heatsink/net/net.h"
#include "heatsink/proxy/access_probe.h"
#include "heatsink/proxy/auditor.h"
#include "heatsink/proxy/event_log.h"
#include "heatsink/proxy/fill_request.h"
#include "heatsink/proxy/filler.h"
#include "heatsink/proxy/shared_state.h"
#include "heatsink/proxy/toucher.h"
#include "heatsink/redis/redis.h"

namespace heatsink::proxy {

class Worker;

class Keeper final : private Filler::Outlet, private Auditor::Outlet {
 public:
  explicit Keeper(SharedState& shared);
  ~Keeper();
  Keeper(const Keeper&) = delete;

  void serve(std::vector<Worker*> workers) { workers_ = std::move(workers); }  // before run()
  void run();                                                                  // until stop()

  // Any thread:
  void stop();
  void request_fill(FillRequest request);
  void request_barrier(BarrierRequest request);
  // The rules have changed: releases the session's replies (0: nobody waits) when it is known who
  // is let in now.
  void check_access(std::size_t worker, std::uint64_t session);
  void audit(AuditedHit hit);  // what a worker has served locally
  void server_is_back();       // a worker has reached it: the tracker need not wait out its pause
  // A lane that broke then is there again. Behind the address there may be another server by now,
  // and copies must come from the one that is written to.
  void lane_renewed(TimePoint lost_at);
  // One for each of SharedState::rules.measures(), in their order.
  void post_summaries(std::size_t worker, std::vector<detect::Summary> summaries, bool urgent);
  // The present picture; empty with `coherence` saying so if the keeper does not answer within a
  // second.
  detect::Report report();
  std::vector<detect::Event> events() const { return events_.latest(); }
  const Counters& counters() const { return counters_; }
  const DurationHistogram& staleness() const { return auditor_.staleness(); }

 private:
  void deliver(std::size_t worker, std::shared_ptr<const FillAnswer> answer) override;
  void release(const BarrierRequest& waited) override;
  void learn(const redis::ServerFacts& facts) override;
  void rights_changed() override { access_.check({}); }
  void stale_read(const AuditedHit& hit, Nanos for_at_least, TimePoint now) override;

  void watch_suspects();
  void check_access_if_untold();

  void judge();
  void apply(const std::vector<detect::Change>& changes);
  bool promote(const detect::Verdict& verdict);
  detect::Report make_report();
  detect::KeyReport report_on(const detect::Verdict& verdict) const;
  double accesses_rate(const detect::Verdict& verdict) const;
  std::string coherence() const;

  SharedState& shared_;
  Counters counters_;
  net::EventLoop loop_;
  Filler filler_;
  redis::Tracker tracker_;
  Toucher toucher_;
  redis::Link link_;
  AccessProbe access_;
  Auditor auditor_;
  redis::Tracker reader_;  // the auditor's
  redis::Link reader_link_;
  net::TimerId suspects_timer_ = 0;
  std::vector<Worker*> workers_;
  std::vector<std::vector<detect::Summary>> summaries_;  // by measure: the latest of each worker
  std::vector<detect::Summary> merged_;                  // by measure
  detect::Selector selector_;
  EventLog events_;
  const TimePoint started_at_;
};

}  // namespace heatsink::proxy
