// SPDX-License-Identifier: Apache-2.0
#include "heatsink/resp/writer.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace heatsink::resp {
namespace {

constexpr std::size_t kNumberBytesMax = 20;                         // "-9223372036854775808"
constexpr std::size_t kNumberHeaderBytesMax = kNumberBytesMax + 3;  // type, number, CRLF

char* put_crlf(char* at) {
  at[0] = '\r';
  at[1] = '\n';
  return at + 2;
}

// REQUIRES room for kNumberHeaderBytesMax.
char* put_header(char* at, char type, std::int64_t number) {
  *at++ = type;
  return put_crlf(std::to_chars(at, at + kNumberBytesMax, number).ptr);
}

void append_header(ByteBuffer& out, char type, std::int64_t number) {
  char* const begin = out.prepare(kNumberHeaderBytesMax);
  out.commit(static_cast<std::size_t>(put_header(begin, type, number) - begin));
}

}  // namespace

void append_request(ByteBuffer& out, std::span<const std::string_view> args) {
  append_array_header(out, static_cast<std::int64_t>(args.size()));
  for (const std::string_view arg : args) append_bulk(out, arg);
}

void append_request(ByteBuffer& out, std::initializer_list<std::string_view> args) {
  append_request(out, std::span<const std::string_view>(args.begin(), args.size()));
}

void append_simple(ByteBuffer& out, std::string_view text) {
  char* const begin = out.prepare(text.size() + 3);
  *begin = '+';
  put_crlf(std::copy(text.begin(), text.end(), begin + 1));
  out.commit(text.size() + 3);
}

void append_error(ByteBuffer& out, std::string_view text) {
  char* const begin = out.prepare(text.size() + 3);
  *begin = '-';
  const auto blank = [](char c) { return c == '\r' || c == '\n' ? ' ' : c; };
  put_crlf(std::transform(text.begin(), text.end(), begin + 1, blank));
  out.commit(text.size() + 3);
}

void append_integer(ByteBuffer& out, std::int64_t value) { append_header(out, ':', value); }

void append_bulk(ByteBuffer& out, std::string_view bytes) {
  char* const begin = out.prepare(kNumberHeaderBytesMax + bytes.size() + 2);
  char* at = put_header(begin, '$', static_cast<std::int64_t>(bytes.size()));
  if (!bytes.empty()) std::memcpy(at, bytes.data(), bytes.size());
  at = put_crlf(at + bytes.size());
  out.commit(static_cast<std::size_t>(at - begin));
}

void append_null(ByteBuffer& out, Protocol protocol) {
  out.append(protocol == Protocol::kResp3 ? std::string_view("_\r\n")
                                          : std::string_view("$-1\r\n"));
}

void append_array_header(ByteBuffer& out, std::int64_t count) { append_header(out, '*', count); }

void append_map_header(ByteBuffer& out, std::int64_t pairs, Protocol protocol) {
  const bool resp3 = protocol == Protocol::kResp3;
  append_header(out, resp3 ? '%' : '*', resp3 ? pairs : pairs * 2);
}

}  // namespace heatsink::resp
