// SPDX-License-Identifier: Apache-2.0
// heatsink doctor: checks a deployment, and says what is wrong, what it costs, and how to mend it.
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <iostream>
#include <optional>
#include <random>
#include <string>
#include <thread>

#include "apps/heatsink/configuration.h"
#include "apps/heatsink/http/http.h"
#include "apps/heatsink/password.h"
#include "apps/heatsink/typed_flag.h"
#include "apps/heatsink/verbs.h"
#include "heatsink/base/log.h"
#include "heatsink/base/printable.h"
#include "heatsink/base/secret_file.h"
#include "heatsink/doctor/doctor.h"
#include "heatsink/net/net.h"
#include "heatsink/topology/topology.h"
#include "heatsink/tui/text.h"

namespace heatsink::app {
namespace {

constexpr Nanos kProxyAnswers = std::chrono::seconds(5);
// A proxy that has just been started is still looking.
constexpr Nanos kFirstLook = std::chrono::seconds(10);
constexpr Millis kAskAgain(100);
constexpr Nanos kFindMaster = std::chrono::seconds(8);
constexpr std::size_t kAnswerBytesMax = 4U << 20U;
constexpr std::size_t kColumnsMin = 60, kColumnsMax = 120, kColumns = 100;

struct DoctorFlags {
  ConfigurationFlags configuration;
  std::string server;
  std::string password_file, tls_ca_file;  // "": of the configuration
  std::optional<net::HostPort> admin;
  std::string token;
  bool json = false, strict = false, write_test = false, list = false, markdown = false;
};

void add_flags(CLI::App& app, DoctorFlags& flags) {
  auto* server = app.add_option("server", flags.server,
                                "The server: redis://[user@]host[:port], rediss:// for TLS, "
                                "or unix:///path; instead of upstream.url")
                     ->type_name("URL");
  add_configuration_flags(app, flags.configuration);
  app.add_option(
         "--password-file", flags.password_file,
         "File whose first line is the server's password; instead of upstream.password-file")
      ->type_name("FILE");
  app.add_option(
         "--tls-ca", flags.tls_ca_file,
         "File with the CAs that sign the server's certificate (PEM); instead of upstream.tls-ca")
      ->type_name("FILE");
  app.add_flag("--json", flags.json, "Print the findings as JSON");
  app.add_flag("--strict", flags.strict, "Exit with 1 also if the worst finding is a warning");
  app.add_flag("--write-test", flags.write_test,
               "Also write, read and delete a key heatsink:doctor:NUMBER, "
               "to see that a push about it arrives");
  auto* admin = app.add_option_function<std::string>(
                       "--admin",
                       [&flags](const std::string& text) {
                         Result<net::HostPort> parsed = net::parse_host_port(text);
                         if (!parsed.ok())
                           throw CLI::ValidationError("--admin", parsed.error().message);
                         flags.admin = std::move(parsed).value();
                       },
                       "Show what the running proxy with this admin address has found, instead")
                    ->type_name("HOST:PORT")
                    ->excludes(server);
  add_parsed_flag(
      app, "--token-file", flags.token,
      [](const std::string& path) { return read_secret_file(path); }, "",
      "File with the admin token of the proxy")
      ->type_name("FILE")
      ->needs(admin);
  auto* list = app.add_flag("--list", flags.list, "List the checks, and make none");
  app.add_flag("--markdown", flags.markdown, "With --list: as the reference page")->needs(list);
}

// Applies the file and --set first, then the server.
ConfigFaults configure(const DoctorFlags& flags, policy::ProxyOptions& proxy) {
  OptionSet options;
  proxy.describe(options);
  ConfigFaults faults = apply_configuration(flags.configuration, options);
  if (!flags.server.empty()) {
    const Status set = options.set("upstream.url", net::with_scheme(flags.server));
    if (!set.ok()) faults.push_back(set.error());
  }
  const auto set = [&](const char* name, const std::string& value) {
    if (value.empty()) return;
    const Status done = options.set(name, value);
    if (!done.ok()) faults.push_back(done.error());
  };
  set("upstream.password-file", flags.password_file);
  set("upstream.tls-ca", flags.tls_ca_file);
  add_contradictions(proxy, options, faults);
  return faults;
}

std::string scratch_key() {
  std::random_device device;
  const std::uint64_t number = (static_cast<std::uint64_t>(device()) << 32U) | device();
  return "heatsink:doctor:" + std::to_string(number);
}

doctor::Diagnosis diagnose(const policy::ProxyOptions& options, bool writes) {
  doctor::Facts facts;
  facts.options = options;
  facts.configured = facts.upstream = *net::parse_upstream_url(options.upstream);
  doctor::ProbeOptions how;
  if (writes) how.scratch_key = scratch_key();
  facts.machine = doctor::look_at_machine(options);
  std::string no_master;
  if (topology::must_be_found(facts.configured)) {
    doctor::FoundMaster found = doctor::find_master(options, facts.configured, kFindMaster);
    facts.search = std::move(found.search);
    if (found.master.ok()) {
      facts.upstream = *std::move(found.master);
    } else {
      no_master = found.master.error().message;
    }
  }
  facts.server = no_master.empty() ? doctor::look_at_server(options, facts.upstream, how)
                                   : doctor::without_master(facts.configured, no_master);
  doctor::Examination done = doctor::examine(facts);
  doctor::Diagnosis out;
  out.findings = std::move(done.findings);
  out.left_out = done.left_out;
  out.checked_at = iso_time(std::chrono::system_clock::now());
  out.is_ready = facts.server.is_logged_in();
  out.problem = facts.server.problem;
  return out;
}

Result<doctor::Diagnosis> ask_proxy(const net::HostPort& admin, const std::string& token) {
  boost::asio::io_context io;
  Result<std::string> body = Error{ErrorCode::kUnavailable, "no answer"};
  http_get(io, admin, "/api/health", token, kProxyAnswers, kAnswerBytesMax,
           [&body](Result<std::string> answer) { body = std::move(answer); });
  io.run();
  if (!body.ok()) return body.error();
  return doctor::parse_diagnosis(*body);
}

doctor::TextOptions text_options() {
  doctor::TextOptions options;
  if (const auto columns = tui::columns_of_environment())
    options.columns = static_cast<std::size_t>(std::max(*columns, static_cast<int>(kColumnsMin)));
  if (isatty(STDOUT_FILENO) == 0) return options;
  const char* const no_colour = std::getenv("NO_COLOR");  // NOLINT(concurrency-mt-unsafe)
  options.has_colour = no_colour == nullptr || *no_colour == 0;
  winsize size{};
  options.columns = kColumns;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    options.columns = std::clamp<std::size_t>(size.ws_col, kColumnsMin, kColumnsMax);
  return options;
}

int show(const doctor::Diagnosis& diagnosis, const DoctorFlags& flags) {
  std::cout << (flags.json
                    ? doctor::diagnosis_json(diagnosis)
                    : doctor::findings_text(diagnosis.findings, diagnosis.left_out, text_options()))
            << std::flush;
  if (!std::cout.good()) return kFailed;
  const auto count = [&](doctor::Level level) {
    return doctor::count_of(diagnosis.findings, level);
  };
  const bool is_bad =
      count(doctor::Level::kError) > 0 || (flags.strict && count(doctor::Level::kWarning) > 0);
  return is_bad ? kFailed : kDone;
}

int show_of_proxy(const DoctorFlags& flags) {
  const TimePoint until = BootClock::now() + kFirstLook;
  Result<doctor::Diagnosis> told = ask_proxy(*flags.admin, flags.token);
  while (told.ok() && told->checked_at.empty() && BootClock::now() < until) {
    std::this_thread::sleep_for(kAskAgain);
    told = ask_proxy(*flags.admin, flags.token);
  }
  std::string why;
  if (!told.ok())
    why = "does not say what it found: " + one_line(told.error().message);
  else if (told->checked_at.empty())
    why = "has not made its checks yet: try again later";
  if (!why.empty()) {
    std::cerr << "heatsink doctor: the proxy at " << printable(flags.admin->text()) << " " << why
              << "\n";
    return kFailed;
  }
  return show(*told, flags);
}

}  // namespace

int run_doctor(int argc, char** argv) {
  CLI::App app(
      "Checks a server and this machine against what the proxy needs: "
      "says what is wrong, what it costs, and how to mend it. Exits with 0 if there is no error, "
      "1 if there is, 2 after a wrong command line or configuration.");
  DoctorFlags flags;
  add_flags(app, flags);
  if (const auto code = parse_flags(app, argc, argv)) return *code;
  if (flags.list) {
    std::cout << (flags.markdown ? doctor::checks_page() : doctor::checks_list()) << std::flush;
    return std::cout.good() ? kDone : kFailed;
  }
  if (flags.admin) return show_of_proxy(flags);

  policy::ProxyOptions options;
  const ConfigFaults faults = configure(flags, options);
  print_faults(faults, "heatsink doctor", std::cerr);
  if (!faults.empty()) return kMisused;
  if (const Status taken = take_password(options); !taken.ok()) {
    std::cerr << "heatsink doctor: " << one_line(taken.error().message) << "\n";
    return kFailed;
  }
  return show(diagnose(options, flags.write_test), flags);
}

}  // namespace heatsink::app
