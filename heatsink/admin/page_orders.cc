// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admin/page_orders.h"

#include <optional>
#include <string>
#include <utility>

#include "heatsink/admin/page_of.h"
#include "heatsink/admin/rule_dry_run.h"
#include "heatsink/base/log.h"
#include "heatsink/base/printable.h"
#include "heatsink/base/units.h"
#include "heatsink/report/warm_json.h"

namespace heatsink::admin {
namespace {

using httpd::Answer;
using httpd::json_answer;
using httpd::Pace;
using httpd::query_value;
using httpd::Question;

constexpr Nanos kDryRunOf = std::chrono::hours(1);  // unless the question says another time
constexpr std::size_t kShownPatternBytes = 128;

Answer warm_answer(const report::WarmReport& report, httpd::Now now) {
  return json_answer(warm_json(report, now.wall_at(report.at)));
}

Answer get_warm(const Sources& sources, const Question& asked) {
  const std::optional<std::string> text = query_value(asked.query, "search");
  const std::optional<std::uint64_t> search = text ? whole_number_in(*text) : 0;
  if (!search) return {400, "search must be the number of a search, from the answer to its POST\n"};
  return warm_answer(sources.warmed(*search), asked.now);
}

// "warming of 2 keys for 30m (by the admin API, alice, 127.0.0.1:54321)"
std::string note_of(const report::WarmOrder& order, const Question& asked, bool hides_names) {
  std::string out = order.ends ? "the end of warming" : "warming";
  if (order.search != 0) out += " by search " + std::to_string(order.search);
  if (order.pattern && hides_names)
    out += " of keys that match a pattern";
  else if (order.pattern)
    out += " of keys that match '" + printable(order.pattern->glob, kShownPatternBytes) + "'";
  if (order.keys.size() > 1) out += " of " + std::to_string(order.keys.size()) + " keys";
  if (!order.ends) out += " for " + format_duration(order.lasts);
  return out + " (by the admin API, " + printable(asked.request.peer) + ")";
}

Answer order_warming(const Sources& sources, const Question& asked, bool ends) {
  Result<report::WarmOrder> order = report::parse_warm_order(asked.request.body, ends);
  if (!order.ok()) return {400, order.error().message + "\n"};
  const std::string note = note_of(*order, asked, sources.hides_names);
  if (sources.note_order) {
    sources.note_order(note, order->keys.size() == 1 ? order->keys.front() : report::WarmKey{});
  } else {
    log(LogLevel::kInfo, note);
  }
  return warm_answer(sources.warm(*std::move(order)), asked.now);
}

Answer post_warm(const Sources& sources, const Question& asked) {
  return order_warming(sources, asked, false);
}

Answer post_warm_end(const Sources& sources, const Question& asked) {
  return order_warming(sources, asked, true);
}

Answer get_drop(const Sources& /*sources*/, const Question& /*asked*/) {
  return {200, "POST {\"name_base64\": \"...\", \"db\": 0} drops the copies of that key\n"};
}

Answer post_drop(const Sources& sources, const Question& asked) {
  Result<report::WarmKey> key = report::parse_drop_order(asked.request.body);
  if (!key.ok()) return {400, key.error().message + "\n"};
  const report::DropReport report =
      sources.drop(*std::move(key), "the admin API, " + printable(asked.request.peer));
  if (!report.problem.empty()) return {503, report.problem + "\n"};
  return json_answer(drop_json(report, asked.now.wall_at(report.at)));
}

Answer get_dry_run(const Sources& sources, const Question& asked) {
  const std::optional<std::string> match = query_value(asked.query, "match");
  if (!match)
    return {400,
            "the parameter match is missing: /api/rules/dry-run?match=cart:* (%XX for bytes)\n"};
  WallTime from = asked.now.wall - std::chrono::duration_cast<WallTime::duration>(kDryRunOf);
  WallTime to = asked.now.wall;
  for (auto [name, moment] : {std::pair{"from", &from}, std::pair{"to", &to}}) {
    const std::optional<std::string> text = query_value(asked.query, name);
    if (!text) continue;
    const std::optional<WallTime> wall = day_time_in(*text);
    if (!wall) return {400, "from and to must be seconds since 1970, as in from=1795867200\n"};
    *moment = *wall;
  }
  const auto boot_at = [&asked](WallTime wall) {
    return asked.now.boot - std::chrono::duration_cast<Nanos>(asked.now.wall - wall);
  };
  const Result<heat::Sums> sums = sources.sums(boot_at(from), boot_at(to), asked.now);
  if (!sums.ok()) return {503, sums.error().message + "\n"};
  const Result<RuleDryRun> run = dry_run(*sums, *match, sources.matches());
  if (!run.ok()) return {400, run.error().message + "\n"};
  return json_answer(
      dry_run_json(*run, *sums, asked.now.wall_at(sums->from), asked.now.wall_at(sums->to)));
}

Answer get_config(const Sources& sources, const Question& /*asked*/) {
  return json_answer(sources.config());
}

Answer outcome(Sources::ConfigAnswer answer) {
  Answer out = json_answer(std::move(answer.json));
  constexpr unsigned kUnprocessable = 422;
  if (!answer.is_done) out.status = kUnprocessable;
  return out;
}

Answer post_config(const Sources& sources, const Question& asked) {
  const Result<report::ConfigOrder> order = report::parse_config_order(asked.request.body);
  if (!order.ok()) return {400, order.error().message + "\n"};
  return outcome(sources.change_config(*order, asked.request.peer));
}

Answer post_rules(const Sources& sources, const Question& asked) {
  const Result<report::RuleOrder> order = report::parse_rule_order(asked.request.body);
  if (!order.ok()) return {400, order.error().message + "\n"};
  return outcome(sources.change_rules(*order, asked.request.peer));
}

}  // namespace

void add_orders(const SharedSources& shared, std::vector<httpd::Route>& out) {
  const std::size_t before = out.size();
  if (shared->warm && shared->warmed) {
    out.push_back({"/api/warm", "the warmed keys, as JSON; POST: warm keys", Pace::kSlow,
                   page_of(shared, get_warm, {"search"}), page_of(shared, post_warm)});
    out.push_back({"/api/warm/end", "the warmed keys, as JSON; POST: stop warming keys",
                   Pace::kSlow, page_of(shared, get_warm, {"search"}),
                   page_of(shared, post_warm_end)});
  }
  if (shared->drop) {
    out.push_back({"/api/copies/drop", "POST: drop the local copies of a key", Pace::kSlow,
                   page_of(shared, get_drop), page_of(shared, post_drop)});
  }
  if (shared->config && shared->change_config && shared->change_rules) {
    out.push_back({"/api/config", "the configuration that holds now, as JSON; POST: change it",
                   Pace::kSlow, page_of(shared, get_config), page_of(shared, post_config)});
    out.push_back({"/api/rules", "the same; POST: add or remove a rule", Pace::kSlow,
                   page_of(shared, get_config), page_of(shared, post_rules)});
  }
  if (shared->sums && shared->matches) {
    out.push_back({"/api/rules/dry-run", "what a rule would have matched, as JSON: ?match=cart:*",
                   Pace::kSlow, page_of(shared, get_dry_run, {"match", "from", "to"})});
  }
  if (out.size() > before) out.push_back(httpd::access_route());
}

}  // namespace heatsink::admin
