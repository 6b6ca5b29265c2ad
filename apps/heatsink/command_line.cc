// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/command_line.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "apps/heatsink/password.h"

namespace heatsink::app {
namespace {

// For a password shorter than three the stars show its length, because nothing longer fits.
std::string stars_for(std::size_t size) { return std::string(std::min<std::size_t>(size, 3), '*'); }

// The password in "redis://user:password@host" is between the first colon and the last @; it may
// contain a /.
std::string without_password(std::string_view word) {
  constexpr std::string_view kBegin = "://";
  const std::size_t scheme = word.find(kBegin);
  if (scheme == std::string_view::npos) return std::string(word);
  const std::size_t at = word.rfind('@');
  const std::size_t colon = word.find(':', scheme + kBegin.size());
  if (at == std::string_view::npos || colon == std::string_view::npos || colon > at)
    return std::string(word);
  return std::string(word.substr(0, colon + 1)) + stars_for(at - colon - 1) +
         std::string(word.substr(at));
}

// Fills the rest with null bytes, which `ps` shows as spaces.
void overwrite(char* place, const std::string& text) {
  const std::size_t size = std::strlen(place);
  std::memset(place, 0, size);
  std::copy_n(text.data(), std::min(size, text.size()), place);
}

// setenv() stores its copy elsewhere, but `ps` shows the original memory, so that is overwritten,
// too.
void hide_variable(const char* name) {
  char* const shown = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  if (shown == nullptr) return;
  const std::string value = shown;
  if (setenv(name, value.c_str(), 1) != 0) return;       // NOLINT(concurrency-mt-unsafe)
  if (std::getenv(name) != shown) overwrite(shown, "");  // NOLINT(concurrency-mt-unsafe)
}

}  // namespace

std::string without_secrets(std::string_view word) {
  constexpr std::string_view kToken = "admin.token=";
  const std::size_t token = word.find(kToken);
  if (token == std::string_view::npos) return without_password(word);
  const std::size_t begin = token + kToken.size();
  return std::string(word.substr(0, begin)) + stars_for(word.size() - begin);
}

CommandLine::CommandLine(int count, char** words) : copies_(words, words + count) {
  for (std::string& copy : copies_) pointers_.push_back(copy.data());
  pointers_.push_back(nullptr);
  for (int i = 0; i < count; ++i) {
    if (const std::string shown = without_secrets(words[i]); shown != words[i])
      overwrite(words[i], shown);
  }
  for (const char* name : kPasswordVariables) hide_variable(name);
}

}  // namespace heatsink::app
