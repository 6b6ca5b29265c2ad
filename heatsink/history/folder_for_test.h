// SPDX-License-Identifier: Apache-2.0
// Gives tests a folder for files, and counts to write into a history.
#pragma once

#include <stdlib.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "heatsink/history/record.h"

namespace heatsink::history {

// Removed at the end, with everything in it.
class Folder {
 public:
  Folder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "heatsink-test-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string path(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

inline constexpr std::int64_t kStart = 1'795'867'200;  // 2026-11-28 12:00 UTC, in seconds

inline WallTime at_second(std::int64_t second) { return WallTime(std::chrono::seconds(second)); }

// The counts of the second that begins at `second`; half of each key's requests are hits.
inline Record counts_of(std::int64_t second,
                        const std::vector<std::pair<std::string, double>>& keys) {
  Second out;
  out.end = at_second(second + 1);
  out.moment.window = std::chrono::seconds(10);
  out.moment.unnamed_max[0] = 1;
  for (const auto& [name, rate] : keys) {
    heat::Item item;
    item.identity.name = name;
    item.rate = rate;
    item.hits = rate / 2;
    out.moment.totals.requests += rate;
    out.moment.totals.hits += rate / 2;
    out.moment.items.push_back(std::move(item));
  }
  out.moment.totals.reads = out.moment.totals.requests;
  return out;
}

}  // namespace heatsink::history
