// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/heatsink/http/http.h"
#include "apps/heatsink/top/answers.h"
#include "apps/heatsink/top/view.h"

namespace heatsink::app {
namespace {

class HttpAnswers final : public TopAnswers {
 public:
  HttpAnswers(boost::asio::io_context& io, net::HostPort admin, std::string token, Nanos timeout)
      : io_(io), admin_(std::move(admin)), token_(std::move(token)), timeout_(timeout) {}

  void ask(Done done) override {
    get("/api/hotkeys", [this, done = std::move(done)](const Result<std::string>& hotkeys) {
      if (!hotkeys || !look_) return done(hotkeys);
      look_at(closer_looks(*hotkeys, *look_), *hotkeys, BootClock::now() + timeout_, done);
    });
  }

  void look_closer(std::optional<CloserLook> look) override { look_ = std::move(look); }

 private:
  // One after the other, because each may keep the proxy waiting for its server; what is not asked
  // for before `until` is told so.
  void look_at(std::vector<CloserLook> looks, const std::string& answer, TimePoint until,
               Done done) {
    if (looks.empty()) return done(answer);
    const CloserLook look = looks.front();
    looks.erase(looks.begin());
    const auto go_on = [this, looks = std::move(looks), until, done = std::move(done)](
                           const std::string& told) { look_at(looks, told, until, done); };
    if (BootClock::now() >= until)
      return go_on(
          with_no_closer_look(answer, "skipped: details of the other keys took too long", look));
    get(closer_path(look), [answer, look, go_on](const Result<std::string>& key) {
      go_on(key ? with_closer_look(answer, *key, look)
                : with_no_closer_look(answer, key.error().message, look));
    });
  }
  void get(const std::string& path, Done done) {
    http_get(io_, admin_, path, token_, timeout_, kAnswerBytesMax, std::move(done));
  }

  boost::asio::io_context& io_;
  net::HostPort admin_;
  std::string token_;
  Nanos timeout_;
  std::optional<CloserLook> look_;
};

}  // namespace

std::unique_ptr<TopAnswers> http_answers(boost::asio::io_context& io, const net::HostPort& admin,
                                         const std::string& token, Nanos timeout) {
  return std::make_unique<HttpAnswers>(io, admin, token, timeout);
}

}  // namespace heatsink::app
