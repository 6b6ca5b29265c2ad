// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/ask_admin.h"

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <iostream>
#include <utility>

#include "apps/heatsink/live_json.h"
#include "apps/heatsink/process/exit_code.h"
#include "apps/heatsink/typed_flag.h"
#include "heatsink/base/secret_file.h"

namespace heatsink::app {
namespace {

constexpr Nanos kAdminTimeout = std::chrono::seconds(20);  // longer than Proxy::kAdoptWithin
constexpr std::size_t kAdminAnswerBytesMax = 16 * 1024 * 1024;

int fail(const char* program, const AdminFlags& flags, const Error& error) {
  std::cerr << program << ": the proxy at " << flags.admin.text()
            << " cannot be asked: " << error.message
            << " (--admin names its admin address, admin.listen)\n";
  return kFailed;
}

}  // namespace

void add_admin_flags(CLI::App& app, AdminFlags& flags) {
  app.add_flag("--json", flags.json, "Print the proxy's answer as JSON");
  add_parsed_flag(
      app, "--admin", flags.admin,
      [](const std::string& text) { return net::parse_host_port(text); }, flags.admin.text(),
      "Admin address of the proxy")
      ->type_name("HOST:PORT");
  add_parsed_flag(
      app, "--token-file", flags.token,
      [](const std::string& path) { return read_secret_file(path); }, "",
      "File with the admin token of the proxy")
      ->type_name("FILE");
}

Result<std::string> ask_admin(const AdminFlags& flags, const HttpQuestion& question) {
  boost::asio::io_context io;
  Result<std::string> answer = Error{ErrorCode::kUnavailable, "it did not answer"};
  http_ask(io, flags.admin, question, flags.token, kAdminTimeout, kAdminAnswerBytesMax,
           [&answer](Result<std::string> told) { answer = std::move(told); });
  io.run();
  return answer;
}

int ask_for_change(const AdminFlags& flags, const HttpQuestion& question, const char* program) {
  const Result<std::string> answer = ask_admin(flags, question);
  if (!answer.ok()) return fail(program, flags, answer.error());
  const Result<ChangeLines> lines = change_lines(*answer);
  if (!lines.ok()) return fail(program, flags, lines.error());
  std::ostream& out = lines->is_refused && !flags.json ? std::cerr : std::cout;
  if (flags.json) {
    out << *answer;
  } else {
    for (const std::string& line : lines->lines) out << line << "\n";
  }
  out.flush();
  if (!out.good()) return kFailed;
  return lines->is_refused ? kMisused : kDone;
}

}  // namespace heatsink::app
