// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/process/end_within.h"

#include <sys/time.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string_view>

#include "apps/heatsink/process/exit_code.h"
#include "heatsink/base/timed_write.h"

namespace heatsink::app {
namespace {

// A signal handler: may use only system calls.
void give_up(int) {
  constexpr std::string_view kWords =
      "heatsink: one thread did not stop in time (perhaps a DNS lookup): exiting without it\n";
  write_within(STDERR_FILENO, kWords, Millis(0));
  _exit(kFailed);
}

void set_alarm(Millis from_now) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(from_now);
  const std::chrono::microseconds rest = from_now - seconds;
  const itimerval when{.it_interval = {}, .it_value = {seconds.count(), rest.count()}};
  setitimer(ITIMER_REAL, &when, nullptr);
}

}  // namespace

EndWithin::EndWithin(Millis limit) {
  std::signal(SIGALRM, give_up);
  set_alarm(limit);
}

EndWithin::~EndWithin() { set_alarm(Millis(0)); }

}  // namespace heatsink::app
