// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/top/session.h"

#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <csignal>
#include <iostream>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "apps/heatsink/process/end_signals.h"
#include "apps/heatsink/process/exit_code.h"
#include "apps/heatsink/top/input.h"
#include "apps/heatsink/top/model.h"
#include "apps/heatsink/top/recording.h"
#include "apps/heatsink/top/screen.h"
#include "heatsink/tui/terminal.h"
#include "heatsink/tui/text.h"

namespace heatsink::app {
namespace {

namespace asio = boost::asio;

constexpr int kColumnsOfText = 100;
constexpr std::size_t kFrameRowsMax = 20;  // without an explicit limit

bool chooses(const RowChoices& rows) {
  return rows.order != Order{} || !rows.filter.text.empty() || rows.limit > 0;
}

class TopSession {
 public:
  explicit TopSession(const TopOptions& options)
      : options_(options),
        model_(options.server ? options.server->where() : options.admin.text(), options.interval),
        signals_(io_, SIGINT, SIGTERM, SIGHUP),
        poll_timer_(io_),
        end_timer_(io_),
        input_(io_) {
    model_.observed = options.server.has_value();
    model_.captured = options.server && !options.server->url;
    signals_.add(SIGQUIT);
    signals_.add(SIGWINCH);
    model_.choices.rows = options.rows;
    model_.choices.at = options.at;
  }

  int run() {
    if (!open_recording() || !open_answers()) return kFailed;
    wait_for_signal();
    if (!for_programs() && !options_.once) open_terminal();
    if (options_.at && !terminal_) options_.once = true;
    if (!for_programs() && !terminal_ && model_.choices.rows.limit == 0)
      model_.choices.rows.limit = kFrameRowsMax;
    if (options_.csv) print(csv_header());
    if (options_.run_for > Nanos(0) && !options_.once) {
      end_timer_.expires_after(options_.run_for);
      end_timer_.async_wait([this](auto error) {
        if (!error) io_.stop();
      });
    }
    draw();
    poll();
    io_.run();
    const int columns = terminal_ ? terminal_->size().width
                                  : tui::columns_of_environment().value_or(kColumnsOfText);
    terminal_.reset();
    if (!options_.once && !for_programs())
      std::cout << summary_text(model_, BootClock::now() - started_, columns) << std::flush;
    if (ended_early())
      std::cerr << "heatsink top: ended early: " << tui::safe_text(answers_->failure())
                << std::endl;
    if (!recording_problem_.empty())
      std::cerr << "heatsink top: --record: " << recording_problem_ << std::endl;
    return exit_code();
  }

 private:
  bool for_programs() const { return options_.json || options_.csv; }

  std::string json_line(const std::string& body) const {
    if (!chooses(options_.rows)) return json_on_one_line(body).value();
    std::vector<std::size_t> places;
    for (const TopRow& row : model_.rows().rows)
      places.push_back(static_cast<std::size_t>(row.key - model_.view->keys.data()));
    return json_with_keys(body, places);
  }

  // Before the terminal is taken over, so that errors can be printed.
  bool open_recording() {
    if (options_.record_file.empty()) return true;
    auto opened = Recording::open(options_.record_file, model_.admin, options_.interval);
    if (opened) {
      recording_.emplace(std::move(opened).value());
      return true;
    }
    std::cerr << "heatsink top: --record: " << opened.error().message << std::endl;
    return false;
  }

  bool open_answers() {
    const Nanos timeout =
        std::clamp<Nanos>(options_.interval, std::chrono::seconds(1), std::chrono::seconds(5));
    if (!options_.server) {
      answers_ = http_answers(io_, options_.admin, options_.token, timeout);
      return true;
    }
    ObservedServer server = *options_.server;
    server.wants_json = options_.json || recording_.has_value();
    auto answers = observed_answers(io_, server, first_within());
    if (answers) {
      answers_ = std::move(answers).value();
      return true;
    }
    std::cerr << "heatsink top: " << tui::safe_text(answers.error().message) << std::endl;
    return false;
  }

  // A user wants to see what is known so far; a script wants good data.
  Nanos first_within() const {
    constexpr Nanos kOnceWithin = std::chrono::seconds(20);
    if (!options_.once) return Nanos(0);
    return options_.run_for > Nanos(0) ? options_.run_for : kOnceWithin;
  }

  // With a screen, errors are printed after it, on standard error like the summary.
  void record(const std::string& body) {
    if (!recording_) return;
    const auto line = json_on_one_line(body);
    if (!line) return;
    const Status kept = recording_->append(*line);
    if (kept) return;
    recording_problem_ = kept.error().message;
    recording_.reset();
  }

  void open_terminal() {
    auto terminal = tui::Terminal::open(options_.colors);
    if (!terminal) return;  // a pipe, or an unknown terminal: both get plain frames
    terminal_ = std::move(terminal).value();
    input_.assign(dup(terminal_->input_fd()));
    wait_for_key();
  }

  void wait_for_signal() {
    signals_.async_wait([this](auto error, int signal_number) {
      if (error) return;
      if (signal_number == SIGHUP && !terminal_has_hung_up()) return wait_for_signal();
      if (signal_number != SIGWINCH) {
        ended_by_person_ = true;
        return io_.stop();
      }
      draw();
      wait_for_signal();
    });
  }

  void wait_for_key() {
    input_.async_wait(asio::posix::stream_descriptor::wait_read, [this](auto error) {
      if (error) return;
      if (!read_keys()) {
        ended_by_person_ = true;
        return io_.stop();
      }
      follow_time();
      draw();
      wait_for_key();
    });
  }

  // False: time to end. Input that is readable but has no key, again and again, means that the
  // terminal has gone.
  bool read_keys() {
    constexpr int kEmptyReadsMax = 8;
    int key = terminal_->read_key();
    empty_reads_ = key == tui::kNoKey ? empty_reads_ + 1 : 0;
    model_.clock = std::chrono::system_clock::now();
    for (; key != tui::kNoKey; key = terminal_->read_key()) {
      if (!pressed(model_, key, terminal_->size())) return false;
    }
    return empty_reads_ < kEmptyReadsMax;
  }

  void poll() {
    poll_timer_.expires_after(options_.interval);
    answers_->look_closer(closer_look());
    answers_->ask([this](Result<TopAnswer> answer) {
      const bool prints_past = answer.ok() && options_.at && !terminal_;
      polled(std::move(answer));
      if (prints_past) return;
      if (options_.once || (answers_->finished() && !terminal_)) return io_.stop();
      poll_timer_.async_wait([this](auto error) {
        if (!error) poll();
      });
    });
  }

  // Shows the moment that the user wants; asks for it if it is not known yet.
  void follow_time() {
    if (!model_.choices.at) return model_.show_now();
    const WallTime at = *model_.choices.at;
    if (past_ && at >= past_from_ && at < past_to_) return show_past(at);
    if (std::exchange(asks_past_, true)) return;
    const WallTime now = std::chrono::system_clock::now();
    // A curve of the same length for each length of the steps.
    const auto before = std::max<WallTime::duration>(std::chrono::minutes(10), (now - at) / 8);
    past_from_ = at - before;
    past_to_ = std::min(at + before / 4, now);
    answers_->ask_past(past_from_, past_to_, [this](Result<heat::HeatMap> map) {
      asks_past_ = false;
      past_.reset();
      if (map.ok()) {
        past_ = std::move(map).value();
        follow_time();
      } else {
        model_.past_problem = map.error().message;
        model_.choices.at.reset();
        model_.show_now();
      }
      draw();
      if (options_.at && !terminal_ && !asks_past_) print_past();
    });
  }

  void show_past(WallTime at) {
    const std::optional<HotkeysView>& now = model_.past ? model_.latest : model_.view;
    std::optional<PastMoment> moment = past_moment(*past_, at, now.value_or(HotkeysView()));
    if (moment)
      model_.show_past(std::move(*moment));
    else
      model_.show_gap(at);
  }

  // Without a terminal: one moment.
  void print_past() {
    model_.clock = std::chrono::system_clock::now();
    if (model_.past_problem.empty())
      print(frame_text(model_, BootClock::now(), tui::columns_of_environment()));
    else
      std::cerr << "heatsink top: --at: " << tui::safe_text(model_.past_problem) << std::endl;
    io_.stop();
  }

  // The key whose page is open.
  std::optional<CloserLook> closer_look() const {
    const auto& open = model_.open_key;
    if (model_.past || model_.choices.page != Page::kKey || !open || open->key.name_truncated)
      return std::nullopt;
    return CloserLook{open->key.raw_name, open->key.db};
  }

  void polled(Result<TopAnswer> answer) {
    if (answer) record(answer->json);
    if (model_.choices.paused) return;
    if (answer) {
      model_.answered(std::move(answer->view));
      if (options_.at && model_.answers == 1) {
        follow_time();
        if (!terminal_) return;
      }
    } else {
      model_.failed(answer.error().message, BootClock::now());
    }
    if (!model_.problem.empty() && (for_programs() || options_.once)) {
      std::cerr << "heatsink top: no answer from " << model_.asked() << ": "
                << tui::safe_text(model_.problem) << std::endl;
    } else if (options_.json) {
      print(json_line(answer->json) + "\n");
    } else if (options_.csv) {
      print(
          csv_block(model_.rows(), csv_time(std::chrono::system_clock::now()), options_.csv_text));
    } else if (terminal_) {
      draw();
    } else {
      print(frame_text(model_, BootClock::now(), tui::columns_of_environment()) +
            (options_.once ? "" : "\n"));
    }
  }

  void draw() {
    model_.clock = std::chrono::system_clock::now();
    if (terminal_) terminal_->show(draw_top(model_, terminal_->size(), BootClock::now()));
  }

  // The reader has gone, so the session ends.
  void print(const std::string& text) {
    if (!(std::cout << text << std::flush)) io_.stop();
  }

  bool ended_early() const { return model_.answers > 0 && !answers_->failure().empty(); }

  int exit_code() const {
    if (!recording_problem_.empty() || (options_.at && !model_.past_problem.empty()))
      return kFailed;
    if (ended_early() && !ended_by_person_) return kFailed;
    if (options_.once) return model_.problem.empty() && model_.answers > 0 ? kDone : kFailed;
    return model_.answers > 0 || ended_by_person_ ? kDone : kFailed;
  }

  TopOptions options_;
  TopModel model_;
  TimePoint started_ = BootClock::now();
  asio::io_context io_{1};
  asio::signal_set signals_;
  asio::steady_timer poll_timer_;
  asio::steady_timer end_timer_;
  asio::posix::stream_descriptor input_;
  std::unique_ptr<TopAnswers> answers_;
  std::unique_ptr<tui::Terminal> terminal_;
  std::optional<heat::HeatMap> past_;  // from past_from_ to past_to_
  WallTime past_from_{}, past_to_{};
  bool asks_past_ = false;
  std::optional<Recording> recording_;
  std::string recording_problem_;
  int empty_reads_ = 0;
  bool ended_by_person_ = false;
};

}  // namespace

int run_top_session(const TopOptions& options) { return TopSession(options).run(); }

}  // namespace heatsink::app
