// SPDX-License-Identifier: Apache-2.0
#include "heatsink/httpd/tokens.h"

#include <algorithm>
#include <utility>

#include "heatsink/base/printable.h"
#include "heatsink/base/secret_file.h"
#include "heatsink/httpd/access.h"

namespace heatsink::httpd {
namespace {

// The next word of the line, which is cut off; "": there is none.
std::string_view take_word(std::string_view& line) {
  const std::size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
  line.remove_prefix(begin);
  const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(end);
  return word;
}

Result<Bearer> bearer_of(std::string_view line) {
  const auto wrong = [](std::string sentence) { return invalid_argument(std::move(sentence)); };
  const std::string_view role = take_word(line);
  const std::string_view name = take_word(line);
  const std::string_view token = take_word(line);
  // A word that is no role may be a token, so it is not shown.
  if (role != "viewer" && role != "operator")
    return wrong("a line must begin with viewer or operator: write 'viewer NAME TOKEN'");
  if (token.empty() || !take_word(line).empty())
    return wrong("a line must have three words: write '" + std::string(role) + " NAME TOKEN'");
  if (name.size() > Tokens::kNameBytesMax || printable(name) != name)
    return wrong("a name must have at most 64 bytes, and none that cannot be printed");
  if (const Status good = check_secret(token); !good.ok()) return good.error();
  return Bearer{std::string(name), role == "viewer" ? Role::kViewer : Role::kOperator,
                std::string(token)};
}

std::vector<std::pair<std::size_t, std::string_view>> lines_of(std::string_view text) {
  std::vector<std::pair<std::size_t, std::string_view>> lines;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") != std::string_view::npos && !line.starts_with('#'))
      lines.emplace_back(number, line);
  }
  return lines;
}

}  // namespace

Tokens::Tokens(std::string_view token) {
  if (!token.empty()) bearers_.push_back({"", Role::kOperator, std::string(token)});
}

Result<Tokens> Tokens::parse(std::string_view text) {
  const auto lines = lines_of(text);
  if (lines.empty()) return check_secret("").error();
  if (lines.size() == 1 && lines[0].second.find_first_of(" \t") == std::string_view::npos) {
    const Status good = check_secret(lines[0].second);
    return good.ok() ? Result<Tokens>(Tokens(lines[0].second)) : good.error();
  }
  Tokens out;
  for (const auto& [number, line] : lines) {
    const auto wrong = [number = number](const std::string& what) {
      return invalid_argument("line " + std::to_string(number) + ": " + what);
    };
    Result<Bearer> bearer = bearer_of(line);
    if (!bearer.ok()) return wrong(bearer.error().message);
    for (const Bearer& other : out.bearers_) {
      if (other.name == bearer->name) return wrong("this name has a token already");
      if (other.token == bearer->token) return wrong("this token has a name already");
    }
    if (out.bearers_.size() == kTokensMax) return wrong("there are more than 64 tokens");
    out.bearers_.push_back(std::move(bearer).value());
  }
  return out;
}

const Bearer* Tokens::find(std::optional<std::string_view> authorization) const {
  const Bearer* found = nullptr;
  for (const Bearer& bearer : bearers_)
    if (bears_token(authorization, bearer.token)) found = &bearer;
  return found;
}

}  // namespace heatsink::httpd
