// SPDX-License-Identifier: Apache-2.0
#include "heatsink/tui/crash_restore.h"

#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>

namespace heatsink::tui {
namespace {

constexpr std::array kFatalSignals{SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

// The data that a signal handler may use: plain memory, filled before the handlers are installed.
struct Farewell {
  bool armed = false;
  int fd = -1;
  termios line{};
  bool line_known = false;
  std::array<char, 256> bytes{};
  std::size_t size = 0;
  std::array<struct sigaction, kFatalSignals.size()> before{};
};
Farewell farewell_state;

// Makes only async-signal-safe calls. SA_RESETHAND has restored the default action, so raising
// kills.
extern "C" void restore_and_die(int signal_number) {
  const Farewell& f = farewell_state;
  if (f.line_known) tcsetattr(f.fd, TCSANOW, &f.line);
  const ssize_t written = write(f.fd, f.bytes.data(), f.size);
  static_cast<void>(written);  // a failure cannot be handled here
  raise(signal_number);
}

}  // namespace

CrashRestore::CrashRestore(int fd, const std::string& farewell) {
  Farewell& f = farewell_state;
  assert(!f.armed);
  f.armed = true;
  f.fd = fd;
  f.line_known = tcgetattr(fd, &f.line) == 0;
  f.size = std::min(farewell.size(), f.bytes.size());
  std::copy_n(farewell.begin(), f.size, f.bytes.begin());
  struct sigaction action {};
  action.sa_handler = restore_and_die;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (std::size_t i = 0; i < kFatalSignals.size(); ++i) {
    sigaction(kFatalSignals[i], &action, &f.before[i]);
  }
}

CrashRestore::~CrashRestore() {
  Farewell& f = farewell_state;
  for (std::size_t i = 0; i < kFatalSignals.size(); ++i) {
    sigaction(kFatalSignals[i], &f.before[i], nullptr);
  }
  f.armed = false;
}

}  // namespace heatsink::tui
