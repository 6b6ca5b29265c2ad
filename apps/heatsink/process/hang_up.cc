// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/process/hang_up.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

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

}  // namespace heatsink::app
