// SPDX-License-Identifier: Apache-2.0
#include "heatsink/tui/crash_restore.h"

#include <gtest/gtest.h>
#include <pty.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

namespace heatsink::tui {
namespace {

bool echoes(int fd) {
  termios line{};
  tcgetattr(fd, &line);
  return (line.c_lflag & ECHO) != 0;
}

void silence(int fd) {
  termios line{};
  tcgetattr(fd, &line);
  line.c_lflag &= ~static_cast<tcflag_t>(ECHO);
  tcsetattr(fd, TCSANOW, &line);
}

TEST(CrashRestore, ADyingProcessGivesTheTerminalBack) {
  int controller = -1, terminal = -1;
  if (openpty(&controller, &terminal, nullptr, nullptr, nullptr) != 0)
    GTEST_SKIP() << "there is no pseudo-terminal here: " << std::strerror(errno);
  EXPECT_EXIT(
      {
        const CrashRestore restore(terminal, "<farewell>");
        silence(terminal);
        std::abort();
      },
      testing::KilledBySignal(SIGABRT), "");
  EXPECT_TRUE(echoes(terminal));
  char bytes[64] = {};
  ASSERT_GT(read(controller, bytes, sizeof bytes - 1), 0);
  EXPECT_EQ(std::string(bytes), "<farewell>");
  close(controller);
  close(terminal);
}

TEST(CrashRestore, TheHandlersBeforeComeBack) {
  struct sigaction before {
  }, after{};
  sigaction(SIGSEGV, nullptr, &before);
  { const CrashRestore restore(STDERR_FILENO, ""); }
  sigaction(SIGSEGV, nullptr, &after);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
}

}  // namespace
}  // namespace heatsink::tui
