// SPDX-License-Identifier: Apache-2.0
// Reads any bytes as a configuration: the result must be faults or an effect, never both, never an
// exception. An accepted configuration can be printed and read back.
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "heatsink/base/config_file.h"
#include "heatsink/base/option_list.h"
#include "heatsink/base/option_print.h"

namespace {

struct Rule {
  std::string match;
  std::optional<heatsink::Nanos> window;
  std::optional<heatsink::Share> share;

  void describe(heatsink::OptionSet& set) {
    set.add({"match", &match, "Pattern.", 0, 0, {}});
    set.add({"window", &window, "Window.", 0, 3.6e12, {}});
    set.add({"limit.share", &share, "Share.", 0, 1, {}});
  }
};

struct Options {
  heatsink::Nanos window = std::chrono::seconds(10);
  double ratio = 0.5;
  bool enabled = true;
  std::string prefix = "p";
  std::int64_t workers = 0;
  heatsink::Bytes memory = heatsink::mebibytes(1);
  std::deque<Rule> rules;
  heatsink::OptionSet set;

  Options() {
    set.add({"detection.window", &window, "Window.", 0, 3.6e12, {}});
    set.add({"detection.ratio", &ratio, "Ratio.", -1e300, 1e300, {}});
    set.add({"cache.enabled", &enabled, "Cache.", 0, 0, {}});
    set.add({"cache.rule.prefix", &prefix, "Prefix.", 0, 0, {}});
    set.add({"workers", &workers, "Threads.", -64, 64, {}});
    set.add({"memory", &memory, "Memory.", 0, 1e12, {}});
    set.add(std::make_unique<heatsink::OptionListOf<Rule>>(
        heatsink::OptionListRow{"rules", "rule", "Rules.", "match=a"}, rules));
  }
};

void require(bool truth) {
  if (!truth) std::abort();
}

// Reads the same bytes as a list item on the command line.
void check_item(std::string_view text) {
  Options options;
  const bool added = options.set.find_list("rules")->add_item(text, "--rule").empty();
  require(options.rules.size() == (added ? 1U : 0U));
  const std::string printed = to_yaml(options.set);
  Options again;
  require(heatsink::apply_config_text(printed, "printed.yaml", again.set).empty());
  require(to_yaml(again.set) == printed);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_item(text);
  Options options;
  const std::string before = to_yaml(options.set);
  const heatsink::ConfigFaults faults = heatsink::apply_config_text(text, "fuzz.yaml", options.set);
  require(faults.size() <= heatsink::kConfigFaultsMax);
  const std::string after = to_yaml(options.set);
  if (!faults.empty()) {
    require(after == before);
    return 0;
  }
  Options again;
  require(heatsink::apply_config_text(after, "printed.yaml", again.set).empty());
  require(to_yaml(again.set) == after);
  return 0;
}
