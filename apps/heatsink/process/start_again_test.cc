// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/process/start_again.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

namespace heatsink::app {
namespace {

// Runs a shell with the reading end of a pipe here; returns what it writes to the other one.
std::string said_by(const std::string& script) {
  std::array<int, 2> ends{};
  EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  const Result<pid_t> child = start_again({"/bin/sh", {"sh", "-c", script}}, "GIVEN_FD", ends[1]);
  close(ends[1]);
  EXPECT_TRUE(child.ok());
  std::string said(100, '\0');
  std::size_t size = 0;
  while (true) {
    const ssize_t got = read(ends[0], said.data() + size, said.size() - size);
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  close(ends[0]);
  if (child.ok()) waitpid(*child, nullptr, 0);
  said.resize(size);
  return said;
}

TEST(StartAgain, TheChildHasTheVariablesOfTheStart) {
  const Result<pid_t> child =
      start_again({"/bin/sh",
                   {"sh", "-c", "test \"$NOTIFY_SOCKET\" = /run/a && test -n \"$PATH\""},
                   {"NOTIFY_SOCKET=/run/a"}},
                  "GIVEN_FD", 0);
  ASSERT_TRUE(child.ok());
  EXPECT_EQ(how_ended(*child, std::chrono::seconds(10)), "exited with status 0");
  waitpid(*child, nullptr, 0);
}

TEST(StartAgain, TheChildHasTheDescriptorAndNoBlockedSignals) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  EXPECT_EQ(said_by("echo here >&$GIVEN_FD"), "here\n");
  const std::string blocked = said_by("grep SigBlk /proc/self/status >&$GIVEN_FD");
  EXPECT_EQ(blocked, "SigBlk:\t0000000000000000\n");
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST(StartAgain, AMissingProgramIsNamed) {
  const Result<pid_t> child = start_again({"/no/such/program", {"program"}}, "GIVEN_FD", 0);
  ASSERT_FALSE(child.ok());
  EXPECT_EQ(child.error().message, "cannot start /no/such/program: No such file or directory");
}

TEST(StartAgain, SaysHowAChildEnded) {
  for (const auto& [script, how] : {std::pair("exit 3", "exited with status 3"),
                                    std::pair("kill -9 $$", "was ended by signal 9")}) {
    const Result<pid_t> child = start_again({"/bin/sh", {"sh", "-c", script}}, "GIVEN_FD", 0);
    ASSERT_TRUE(child.ok());
    EXPECT_EQ(how_ended(*child, std::chrono::seconds(60)), how);
    EXPECT_EQ(how_ended(*child, Nanos(0)), how) << "may be asked again";
    waitpid(*child, nullptr, 0);
  }
}

TEST(StartAgain, AChildThatRunsHasNotEnded) {
  const Result<pid_t> child =
      start_again({"/bin/sh", {"sh", "-c", "exec sleep 600"}}, "GIVEN_FD", 0);
  ASSERT_TRUE(child.ok());
  EXPECT_EQ(how_ended(*child, Nanos(0)), "");
  kill(*child, SIGKILL);
  waitpid(*child, nullptr, 0);
}

TEST(StartAgain, ThisProcessWasStartedByAPath) {
  std::string name = "verb", flag = "--flag";
  std::array<char*, 3> words{name.data(), flag.data(), nullptr};
  const ProgramStart start = ProgramStart::of_this_process("proxy", 2, words.data());
  EXPECT_TRUE(start.path.starts_with('/'));
  EXPECT_EQ(access(start.path.c_str(), X_OK), 0);
  ASSERT_EQ(start.arguments.size(), 3U);
  EXPECT_EQ(start.arguments[1], "proxy");
  EXPECT_EQ(start.arguments[2], "--flag");
}

}  // namespace
}  // namespace heatsink::app
