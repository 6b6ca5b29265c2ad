// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/heatsink/http/http.h"
#include "apps/heatsink/top/answers.h"
#include "apps/heatsink/top/view.h"
#include "heatsink/heat/heat.h"

namespace heatsink::app {
namespace {

class HttpAnswers final : public TopAnswers {
 public:
  HttpAnswers(boost::asio::io_context& io, net::HostPort admin, std::string token, Nanos timeout)
      : io_(io), admin_(std::move(admin)), token_(std::move(token)), timeout_(timeout) {}

  void ask(Done done) override {
    get("/api/hotkeys", [this, done = std::move(done)](const Result<std::string>& body) {
      if (!body) return done(body.error());
      Result<HotkeysView> view = parse_hotkeys(*body);
      if (!view) return done(view.error());
      TopAnswer answer{std::move(view).value(), *body};
      if (!look_) return done(std::move(answer));
      std::vector<CloserLook> looks = closer_looks(answer.view, *look_);
      look_at(std::move(looks), std::move(answer), BootClock::now() + timeout_, done);
    });
  }

  void ask_past(WallTime from, WallTime to, PastDone done) override {
    const auto seconds = [](WallTime time) {
      return std::chrono::floor<std::chrono::seconds>(time.time_since_epoch()).count();
    };
    http_get(io_, admin_,
             fmt::format("/api/heatmap?from={}&to={}&rows={}", seconds(from), seconds(to),
                         heat::History::kRowsMax),
             token_, timeout_, heat::kHeatmapBytesMax,
             [done = std::move(done)](const Result<std::string>& body) {
               done(body ? heat::parse_heatmap(*body) : Result<heat::HeatMap>(body.error()));
             });
  }

  void look_closer(std::optional<CloserLook> look) override { look_ = std::move(look); }

 private:
  // Asks one after the other, because the proxy waits for its server with each. After `until` the
  // remaining ones are not asked, and their rows say so.
  void look_at(std::vector<CloserLook> looks, TopAnswer answer, TimePoint until, const Done& done) {
    if (looks.empty()) return done(std::move(answer));
    const CloserLook look = looks.front();
    looks.erase(looks.begin());
    if (BootClock::now() >= until) {
      add_problem(answer.view, "skipped: details of the other keys took too long", look);
      return look_at(std::move(looks), std::move(answer), until, done);
    }
    get(closer_path(look), [this, looks = std::move(looks), answer = std::move(answer), until, look,
                            done](const Result<std::string>& body) mutable {
      if (!body) {
        add_problem(answer.view, body.error().message, look);
      } else if (const Result<HotkeysView> key = parse_hotkeys(*body)) {
        add_closer_look(answer.view, *key, look);
      }
      look_at(std::move(looks), std::move(answer), until, done);
    });
  }
  void get(const std::string& path, std::function<void(const Result<std::string>&)> done) {
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
