// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/watch/pass_on.h"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <utility>

#include "apps/heatsink/http/http.h"
#include "heatsink/base/printable.h"

namespace heatsink::app {
namespace {

using httpd::Answer;
using httpd::Question;

// The query without the parameter of ours.
std::string query_for_instance(std::string_view query) {
  std::string out;
  for (std::size_t begin = 0; begin < query.size();) {
    const std::size_t end = std::min(query.find('&', begin), query.size());
    const std::string_view part = query.substr(begin, end - begin);
    if (!part.starts_with("instance=")) out += (out.empty() ? "?" : "&") + std::string(part);
    begin = end + 1;
  }
  return out;
}

Nanos timeout_of(std::string_view path) {
  const bool asks_server = path == "/api/key" || path == "/api/explain";
  return asks_server ? PassOn::kTimeoutOfKeys : Poller::kTimeout;
}

Answer answer_with(std::string_view path, std::string body) {
  if (path == "/metrics") return {200, std::move(body), httpd::kMetricsContentType};
  return httpd::json_answer(std::move(body));
}

Result<std::string> get(const Instance& at, const std::string& path, const std::string& token,
                        Nanos timeout) {
  boost::asio::io_context io(1);
  Result<std::string> out = Error{ErrorCode::kUnavailable, "it did not answer"};
  http_ask(io, at.address, {"GET", path, ""}, token, timeout, Poller::kViewBytesMax,
           [&out](Result<std::string> told) { out = std::move(told); });
  io.run();
  return out;
}

}  // namespace

PassOn::PassOn(const Poller& poller) : poller_(poller), rests_until_(poller.of().size()) {}

Answer PassOn::ask(std::string_view name, std::string_view path, const Question& asked) {
  const std::shared_ptr<const Picture> picture = poller_.picture();
  const auto found = std::ranges::find(picture->instances, name, &Instance::name);
  if (found == picture->instances.end())
    return {400, "there is no instance '" + printable(name, 64) + "': /api/instances lists them\n"};
  if (!found->answers())
    return {503, printable(name) + " does not answer since " +
                     iso_time(asked.now.wall_at(found->since)) + ": " + one_line(found->problem) +
                     "\n"};
  return ask(static_cast<std::size_t>(found - picture->instances.begin()), *found, path, asked);
}

Answer PassOn::ask(std::size_t i, const Instance& at, std::string_view path,
                   const Question& asked) {
  if (asked.now.boot < rests_until_[i])
    return {503, printable(at.name) +
                     " did not answer a question in time: it is not asked for some seconds\n"};
  Result<std::string> told = get(at, std::string(path) + query_for_instance(asked.query),
                                 poller_.of()[i].token, timeout_of(path));
  if (told.ok()) return answer_with(path, std::move(told).value());
  const Error& error = told.error();
  if (error.code == ErrorCode::kTimedOut) rests_until_[i] = BootClock::now() + kRest;
  return {error.code == ErrorCode::kNotFound ? 404U : 503U,
          printable(at.name) + ": " + one_line(error.message) + "\n"};
}

}  // namespace heatsink::app
