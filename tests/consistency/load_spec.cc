// SPDX-License-Identifier: Apache-2.0
#include "tests/consistency/load_spec.h"

#include <array>
#include <charconv>
#include <string>

namespace heatsink::consistency {
namespace {

struct Word {
  std::string_view name;
  std::uint32_t LoadSpec::*number;
};

constexpr std::array<Word, 29> kWords = {
    {{"via", &LoadSpec::via},           {"count", &LoadSpec::count},
     {"depth", &LoadSpec::depth},       {"pace-us", &LoadSpec::pace_us},
     {"think-us", &LoadSpec::think_us}, {"db", &LoadSpec::db},
     {"first", &LoadSpec::first},       {"keys", &LoadSpec::keys},
     {"set", &LoadSpec::set},           {"px", &LoadSpec::px},
     {"ttl", &LoadSpec::ttl},           {"del", &LoadSpec::del},
     {"expire", &LoadSpec::expire},     {"mget", &LoadSpec::mget},
     {"pxat", &LoadSpec::pxat},         {"expireat", &LoadSpec::expireat},
     {"range", &LoadSpec::range},       {"lcs", &LoadSpec::lcs},
     {"eval", &LoadSpec::eval},         {"flush", &LoadSpec::flush},
     {"barrier", &LoadSpec::barrier},   {"cas", &LoadSpec::cas},
     {"multi", &LoadSpec::multi},       {"add", &LoadSpec::add},
     {"sum", &LoadSpec::sum},           {"hash", &LoadSpec::hash},
     {"beside", &LoadSpec::beside},     {"swap", &LoadSpec::swap},
     {"near", &LoadSpec::near}}};

bool set_word(LoadSpec& spec, std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return false;
  const std::string_view digits = text.substr(equals + 1);
  for (const Word& word : kWords) {
    if (word.name != text.substr(0, equals)) continue;
    const char* end = digits.data() + digits.size();
    const auto [at, error] = std::from_chars(digits.data(), end, spec.*word.number);
    return error == std::errc{} && at == end && at != digits.data();
  }
  return false;
}

}  // namespace

Result<LoadSpec> parse_load_spec(std::string_view text) {
  LoadSpec spec;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view word = text.substr(0, comma);
    if (!set_word(spec, word))
      return Error{ErrorCode::kInvalidArgument, "not understood: '" + std::string(word) + "'"};
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  if (spec.keys == 0 || spec.depth == 0)
    return Error{ErrorCode::kInvalidArgument, "keys and depth must be at least 1"};
  return spec;
}

}  // namespace heatsink::consistency
