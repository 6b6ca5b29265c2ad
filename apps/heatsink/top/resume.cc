// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/top/resume.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "heatsink/base/printable.h"

namespace heatsink::app {
namespace {

constexpr std::uintmax_t kFileBytesMax = 1U << 20U;

}  // namespace

Result<std::string> read_resume_file(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return std::string();
  const auto size = std::filesystem::file_size(path, error);
  if (error)
    return Error{ErrorCode::kUnavailable,
                 "--resume: " + printable(path) + " is not a regular file"};
  if (size > kFileBytesMax)
    return Error{ErrorCode::kOutOfRange,
                 "--resume: " + printable(path) +
                     " is larger than 1 MiB, so it is not a saved scan: give another file"};
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return Error{ErrorCode::kUnavailable,
                 "--resume: " + printable(path) + " cannot be read: check its permissions"};
  return std::string(std::istreambuf_iterator<char>(file), {});
}

void write_resume_file(const std::string& path, const std::string& text) {
  std::error_code error;
  if (text.empty()) {
    std::filesystem::remove(path, error);
    return;
  }
  const std::string part = path + ".part";
  std::ofstream file(part, std::ios::binary | std::ios::trunc);
  if (!(file << text) || !file.flush()) return;
  file.close();
  std::filesystem::rename(part, path, error);
}

}  // namespace heatsink::app
