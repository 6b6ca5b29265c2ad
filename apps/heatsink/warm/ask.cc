// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/warm/ask.h"

#include <boost/asio/io_context.hpp>
#include <boost/json/serialize.hpp>
#include <utility>

namespace heatsink::app {
namespace {

constexpr Nanos kWarmTimeout = std::chrono::seconds(15);
constexpr std::size_t kWarmAnswerBytesMax = 16 * 1024 * 1024;

}  // namespace

Result<std::string> ask_proxy(const WarmRun& run, const HttpQuestion& question) {
  boost::asio::io_context io;
  Result<std::string> answer = Error{ErrorCode::kUnavailable, "it did not answer"};
  http_ask(io, run.admin, question, run.token, kWarmTimeout, kWarmAnswerBytesMax,
           [&answer](Result<std::string> told) { answer = std::move(told); });
  io.run();
  return answer;
}

Result<std::string> order_proxy(const WarmRun& run, boost::json::object order) {
  const bool ends = run.what == WarmRun::What::kEnd;
  if (!ends) order["for_seconds"] = std::chrono::duration<double>(run.lasts).count();
  return ask_proxy(run,
                   {"POST", ends ? "/api/warm/end" : "/api/warm", boost::json::serialize(order)});
}

}  // namespace heatsink::app
