// SPDX-License-Identifier: Apache-2.0
// proxy: accepts clients, forwards to a server or a cluster, and serves hot keys from copies.
// Start here: one Proxy owns all threads of `heatsink proxy` except those of the admin API.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/metric.h"
#include "heatsink/base/result.h"
#include "heatsink/copies/copy_keeper.h"
#include "heatsink/detect/detect.h"
#include "heatsink/handover/handover.h"
#include "heatsink/heat/heat.h"
#include "heatsink/policy/key_display.h"
#include "heatsink/policy/limit_policy.h"
#include "heatsink/policy/options.h"
#include "heatsink/policy/rules.h"
#include "heatsink/policy/tls.h"
#include "heatsink/policy/warm_window.h"
#include "heatsink/proxy/proxy_metrics.h"  // IWYU pragma: export
#include "heatsink/relief/drain.h"         // IWYU pragma: export
#include "heatsink/report/report.h"

namespace heatsink::proxy {

// Thread-safe, except for construction and destruction.
class Proxy {
 public:
  // Binds the address, starts the threads and returns. Clients are accepted from now on, even while
  // the server cannot be reached. After an error nothing is left running. `seed` protects the
  // hashes against chosen keys: draw it at random.
  // With `listeners` of a predecessor it binds nothing, and accepts clients after set_accepting().
  // `recording` gets the counts of each second and the events until the object is destroyed.
  static Result<std::unique_ptr<Proxy>> start(const policy::ProxyOptions& options,
                                              std::uint64_t seed,
                                              std::vector<net::Fd> listeners = {},
                                              copies::Recording recording = {});
  ~Proxy();  // closes all connections and joins the threads

  std::uint16_t port() const;                 // 0: a Unix socket
  report::Report report() const;              // takes up to a second if the keeper is busy
  std::vector<report::Event> events() const;  // the latest changes of verdicts, oldest first
  const heat::History& heat() const;          // what was hot when
  MetricSamples metrics() const;
  // Keys that an operator has made hot. Each call takes up to three seconds.
  report::WarmReport warm(report::WarmOrder order);
  report::WarmReport warmed(std::uint64_t search = 0) const;
  // Drops the copies of a key; they may come back, as the report says. `who`: for the event. Takes
  // up to a second.
  report::DropReport drop_copies(report::WarmKey key, std::string who);
  // An event for people: an operator has ordered something. Logs it, too.
  void add_order_event(std::string reason, report::WarmKey key);
  // Everything known about a key. Asks the server about its value, and takes up to two seconds.
  report::KeyInspection inspect(const std::string& name, std::uint32_t db) const;
  // That hot keys may be read from; empty without a rule that does.
  std::vector<report::ReplicaReport> replicas() const;
  // What holds now, with the workers that run.
  policy::ProxyOptions options() const;
  const policy::KeyDisplay& shown() const;
  // The server now, with the login. Error: none may be used, and why.
  Result<net::RedisUrl> upstream() const;
  // The same options except for those that need a restart (policy::without_restarts()), which must
  // be the running ones. Returns when each later request is served by the new ones; the number
  // counts the configurations, the one at the start is 1. An error changes nothing, unless it is
  // kTimedOut: then a thread was busy for kAdoptWithin, and will follow later. One call at a time.
  static constexpr Nanos kAdoptWithin = std::chrono::seconds(10);
  Result<std::uint64_t> apply(const policy::ProxyOptions& options);
  // An event for people: the configuration was changed, or a change was refused. Logs it, too.
  void add_config_event(report::Event::Config config, std::string reason);
  // Reloads certificates, keys and authorities for new connections. An error leaves everything as
  // it was.
  Status reload_tls();
  // How often the server has been reached, or lost. One atomic load.
  std::uint64_t contact_changes() const;
  // Ok while the keeper and all workers come round their loops; else an error that names the thread
  // that is stuck. Reads one number of each thread, and waits for none.
  Status alive(TimePoint now) const;
  Status ready() const;  // ok if the server can be reached; else an error with the reason

  // Stops accepting, and closes the clients within `limit` and Drain::kLast (drain.h). ready()
  // reports it from now on. `limit` > 0. One call.
  void begin_drain(Nanos limit);
  struct Draining {
    bool over = false;                         // no client is left
    std::array<std::uint64_t, kStays> left{};  // clients, by why they are still here
    std::uint64_t closed = 0, cut = 0;
  };
  Draining draining() const;

  // To and from another process (docs/design/handover.md).
  const std::vector<int>& listeners() const;  // descriptors, valid until begin_drain()
  net::SocketFile& socket_file();             // for the thread that destroys this object
  void set_accepting(bool wanted);            // returns when all workers do so
  std::uint64_t next_client_id() const;
  void begin_client_ids_at(std::uint64_t id);
  std::vector<copies::LastingKey> hot_names(std::size_t count_max);
  void warm_all(std::vector<copies::LastingKey> keys, Nanos at_least);
  copies::Learned learned();
  void begin_with(const copies::Learned& learned);
  // As the calls of Worker with these names, for all workers.
  void hand_over(const handover::Channel& to, std::uint32_t version);
  void taken(std::uint64_t token);
  void refused(std::uint64_t token);
  void end_hand_over(bool takes_back);
  std::uint64_t to_hand_over() const;
  // The client of such a message. Error: it is no client of a predecessor; `answer` is not called.
  Status adopt(const handover::Client& message, std::vector<net::Fd> descriptors,
               std::function<void(bool)> answer);

 private:
  struct Threads;
  static Result<std::unique_ptr<Proxy>> start_or_throw(const policy::ProxyOptions& given,
                                                       std::uint64_t seed,
                                                       std::vector<net::Fd> inherited,
                                                       copies::Recording recording);
  explicit Proxy(std::unique_ptr<Threads> threads);
  std::unique_ptr<Threads> threads_;
};

}  // namespace heatsink::proxy
