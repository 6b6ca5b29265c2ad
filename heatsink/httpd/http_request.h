// SPDX-License-Identifier: Apache-2.0
// Parses the bytes of an HTTP request, and hands its parts to the routes. No socket, so that a
// fuzzer can stand in for one. Internal to the server.
#pragma once

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstdint>

#include "heatsink/httpd/routes.h"

namespace heatsink::httpd {

inline constexpr std::uint32_t kRequestHeaderBytesMax = 8192;
inline constexpr std::uint32_t kRequestBodyBytesMax = 1024 * 1024;  // of a POST; others have none

using HttpRequestParser = boost::beast::http::request_parser<boost::beast::http::string_body>;

// What a session takes: kRequestHeaderBytesMax of header, kRequestBodyBytesMax of body. Past it the
// parser fails with header_limit or body_limit. Before the first byte.
void limit(HttpRequestParser& parser);

// Views of `message`, which must outlive them.
Request to_request(const boost::beast::http::request<boost::beast::http::string_body>& message);

}  // namespace heatsink::httpd
