// SPDX-License-Identifier: Apache-2.0
#include "heatsink/history/set_aside.h"

#include <filesystem>
#include <system_error>

namespace heatsink::history {
namespace {

constexpr int kKept = 3;

std::string name_of(const std::string& path, int number) {
  return path + ".damaged-" + std::to_string(number);
}

}  // namespace

Result<std::string> set_aside(const std::string& path) {
  std::error_code ignored;  // those that are not there
  // The log of a database may be needed to save what is in it.
  for (const std::string log : {"", "-wal"}) {
    for (int number = kKept; number > 1; --number)
      std::filesystem::rename(name_of(path, number - 1) + log, name_of(path, number) + log,
                              ignored);
  }
  const std::string aside = name_of(path, 1);
  std::error_code problem;
  std::filesystem::rename(path, aside, problem);
  if (problem) {
    return Error{ErrorCode::kUnavailable, "cannot rename '" + path + "' to '" + aside +
                                              "': " + problem.message() +
                                              "; give the proxy the right to write in the folder"};
  }
  std::filesystem::rename(path + "-wal", aside + "-wal", ignored);
  for (const char* const beside : {"-shm", "-journal"})
    std::filesystem::remove(path + beside, ignored);
  return aside;
}

}  // namespace heatsink::history
