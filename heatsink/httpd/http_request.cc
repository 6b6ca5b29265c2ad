// SPDX-License-Identifier: Apache-2.0
#include "heatsink/httpd/http_request.h"

#include <iterator>

namespace heatsink::httpd {
namespace {

namespace http = boost::beast::http;

// "" if there are two of them: a proxy in between may believe the other one.
template <class Field>
std::optional<std::string_view> only(Field field, const http::request<http::string_body>& request) {
  const auto [first, last] = request.equal_range(field);
  if (first == last) return std::nullopt;
  if (std::next(first) != last) return "";
  const auto value = first->value();
  return std::string_view(value.data(), value.size());
}

}  // namespace

void limit(HttpRequestParser& parser) {
  parser.header_limit(kRequestHeaderBytesMax);
  parser.body_limit(kRequestBodyBytesMax);
}

Request to_request(const http::request<http::string_body>& message) {
  const auto method = message.method_string();
  const auto target = message.target();
  return {{method.data(), method.size()},
          {target.data(), target.size()},
          only(http::field::host, message),
          message.version() < 11,
          only(http::field::authorization, message),
          only(http::field::content_type, message),
          message.body(),
          "",
          only(http::field::accept, message),
          only("Last-Event-ID", message)};
}

}  // namespace heatsink::httpd
