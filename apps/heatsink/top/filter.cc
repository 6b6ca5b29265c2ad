// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/top/filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "heatsink/base/printable.h"

namespace heatsink::app {
namespace {

Error wrong(const std::string& what) {
  return invalid_argument(what +
                          "; use a name, a pattern as in user:*, db=0, "
                          "command=GET, client=10.0., verdict=hot or node=10.0.");
}

// Turns typed text into a pattern: escapes of bytes become literal bytes; other backslashes belong
// to the pattern.
std::string pattern_of(std::string_view typed) {
  std::string out;
  while (!typed.empty()) {
    const bool escape = typed.starts_with("\\x") && typed.size() >= 4;
    const std::string byte = escape ? from_printable(typed.substr(0, 4)) : "";
    if (byte.size() == 1) {
      if (std::string_view("*?[]\\^-").find(byte) != std::string_view::npos) out += '\\';
      out += byte;
      typed.remove_prefix(4);
    } else {
      out += typed.front();
      typed.remove_prefix(1);
    }
  }
  return out;
}

detect::KeyPattern name_pattern(std::string_view typed) {
  const bool glob = typed.find_first_of("*?[") != std::string_view::npos;
  return detect::KeyPattern(pattern_of(typed) + (glob ? "" : "*"));
}

std::string capitals(std::string_view word) {
  std::string out(word);
  std::ranges::transform(out, out.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return out;
}

Status read_db(std::string_view text, KeyFilter& filter) {
  std::uint64_t db = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), db);
  if (error != std::errc{} || end != text.data() + text.size())
    return wrong(fmt::format("db={} is not a number", printable(text)));
  filter.db = db;
  return Unit{};
}

Status read_word(std::string_view word, KeyFilter& filter) {
  const std::size_t equals = std::min(word.find('='), word.size());
  const std::string_view what = word.substr(0, equals);
  const std::string_view value = word.substr(std::min(equals + 1, word.size()));
  if (equals < word.size()) {
    if (what == "db") return read_db(value, filter);
    std::string* const text = what == "command"   ? &filter.command
                              : what == "client"  ? &filter.client
                              : what == "verdict" ? &filter.verdict
                              : what == "node"    ? &filter.node
                                                  : nullptr;
    if (text != nullptr) {
      *text = what == "command" ? capitals(value) : std::string(value);
      return Unit{};
    }
  }
  if (filter.name)
    return wrong(fmt::format("'{}' is a second name, and a filter has only one", printable(word)));
  filter.name = name_pattern(word);
  return Unit{};
}

bool any_of_them(const std::vector<TallyView>& tallies, auto fits) {
  return std::ranges::any_of(tallies, fits, &TallyView::name);
}

}  // namespace

bool KeyFilter::matches(const KeyView& key) const {
  if (db && key.db != *db) return false;
  if (name && !name->matches(key.raw_name)) return false;
  if (!verdict.empty() && key.verdict != verdict) return false;
  if (!key.node.starts_with(node)) return false;
  const auto is_command = [this](std::string_view each) { return capitals(each) == command; };
  if (!command.empty() && !any_of_them(key.commands, is_command)) return false;
  const auto is_client = [this](std::string_view each) { return each.starts_with(client); };
  return client.empty() || any_of_them(key.clients, is_client);
}

Result<KeyFilter> parse_filter(std::string_view text) {
  if (text.size() > kFilterBytesMax)
    return wrong(fmt::format("the filter is longer than {} bytes", kFilterBytesMax));
  KeyFilter filter;
  filter.text = text;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    if (text.empty()) return filter;
    const std::string_view word = text.substr(0, text.find(' '));
    if (const Status read = read_word(word, filter); !read) return read.error();
    text.remove_prefix(word.size());
  }
}

}  // namespace heatsink::app
