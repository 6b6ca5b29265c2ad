// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/live_target.h"

#include <fstream>
#include <utility>

#include "apps/heatsink/live_json.h"
#include "heatsink/base/log.h"
#include "heatsink/base/printable.h"

namespace heatsink::app {
namespace {

constexpr std::size_t kTokensFileBytesMax = 128 * 1024;

Status set_log(const policy::ProxyOptions& options) {
  const LogFormat format = options.log_format == "json" ? LogFormat::kJson : LogFormat::kText;
  const Status opened = set_log_output(options.log_file, format);
  return opened.ok() ? opened : Error{opened.error().code, "log.file: " + opened.error().message};
}

bool has_other_log(const policy::ProxyOptions& a, const policy::ProxyOptions& b) {
  return a.log_file != b.log_file || a.log_format != b.log_format;
}

// Whatever can fail comes before the proxy's first change; the log goes back after a failure.
Result<std::uint64_t> apply_to(proxy::Proxy& proxy, httpd::HttpServer* admin,
                               const policy::ProxyOptions& before,
                               const policy::ProxyOptions& next) {
  Result<httpd::Tokens> token = token_of(next);
  if (!token.ok()) return token.error();
  const bool other_log = has_other_log(before, next);
  if (other_log) {
    if (const Status opened = set_log(next); !opened.ok()) return opened.error();
  }
  Result<std::uint64_t> applied = proxy.apply(next);
  const bool holds = applied.ok() || applied.error().code == ErrorCode::kTimedOut;
  if (!holds) {
    if (other_log) static_cast<void>(set_log(before));
    return applied;
  }
  set_log_level(*parse_log_level(next.log_level));
  if (admin != nullptr) admin->set_token(std::move(token).value());
  return applied;
}

}  // namespace

Result<httpd::Tokens> token_of(const policy::ProxyOptions& options) {
  if (options.admin_token_file.empty()) return httpd::Tokens(options.admin_token);
  const std::string named = "the secret file '" + printable(options.admin_token_file) + "'";
  std::ifstream file(options.admin_token_file, std::ios::binary);
  std::string text(kTokensFileBytesMax, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad() || (file.fail() && !file.eof()))
    return Error{ErrorCode::kUnavailable,
                 named + " cannot be read: check that it exists and its permissions"};
  text.resize(static_cast<std::size_t>(file.gcount()));
  Result<httpd::Tokens> tokens = httpd::Tokens::parse(text);
  if (tokens.ok()) return tokens;
  return Error{tokens.error().code, named + ": " + tokens.error().message};
}

Status open_log(const policy::ProxyOptions& options) {
  set_log_level(*parse_log_level(options.log_level));
  return set_log(options);
}

LiveTarget live_target(proxy::Proxy& proxy, const std::unique_ptr<httpd::HttpServer>& admin,
                       const std::unique_ptr<alerts::Alerter>& alerts) {
  LiveTarget target;
  target.apply = [&proxy, &admin, &alerts](const policy::ProxyOptions& before,
                                           const policy::ProxyOptions& next) {
    Result<std::uint64_t> applied = apply_to(proxy, admin.get(), before, next);
    if (applied.ok() && alerts != nullptr) alerts->apply(next.alerts);
    return applied;
  };
  target.reload_files = [&proxy, &admin](const policy::ProxyOptions& now) -> Status {
    Result<httpd::Tokens> token = token_of(now);
    if (!token.ok()) return token.error();
    if (Status read = proxy.reload_tls(); !read.ok()) return read;
    if (admin != nullptr) admin->set_token(std::move(token).value());
    return Unit{};
  };
  target.add_event = [&proxy](report::Event::Config config, std::string reason) {
    proxy.add_config_event(config, std::move(reason));
  };
  const policy::KeyDisplay& shown = proxy.shown();
  target.hides_names = shown.redacts();
  target.shown = [&shown](std::string_view name) { return shown.show(name); };
  target.now = [] { return std::chrono::system_clock::now(); };
  return target;
}

void add_config_pages(admin::Sources& sources, LiveConfiguration& live) {
  const auto answer = [](const ConfigAnswer& made) -> admin::Sources::ConfigAnswer {
    return {made.outcome != ConfigOutcome::kRefused, change_json(made)};
  };
  sources.config = [&live] { return config_json(live.effective(), live.shown()); };
  sources.change_config = [&live, answer](const report::ConfigOrder& order, std::string_view who) {
    return answer(live.apply(order, who));
  };
  sources.change_rules = [&live, answer](const report::RuleOrder& order, std::string_view who) {
    return answer(live.change_rules(order, who));
  };
}

}  // namespace heatsink::app
