// SPDX-License-Identifier: Apache-2.0
// heatsink explain: prints what is known of one key, and what would relieve it.
#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <iostream>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "apps/heatsink/flags.h"
#include "apps/heatsink/top/answers.h"
#include "apps/heatsink/top/explain_key.h"
#include "apps/heatsink/top/view.h"
#include "apps/heatsink/top_server_flags.h"
#include "apps/heatsink/typed_flag.h"
#include "apps/heatsink/verbs.h"
#include "heatsink/base/printable.h"
#include "heatsink/base/secret_file.h"
#include "heatsink/net/net.h"
#include "heatsink/tui/text.h"

namespace heatsink::app {
namespace {

constexpr Nanos kTimeout = std::chrono::seconds(5);

struct ExplainOptions {
  net::HostPort admin{"127.0.0.1", 6390};
  std::string token;
  std::string key;  // as it was typed
  std::optional<std::uint64_t> db;
  std::optional<ObservedServer> server;  // observe this server instead of asking `admin`
  Nanos within = std::chrono::seconds(20);
  bool json = false;

  std::string asked() const { return server ? server->where() : "http://" + admin.text(); }
};

Result<HotkeysView> ask(const ExplainOptions& options) {
  boost::asio::io_context io(1);
  std::unique_ptr<TopAnswers> answers;
  if (options.server) {
    auto observed = observed_answers(io, *options.server, options.within);
    if (!observed) return observed.error();
    answers = std::move(observed).value();
  } else {
    answers = http_answers(io, options.admin, options.token, kTimeout);
  }
  answers->look_closer(CloserLook{from_printable(options.key), options.db, true});
  Result<HotkeysView> answer = Error{ErrorCode::kTimedOut, "it did not answer"};
  answers->ask([&](Result<TopAnswer> told) {
    if (told)
      answer = std::move(told->view);
    else
      answer = told.error();
    io.stop();
  });
  io.run();
  return answer;
}

observe::CloserKey first_key(const ExplainOptions& options) {
  observe::CloserKey out{.name = from_printable(options.key)};
  if (options.db) out.db = static_cast<std::uint32_t>(*options.db);
  return out;
}

int explain(const ExplainOptions& options) {
  const Result<HotkeysView> view = ask(options);
  if (!view) {
    std::cerr << "heatsink explain: no answer from " << tui::safe_text(options.asked()) << ": "
              << tui::safe_text(view.error().message)
              << (options.server ? "\n"
                                 : " (is 'heatsink proxy' running, and is --admin its address?)\n");
    return kFailed;
  }
  const Question question{from_printable(options.key), options.db};
  std::cout << (options.json
                    ? explain_json(*view, question)
                    : explain_text(*view, question,
                                   tui::columns_of_environment().value_or(kExplainColumns)));
  return is_listed(*view, question) ? kDone : kFailed;
}

}  // namespace

int run_explain(int argc, char** argv) {
  ExplainOptions options;
  CLI::App app("Shows what is known of one key, and what would take load off it.", argv[0]);
  app.add_option("KEY", options.key,
                 "Name of the key; bytes as heatsink top shows them, as in user:\\x00")
      ->required();
  app.add_option("--db", options.db, "Only in this database")
      ->check(between(0, std::numeric_limits<std::uint32_t>::max()))
      ->type_name("N");
  add_parsed_flag(
      app, "--admin", options.admin,
      [](const std::string& text) { return net::parse_host_port(text); }, options.admin.text(),
      "Admin address of the proxy")
      ->type_name("HOST:PORT");
  add_parsed_flag(
      app, "--token-file", options.token,
      [](const std::string& path) { return read_secret_file(path); }, "",
      "File with the admin token of the proxy")
      ->type_name("FILE");
  app.add_flag("--json", options.json, "Print one line of JSON");
  app.footer("Exit code: 0, or 1 if the key is not proven to be even warm, or no answer came.");
  add_duration_flag(app, "--for", options.within, "How long to look at a server");
  ServerFlags server;
  add_server_flags(app, server);
  if (const auto code = parse_flags(app, argc, argv)) return *code;
  auto observed = observed_server(server);
  if (!observed) {
    std::cerr << argv[0] << ": " << one_line(observed.error().message) << "\n";
    return kMisused;
  }
  options.server = std::move(observed).value();
  if (options.server) options.server->first_key = first_key(options);
  return explain(options);
}

}  // namespace heatsink::app
