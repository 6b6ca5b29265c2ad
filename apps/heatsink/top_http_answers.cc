// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "apps/heatsink/top_answers.h"
#include "apps/heatsink/top_http.h"
#include "apps/heatsink/top_view.h"

namespace heatsink::app {
namespace {

class HttpAnswers final : public TopAnswers {
 public:
  HttpAnswers(boost::asio::io_context& io, net::HostPort admin, std::string token, Nanos timeout)
      : io_(io), admin_(std::move(admin)), token_(std::move(token)), timeout_(timeout) {}

  void ask(Done done) override {
    http_get(io_, admin_, "/api/hotkeys", token_, timeout_, kAnswerBytesMax, std::move(done));
  }

 private:
  boost::asio::io_context& io_;
  net::HostPort admin_;
  std::string token_;
  Nanos timeout_;
};

}  // namespace

std::unique_ptr<TopAnswers> http_answers(boost::asio::io_context& io, const net::HostPort& admin,
                                         const std::string& token, Nanos timeout) {
  return std::make_unique<HttpAnswers>(io, admin, token, timeout);
}

}  // namespace heatsink::app
