// SPDX-License-Identifier: Apache-2.0
#include "heatsink/resp/resp2_form.h"

#include <cstddef>
#include <cstdint>

#include "heatsink/resp/decimal.h"

namespace heatsink::resp {
namespace {

constexpr std::size_t kDepthMax = 32;
constexpr std::string_view kPairHeader = "*2\r\n";

class Converter {
 public:
  Converter(std::string_view from, const Resp2Form& form) : rest_(from), form_(form) {}

  std::optional<std::string> run() {
    if (!element(0) || !rest_.empty()) return std::nullopt;
    return std::move(out_);
  }

 private:
  bool element(std::size_t depth) {
    const std::size_t end = rest_.find("\r\n");
    if (end == 0 || end == std::string_view::npos || depth > kDepthMax) return false;
    const char type = rest_.front();
    const std::string_view line = rest_.substr(1, end - 1);
    const std::string_view whole = rest_.substr(0, end + 2);
    rest_.remove_prefix(end + 2);
    switch (type) {
      case '+':
      case ':':
        out_.append(whole);
        return true;
      case '$':
        return string(whole, line);
      case '_':
        out_.append(form_.null_arrays ? "*-1\r\n" : "$-1\r\n");
        return true;
      case ',':
        header('$', line.size());
        out_.append(line).append("\r\n");
        return true;
      case '#':
        out_.append(line == "t" ? ":1\r\n" : ":0\r\n");
        return true;
      case '*':
      case '~':
      case '%':
        return aggregate(type, line, depth);
      default:
        return false;
    }
  }

  bool string(std::string_view whole, std::string_view line) {
    const auto bytes = parse_decimal(line);
    if (!bytes || *bytes < 0 || rest_.size() < static_cast<std::size_t>(*bytes) + 2) return false;
    const std::size_t body = static_cast<std::size_t>(*bytes) + 2;
    out_.append(whole).append(rest_.substr(0, body));
    rest_.remove_prefix(body);
    return true;
  }

  // Each element takes at least three bytes, so a false count ends the loop soon.
  bool aggregate(char type, std::string_view line, std::size_t depth) {
    const auto announced = parse_decimal(line);
    if (!announced || *announced < 0 || static_cast<std::size_t>(*announced) > rest_.size())
      return false;
    const auto count = static_cast<std::size_t>(*announced);
    const bool pairs = form_.flat_pairs && depth == 0 && rest_.starts_with(kPairHeader);
    const std::size_t elements = type == '%' || pairs ? 2 * count : count;
    header('*', elements);
    for (std::size_t i = 0; i < elements; ++i) {
      if (pairs && i % 2 == 0) {
        if (!rest_.starts_with(kPairHeader)) return false;
        rest_.remove_prefix(kPairHeader.size());
      }
      if (!element(depth + 1)) return false;
    }
    return true;
  }

  void header(char type, std::size_t n) {
    out_.append(1, type).append(std::to_string(n)).append("\r\n");
  }

  std::string_view rest_;
  const Resp2Form form_;
  std::string out_;
};

}  // namespace

std::optional<std::string> resp2_form(std::string_view resp3, const Resp2Form& form) {
  return Converter(resp3, form).run();
}

}  // namespace heatsink::resp
