// SPDX-License-Identifier: Apache-2.0
// Reads recorded real traffic, where it is installed: "t_ms,key,op,size" in zstd.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heatsink::detect::testing {

class Traces {
 public:
  // $HEATSINK_TRACES, or shared/traces beside the project's folder.
  explicit Traces(const std::filesystem::path& project) {
    const char* folder = std::getenv("HEATSINK_TRACES");
    folder_ =
        folder != nullptr ? std::filesystem::path(folder) : project / ".." / "shared" / "traces";
  }

  // The traces of a folder that is given.
  static Traces in(std::filesystem::path folder) {
    Traces traces;
    traces.folder_ = std::move(folder);
    return traces;
  }

  // "" if the trace can be read; else the reason.
  std::string why_absent(const std::string& name) const {
    if (!std::filesystem::exists(folder_ / name)) {
      return "no trace " + (folder_ / name).string() + "; set HEATSINK_TRACES to its folder";
    }
    if (name.ends_with(".zst") && std::system("zstd --version > /dev/null 2>&1") != 0) {
      return "no zstd on the PATH to unpack it";
    }
    return "";
  }

  // The key of each line, in order.
  void for_each_key(const std::string& name,
                    const std::function<void(std::string_view)>& each) const {
    const std::string command = "zstd -dcq '" + (folder_ / name).string() + "'";
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
    char line[4096];
    bool is_header = true;
    while (pipe && std::fgets(line, sizeof(line), pipe.get()) != nullptr) {
      const std::string_view text(line);
      const std::size_t begin = text.find(',') + 1;
      if (!std::exchange(is_header, false)) each(text.substr(begin, text.find(',', begin) - begin));
    }
  }

  // Ranks drawn from a popularity curve, "rank_from,rank_to,requests of each".
  std::function<std::uint64_t()> resampled(const std::string& name, std::uint64_t seed) const {
    std::ifstream in(folder_ / name);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> steps;  // first rank; requests up to here
    std::vector<std::uint64_t> each;
    std::uint64_t total = 0;
    for (std::string line; std::getline(in, line);) {
      unsigned long long from = 0, to = 0, requests = 0;
      if (std::sscanf(line.c_str(), "%llu,%llu,%llu", &from, &to, &requests) != 3) continue;
      steps.emplace_back(from, total);
      each.push_back(requests);
      total += (to - from + 1) * requests;
    }
    return [steps = std::move(steps), each = std::move(each), total,
            random = std::mt19937_64(seed)]() mutable {
      const std::uint64_t drawn = random() % total;
      const auto after = std::upper_bound(
          steps.begin(), steps.end(), drawn,
          [](std::uint64_t place, const auto& step) { return place < step.second; });
      const auto at = static_cast<std::size_t>(after - steps.begin()) - 1;
      return steps[at].first + (drawn - steps[at].second) / each[at];
    };
  }

 private:
  Traces() = default;

  std::filesystem::path folder_;
};

}  // namespace heatsink::detect::testing
