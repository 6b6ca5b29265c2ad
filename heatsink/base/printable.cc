// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/printable.h"

#include <cstdint>
#include <utility>

namespace heatsink {
namespace {

struct Decoded {
  std::size_t length = 0;  // 0: not UTF-8
  char32_t code_point = 0;
};

// Decodes the first character by Unicode's table 3-7 of well-formed sequences: no surrogates, no
// overlong forms, nothing above U+10FFFF. REQUIRES bytes not empty.
Decoded decode_utf8(std::string_view bytes) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {1, lead};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || bytes.size() < length) return {};
  char32_t code_point = lead & (0xFFu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    code_point = (code_point << 6) | (byte(i) & 0x3Fu);
  }
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code_point >= 0xD800 && code_point <= 0xDFFF;
  if (code_point < kSmallest[length] || code_point > 0x10FFFF || surrogate) return {};
  return {length, code_point};
}

bool is_unsafe(char32_t c) {
  const bool control = c < 0x20 || (c >= 0x7F && c <= 0x9F);
  const bool bidirectional = c == 0x061C || c == 0x200E || c == 0x200F ||
                             (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
  return control || bidirectional || c == 0x2028 || c == 0x2029 || c == 0xFEFF;
}

void append_escaped(std::string& out, char c) {
  constexpr char kHex[] = "0123456789abcdef";
  switch (c) {
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\a':
      out += "\\a";
      return;
    case '\b':
      out += "\\b";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '"':
      out += "\\\"";
      return;
    default:
      break;
  }
  const auto byte = static_cast<unsigned char>(c);
  out += "\\x";
  out += kHex[byte >> 4];
  out += kHex[byte & 15];
}

// `escaped_too`: printable characters to escape as well.
std::string escape(std::string_view bytes, std::size_t bytes_max, std::string_view escaped_too) {
  std::string out;
  out.reserve(bytes.size() < bytes_max ? bytes.size() : bytes_max);
  std::size_t at = 0;
  while (at < bytes.size()) {
    const Decoded decoded = decode_utf8(bytes.substr(at));
    const std::size_t length = decoded.length == 0 ? 1 : decoded.length;
    if (at + length > bytes_max) break;
    const std::string_view character = bytes.substr(at, length);
    const bool quoted =
        decoded.length == 1 && escaped_too.find(bytes[at]) != std::string_view::npos;
    if (decoded.length == 0 || quoted || is_unsafe(decoded.code_point)) {
      for (const char c : character) append_escaped(out, c);
    } else {
      out += character;
    }
    at += length;
  }
  if (at < bytes.size()) out += "... (+" + std::to_string(bytes.size() - at) + " bytes)";
  return out;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// The byte of the escape at the front, and the escape's length: 0 if there is none.
std::pair<char, std::size_t> read_escape(std::string_view text) {
  constexpr std::string_view kLetters = "nrtab\\\"", kMeant = "\n\r\t\a\b\\\"";
  if (text.size() < 2 || text[0] != '\\') return {};
  const std::size_t letter = kLetters.find(text[1]);
  if (letter != std::string_view::npos) return {kMeant[letter], 2};
  if (text.size() < 4 || text[1] != 'x') return {};
  const int high = hex_digit(text[2]), low = hex_digit(text[3]);
  if (high < 0 || low < 0) return {};
  return {static_cast<char>(high * 16 + low), 4};
}

}  // namespace

std::string printable(std::string_view bytes, std::size_t bytes_max) {
  return escape(bytes, bytes_max, "\\\"");
}

std::string one_line(std::string_view text, std::size_t bytes_max) {
  return escape(text, bytes_max, "");
}

std::string from_printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto [byte, length] = read_escape(text);
    out += length > 0 ? byte : text.front();
    text.remove_prefix(length > 0 ? length : 1);
  }
  return out;
}

}  // namespace heatsink
