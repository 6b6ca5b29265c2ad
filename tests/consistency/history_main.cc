// SPDX-License-Identifier: Apache-2.0
// heatsink_history play: records a history; heatsink_history check: judges one.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "heatsink/net/net.h"
#include "tests/consistency/file.h"
#include "tests/consistency/load_spec.h"
#include "tests/consistency/player_session.h"
#include "tests/consistency/recorder.h"
#include "tests/consistency/verdict.h"

namespace heatsink::consistency {
namespace {

struct PlayOptions {
  std::string out;
  std::vector<std::string> targets;
  std::vector<std::string> sessions;
  std::string prefix = "k";
  double seconds = 10;
  std::size_t operations = 0;
  std::uint64_t seed = 1;
  bool until_told = false;
};

constexpr Nanos kLastReplies = std::chrono::seconds(5);
constexpr double kLongerMax = 10;  // times as long as asked for, to come to the operations wanted

int refuse(const std::string& why) {
  fmt::print(stderr, "heatsink_history: {}\n", why);
  return 2;
}

// Whether whoever started this has had enough: it closes our standard input.
class Curtain final : public net::FdHandler {
 public:
  explicit Curtain(net::EventLoop& loop) : loop_(loop) {}
  void watch() { fallen_ = !loop_.add(STDIN_FILENO, net::Interest::kRead, *this).ok(); }
  bool fallen() const { return fallen_; }

  void on_readable() override {
    std::array<char, 64> ignored;
    if (read(STDIN_FILENO, ignored.data(), ignored.size()) > 0) return;
    loop_.remove(STDIN_FILENO);
    fallen_ = true;
  }
  void on_writable() override {}

 private:
  net::EventLoop& loop_;
  bool fallen_ = true;
};

class Player {
 public:
  explicit Player(const PlayOptions& options) : options_(options) {
    recorder_.prefix = options.prefix;
    recorder_.wall_ahead =
        std::chrono::system_clock::now().time_since_epoch() - BootClock::now().time_since_epoch();
    recorder_.history.reserve(std::max<std::size_t>(options.operations, 1'000'000));
  }

  Status prepare() {
    for (const std::string& target : options_.targets) {
      Result<net::HostPort> address = net::parse_host_port(target);
      if (!address.ok()) return address.error();
      Result<std::vector<net::ResolvedAddress>> resolved = net::resolve(*address);
      if (!resolved.ok()) return resolved.error();
      targets_.push_back(resolved->front());
    }
    for (const std::string& text : options_.sessions) {
      Result<LoadSpec> spec = parse_load_spec(text);
      if (!spec.ok()) return spec.error();
      if (spec->via >= targets_.size())
        return Error{ErrorCode::kInvalidArgument, text + ": there is no such target"};
      specs_.push_back(*spec);
    }
    return Unit{};
  }

  void run() {
    if (options_.until_told) curtain_.watch();
    for (const LoadSpec& spec : specs_) {
      for (std::uint32_t i = 0; i < spec.keys; ++i)
        recorder_.know(Recorder::key(spec.db, spec.first + i));
      for (std::uint32_t i = 0; i < spec.count; ++i) {
        const std::uint64_t seed = options_.seed * 1'000'003 + sessions_.size();
        sessions_.push_back(
            std::make_unique<PlayerSession>(loop_, targets_[spec.via], spec, recorder_, seed));
        sessions_.back()->start();
      }
    }
    const TimePoint start = BootClock::now();
    while (!enough(BootClock::now() - start)) loop_.turn(Millis(10));
    for (auto& session : sessions_) session->finish();
    const TimePoint end = BootClock::now();
    while (!all_idle() && BootClock::now() - end < kLastReplies) loop_.turn(Millis(10));
    for (auto& session : sessions_) session->stop();
    took_ = end - start;
  }

  const Recorder& recorder() const { return recorder_; }
  double took_s() const { return std::chrono::duration<double>(took_).count(); }

 private:
  bool enough(Nanos played) const {
    const double seconds = std::chrono::duration<double>(played).count();
    if (seconds < options_.seconds || !curtain_.fallen()) return false;
    return recorder_.history.size() >= options_.operations ||
           seconds > options_.seconds * kLongerMax;
  }
  bool all_idle() const {
    return std::all_of(sessions_.begin(), sessions_.end(),
                       [](const auto& session) { return session->idle(); });
  }

  const PlayOptions& options_;
  net::EventLoop loop_;
  Curtain curtain_{loop_};
  Recorder recorder_;
  std::vector<net::ResolvedAddress> targets_;
  std::vector<LoadSpec> specs_;
  std::vector<std::unique_ptr<PlayerSession>> sessions_;
  Nanos took_{};
};

int play(const PlayOptions& options) {
  Player player(options);
  const Status ready = player.prepare();
  if (!ready.ok()) return refuse(ready.error().message);
  player.run();
  const Status written = write_history(options.out, player.recorder().history);
  if (!written.ok()) return refuse(written.error().message);
  const Recorder& recorder = player.recorder();
  fmt::print("{} operations in {:.1f} s, {} sessions, {} errors{}\n", recorder.history.size(),
             player.took_s(), recorder.last_session, recorder.errors,
             recorder.errors > 0 ? ", the first: " + recorder.first_error : "");
  return 0;
}

int check(const std::string& path, double bound_ms, Level level) {
  Result<History> history = read_history(path);
  if (!history.ok()) return refuse(history.error().message);
  const auto bound = std::chrono::round<Nanos>(std::chrono::duration<double, std::milli>(bound_ms));
  const TimePoint start = BootClock::now();
  const Verdict verdict = judge(*history, bound, level);
  const std::chrono::duration<double> took = BootClock::now() - start;
  fmt::print("{}judged in {:.2f} s\n", to_text(verdict, bound), took.count());
  return verdict.violations.empty() ? 0 : 1;
}

int run(int argc, char** argv) {
  PlayOptions options;
  std::string path;
  double bound_ms = 0;
  CLI::App app("Records what many clients read and write, and checks the record.");
  app.require_subcommand(1);
  CLI::App& play_app = *app.add_subcommand("play", "Run client sessions and record their history.");
  play_app.add_option("--out", options.out, "File for the history")->required();
  play_app
      .add_option("--target", options.targets,
                  "Address of the server, then of each proxy, host:port")
      ->required();
  play_app
      .add_option("--sessions", options.sessions, "Sessions, as in via=1,count=8,... (load_spec.h)")
      ->required();
  play_app.add_option("--prefix", options.prefix, "Prefix of all key names");
  play_app.add_option("--for", options.seconds, "Minimum duration in seconds");
  play_app.add_option("--operations", options.operations,
                      "Minimum number of operations, up to a time limit");
  play_app.add_flag("--until-told", options.until_told,
                    "Continue at least until standard input ends");
  play_app.add_option("--seed", options.seed, "Seed: the same seed gives the same operations");
  CLI::App& check_app =
      *app.add_subcommand("check", "Check a history; exit code 1 if a promise was broken.");
  check_app.add_option("file", path, "File of the history")->required();
  check_app.add_option("--bound-ms", bound_ms,
                       "Maximum age of a read, in ms; 0: every key must be linearizable");
  const std::map<std::string, Level> levels = {
      {"ttl", Level::kTtl}, {"key", Level::kKey}, {"session", Level::kSession}};
  Level level = Level::kKey;
  check_app.add_option("--level", level, "Level to check: ttl, key or session")
      ->transform(CLI::CheckedTransformer(levels));
  CLI11_PARSE(app, argc, argv);
  return play_app.parsed() ? play(options) : check(path, bound_ms, level);
}

}  // namespace
}  // namespace heatsink::consistency

int main(int argc, char** argv) { return heatsink::consistency::run(argc, argv); }
