// SPDX-License-Identifier: Apache-2.0
// Sends any bytes to the admin port: only requests with the right to ask may get a page, and no
// answer may contain bytes of the request.
#include <boost/asio/buffer.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "heatsink/httpd/http_request.h"
#include "heatsink/httpd/sample_pages_for_test.h"
#include "heatsink/httpd/server.h"

namespace {

using heatsink::httpd::Answer;
using heatsink::httpd::Request;

constexpr std::string_view kToken = "0123456789abcdef";

void require(bool holds) {
  if (!holds) std::abort();
}

Answer answer_to(const Request& request, std::string_view token) {
  const heatsink::httpd::Now now{heatsink::TimePoint(std::chrono::seconds(1001)), {}};
  static const heatsink::httpd::RouteTable kTable(heatsink::httpd::sample_routes());
  return kTable.answer(request, now, std::string_view(token));
}

bool is_served(const Answer& answer) { return answer.status == 200; }

// A name of a web page has a letter that neither IPv6 addresses nor "localhost" have.
bool may_be_here(std::string_view host) {
  return host.find_first_not_of("0123456789.:[]abcdefABCDEFlochstLOCHST") == host.npos;
}

void check_open(const Request& request) {
  const Answer open = answer_to(request, "");
  if (!is_served(open)) return;
  const bool orders = request.method == "POST" && request.target.starts_with("/api/order") &&
                      request.content_type.value_or("").starts_with("application/json");
  require(orders || request.method == "GET" || request.method == "HEAD");
  require(request.host ? may_be_here(*request.host) : request.host_optional);
}

void check_guarded(const Request& request) {
  const Answer guarded = answer_to(request, kToken);
  const bool bears = request.authorization && request.authorization->ends_with(kToken);
  if (guarded.status != 401) require(bears);
  require(guarded.body.find(kToken) == std::string::npos);
}

// An answer is a page or one of our sentences: it must not grow with the request.
void check_size(const Request& request) {
  const Answer to_nothing = answer_to({"GET", "/nothing", "localhost"}, "");
  const Answer open = answer_to(request, "");
  require(is_served(open) || open.body.size() <= to_nothing.body.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  heatsink::httpd::HttpRequestParser parser;
  heatsink::httpd::limit(parser);
  boost::beast::error_code error;
  parser.put(boost::asio::buffer(data, size), error);
  if (error || !parser.is_done()) return 0;
  const Request request = heatsink::httpd::to_request(parser.get());
  require(request.target.size() + request.method.size() <= heatsink::httpd::kRequestHeaderBytesMax);
  check_open(request);
  check_guarded(request);
  check_size(request);
  return 0;
}
