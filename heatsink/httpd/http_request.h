// SPDX-License-Identifier: Apache-2.0
// Parses the bytes of an HTTP request, and gives its parts to the routes. Has no socket, so that a
// fuzzer can drive it. Internal to the server.
#pragma once

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <cstdint>

#include "heatsink/httpd/routes.h"

namespace heatsink::httpd {

inline constexpr std::uint32_t kRequestHeaderBytesMax = 8192;
// of a POST; other requests have none
inline constexpr std::uint32_t kRequestBodyBytesMax = 1024 * 1024;

using HttpRequestParser = boost::beast::http::request_parser<boost::beast::http::string_body>;

// Sets the limits of a session: kRequestHeaderBytesMax of header, kRequestBodyBytesMax of body.
// Beyond them the parser fails with header_limit or body_limit. Call it before the first byte.
void limit(HttpRequestParser& parser);

// The result has views of `message`, which must outlive it.
Request to_request(const boost::beast::http::request<boost::beast::http::string_body>& message);

}  // namespace heatsink::httpd
