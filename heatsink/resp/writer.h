// SPDX-License-Identifier: Apache-2.0
// Writes RESP: requests to a server, and heatsink's own replies.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "heatsink/base/byte_buffer.h"

namespace heatsink::resp {

enum class Protocol : std::uint8_t { kResp2 = 2, kResp3 = 3 };

// Writes a request as a multi-bulk array.
void append_request(ByteBuffer& out, std::span<const std::string_view> args);
void append_request(ByteBuffer& out, std::initializer_list<std::string_view> args);

void append_simple(ByteBuffer& out, std::string_view text);  // +text; REQUIRES no CR or LF
void append_error(ByteBuffer& out, std::string_view text);   // -text; CR and LF become spaces
void append_integer(ByteBuffer& out, std::int64_t value);
void append_bulk(ByteBuffer& out, std::string_view bytes);
void append_null(ByteBuffer& out, Protocol protocol);  // "$-1" or "_"
void append_array_header(ByteBuffer& out, std::int64_t count);
void append_map_header(ByteBuffer& out, std::int64_t pairs, Protocol protocol);  // "*2n" or "%n"

}  // namespace heatsink::resp
