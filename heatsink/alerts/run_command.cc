// SPDX-License-Identifier: Apache-2.0
#include "heatsink/alerts/run_command.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string_view>
#include <system_error>
#include <vector>

#include "heatsink/net/net.h"

namespace heatsink::alerts {
namespace {

constexpr int kLookMs = 100;  // how often a wait looks whether it is to stop

std::vector<std::string> words_in(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

Outcome later(std::string problem) { return {Outcome::Kind::kRetry, std::move(problem), Nanos(0)}; }

// A process group of its own, so that what it starts can be ended with it; no descriptor of ours
// but its input; signals as a new program has them.
int spawn(std::vector<std::string>& words, int input, pid_t& child) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none, defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  for (const int number : {SIGPIPE, SIGXFSZ}) sigaddset(&defaults, number);
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const int failed =
      posix_spawn(&child, words[0].c_str(), &actions, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return failed;
}

Outcome outcome_of_status(int status) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  if (WIFEXITED(status))
    return later("it exits with status " + std::to_string(WEXITSTATUS(status)));
  return later("signal " + std::to_string(WTERMSIG(status)) + " ended it");
}

}  // namespace

Outcome run_command(const std::string& command, const std::string& input, Nanos limit,
                    const std::atomic<bool>& stop) {
  std::vector<std::string> words = words_in(command);
  int ends[2];
  if (words.empty() || pipe2(ends, O_CLOEXEC) != 0) return later("cannot make a pipe for it");
  const net::Fd reading(ends[0]);
  net::Fd writing(ends[1]);
  // The input is in the pipe before the program begins: nothing waits for a program to read.
  fcntl(writing.get(), F_SETFL, O_NONBLOCK);
  const ssize_t written = write(writing.get(), input.data(), input.size());
  if (written != static_cast<ssize_t>(input.size())) return later("its input does not fit a pipe");
  pid_t child = 0;
  if (const int failed = spawn(words, reading.get(), child); failed != 0)
    return later("cannot start it: " + std::system_category().message(failed));
  writing = net::Fd();
  const net::Fd process(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
  const TimePoint until = BootClock::now() + limit;
  int status = 0;
  pid_t ended = 0;
  while ((ended = waitpid(child, &status, WNOHANG)) == 0 && !stop && BootClock::now() < until) {
    pollfd waits{process.get(), POLLIN, 0};
    poll(&waits, process.get() >= 0 ? 1 : 0, kLookMs);
  }
  // The kernel keeps no status for a process that ignores SIGCHLD.
  if (ended < 0) return later("its exit status is not known");
  if (ended != 0) return outcome_of_status(status);
  kill(-child, SIGKILL);
  waitpid(child, &status, 0);
  return later(stop ? "heatsink ends" : "it does not end within " + format_duration(limit));
}

}  // namespace heatsink::alerts
