// SPDX-License-Identifier: Apache-2.0
// Reads any text as the proxy's configuration: YAML up to the first zero byte, then lines for
// --set, or for --rule if they begin with "match=". The result must be faults, each one sentence on
// one line, or options that can be printed and read back; never an exception.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "apps/heatsink/configuration.h"
#include "heatsink/base/config_file.h"
#include "heatsink/base/option_print.h"
#include "heatsink/policy/options.h"

namespace {

using heatsink::ConfigFaults;
using heatsink::OptionSet;

void require(bool truth) {
  if (!truth) std::abort();
}

struct Configuration {
  heatsink::policy::ProxyOptions options;
  OptionSet rows;
  Configuration() { options.describe(rows); }
};

heatsink::app::ConfigurationFlags flags_of(std::string_view lines) {
  constexpr std::size_t kFlagsMax = 16;
  heatsink::app::ConfigurationFlags flags;
  while (!lines.empty() && flags.assignments.size() + flags.rules.size() < kFlagsMax) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    const std::string line(lines.substr(0, end));
    (line.starts_with("match=") ? flags.rules : flags.assignments).push_back(line);
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return flags;
}

void check(const ConfigFaults& faults) {
  for (const heatsink::Error& fault : faults) {
    require(!fault.message.empty());
    const auto control = [](unsigned char byte) { return byte < 0x20 || byte == 0x7f; };
    require(std::none_of(fault.message.begin(), fault.message.end(), control));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string_view file = text.substr(0, text.find('\0'));
  const std::string_view lines = text.substr(std::min(file.size() + 1, text.size()));
  Configuration given;
  ConfigFaults faults = heatsink::apply_config_text(file, "fuzz.yaml", given.rows);
  check(faults);
  if (!faults.empty()) return 0;
  faults = heatsink::app::apply_configuration(flags_of(lines), given.rows);
  check(faults);
  if (!faults.empty()) return 0;
  const ConfigFaults contradictions = heatsink::app::contradictions(given.options, given.rows);
  check(contradictions);
  if (!contradictions.empty()) return 0;
  const std::string printed = to_yaml(given.rows);
  Configuration again;
  require(heatsink::apply_config_text(printed, "printed.yaml", again.rows).empty());
  require(to_yaml(again.rows) == printed);
  return 0;
}
