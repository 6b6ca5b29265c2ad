// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/process/start_again.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <thread>

namespace heatsink::app {
namespace {

std::string path_of(const std::string& name) {
  std::error_code error;
  if (name.find('/') != std::string::npos) {
    const std::filesystem::path path = std::filesystem::absolute(name, error);
    return error ? name : path.string();
  }
  const char* const variable = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): at the start
  std::string_view folders = variable == nullptr ? "" : variable;
  while (!folders.empty()) {
    const std::size_t end = std::min(folders.find(':'), folders.size());
    const std::string path = std::string(folders.substr(0, end)) + "/" + name;
    if (::access(path.c_str(), X_OK) == 0) return std::filesystem::absolute(path, error).string();
    folders.remove_prefix(std::min(end + 1, folders.size()));
  }
  return name;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> environment_with(const ProgramStart& program, const char* variable,
                                          int descriptor) {
  const std::string begin = std::string(variable) + "=";
  std::vector<std::string> words = program.environment;
  for (char** word = environ; *word != nullptr; ++word)
    if (!std::string_view(*word).starts_with(begin)) words.emplace_back(*word);
  words.push_back(begin + std::to_string(descriptor));
  return words;
}

}  // namespace

ProgramStart ProgramStart::of_this_process(const std::string& verb, int argc, char** argv) {
  ProgramStart start;
  start.path = path_of(program_invocation_name);
  start.arguments = {program_invocation_name, verb};
  start.arguments.insert(start.arguments.end(), argv + 1, argv + argc);
  return start;
}

Result<pid_t> start_again(const ProgramStart& program, const char* variable, int descriptor) {
  std::vector<std::string> arguments = program.arguments;
  std::vector<std::string> environment = environment_with(program, variable, descriptor);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none, defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawn_file_actions_init(&actions);
  // The same number: the descriptor loses its close-on-exec flag in the child only.
  posix_spawn_file_actions_adddup2(&actions, descriptor, descriptor);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t child = 0;
  const int failed = posix_spawn(&child, program.path.c_str(), &actions, &attributes,
                                 pointers_to(arguments).data(), pointers_to(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (failed == 0) return child;
  return Error{ErrorCode::kUnavailable,
               "cannot start " + program.path + ": " + std::system_category().message(failed)};
}

std::string how_ended(pid_t child, Nanos limit) {
  constexpr Nanos kLook = Millis(5);
  const TimePoint end = BootClock::now() + limit;
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == 0) {
    if (BootClock::now() >= end) return "";
    std::this_thread::sleep_for(kLook);
  }
  return (info.si_code == CLD_EXITED ? "exited with status " : "was ended by signal ") +
         std::to_string(info.si_status);
}

}  // namespace heatsink::app
