// SPDX-License-Identifier: Apache-2.0
// Tells systemd, or another service manager with its protocol, how the process is doing.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"

namespace heatsink::app {

// Variables that a service manager sets for its services; sd_notify(3), sd_watchdog(3).
struct ServiceEnvironment {
  std::string socket =
      {};             // NOTIFY_SOCKET: "/path" or "@abstract"; "": there is no service manager
  Nanos watchdog{0};  // WATCHDOG_USEC; 0: it expects no signs of life
  std::string problem = {};  // why a variable is ignored; "": none is

  // Reads the variables, and removes them, so that no child of this process speaks for it. Not
  // thread-safe: before there are threads.
  static ServiceEnvironment take();
  // "NAME=value" for a process that is to take over the service: its own signs of life are
  // expected.
  std::vector<std::string> of_successor() const;
};

// Sends datagrams to the service manager, each at once; waits at most kSendWithin for a full queue.
// A message that cannot be sent is logged, and otherwise without effect. Without a socket all
// functions do nothing. Thread-safe.
class ServiceManager {
 public:
  static constexpr Nanos kSendWithin = std::chrono::seconds(1);
  static constexpr std::size_t kStatusBytesMax = 512;

  explicit ServiceManager(ServiceEnvironment environment);

  // The service serves; `status` is shown by `systemctl status`, in one line.
  void ready(std::string_view status) const;
  // The configuration is being read again, until ready(). `monotonic`: of CLOCK_MONOTONIC, now.
  void reloading(Nanos monotonic) const;
  // The service is ending; the manager kills it only after `within`, whatever its own limit.
  void stopping(Nanos within) const;
  void status(std::string_view status) const;
  // Another process is the main one from now on, such as the successor that took the sockets over.
  void main_process(pid_t pid) const;
  void watchdog() const;                                          // a sign of life
  Nanos watchdog_limit() const { return environment_.watchdog; }  // 0: none are expected

 private:
  void send(const std::string& message) const;

  const ServiceEnvironment environment_;
};

// Now, of CLOCK_MONOTONIC: the clock of the service manager.
Nanos monotonic_now();

}  // namespace heatsink::app
