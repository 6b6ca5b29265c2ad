// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/process/end_signals.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

namespace heatsink::app {
namespace {

constexpr int kLooks = 10;
constexpr timespec kPause{0, 10'000'000};

bool had_terminal = false;  // written before there are threads

bool has_terminal() {
  const int terminal = ::open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
  if (terminal >= 0) ::close(terminal);
  return terminal >= 0;
}

void on_hang_up(int number) {
  const int kept = errno;
  if (terminal_has_hung_up()) {
    std::signal(number, SIG_DFL);
    std::raise(number);  // blocked until this handler returns
  }
  errno = kept;
}

}  // namespace

void end_at_hang_up_only() {
  struct sigaction before {};
  if (::sigaction(SIGHUP, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) return;
  had_terminal = has_terminal();
  struct sigaction action {};
  action.sa_handler = on_hang_up;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGHUP, &action, nullptr);
}

bool terminal_has_hung_up() {
  if (!had_terminal) return false;
  for (int look = 0; look < kLooks; ++look) {
    if (!has_terminal()) return true;
    ::nanosleep(&kPause, nullptr);
  }
  return false;
}

EndSignals::EndSignals() {
  sigemptyset(&set_);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set_, number);
  pthread_sigmask(SIG_BLOCK, &set_, nullptr);
}

bool EndSignals::wait_until(TimePoint until) {
  while (!came_) {
    const Nanos left = std::max(until - BootClock::now(), Nanos(0));
    const timespec wait{left / std::chrono::seconds(1), (left % std::chrono::seconds(1)).count()};
    const int number = sigtimedwait(&set_, nullptr, &wait);
    if (number < 0) return false;
    came_ = number != SIGHUP || terminal_has_hung_up();
  }
  return true;
}

}  // namespace heatsink::app
