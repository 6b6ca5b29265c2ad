// SPDX-License-Identifier: Apache-2.0
#include "heatsink/policy/difference.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string_view>
#include <utility>

#include "heatsink/base/option_list.h"
#include "heatsink/base/printable.h"
#include "heatsink/net/net.h"

namespace heatsink::policy {
namespace {

using Kind = OptionChange::Kind;

constexpr std::string_view kUrl = "upstream.url";
constexpr std::string_view kToken = "admin.token";
constexpr std::string_view kWebhook = "alerts.webhook";
constexpr std::string_view kCommand = "alerts.command";
constexpr std::size_t kRuleLabelBytes = 128;

// A set of rows needs a place for its values that it may write to.
template <class T>
struct Rows {
  explicit Rows(const T& values) : copy(values) { copy.describe(set); }
  Rows(const Rows&) = delete;

  std::string text(std::size_t i) const { return set.value_text(set.rows()[i]); }

  T copy;
  OptionSet set;
};

// Where the server is, and as whom the proxy logs in: all but the password.
std::string place(const std::string& text) {
  Result<net::RedisUrl> url = net::parse_upstream_url(text);
  if (!url.ok()) return text;
  url->password.clear();
  return url->display() + " " + url->user + " " + std::to_string(url->db);
}

std::string hidden_url(const std::string& text) {
  const Result<net::RedisUrl> url = net::parse_upstream_url(text);
  return url.ok() ? url->redacted() : text;
}

// Calls `visit` with the name and value of each row that the item sets.
template <class T, class Visit>
void for_each_setting(const T& item, Visit visit) {
  const Rows<T> rows(item);
  const Rows<T> unset{T()};
  for (std::size_t i = 0; i < rows.set.rows().size(); ++i) {
    if (rows.text(i) != unset.text(i)) visit(rows.set.rows()[i].name, rows.text(i));
  }
}

// The values that the item sets, without the row named `but`.
template <class T>
std::string settings(const T& item, std::string_view but) {
  std::string out;
  for_each_setting(item, [&](const std::string& name, const std::string& value) {
    if (name != but) out += (out.empty() ? "" : ",") + name + "=" + value;
  });
  return out;
}

void compare_options(const ProxyOptions& before, const ProxyOptions& after,
                     std::vector<OptionChange>& changes) {
  const Rows<ProxyOptions> old(before);
  const Rows<ProxyOptions> now(after);
  for (std::size_t i = 0; i < old.set.rows().size(); ++i) {
    const OptionRow& row = old.set.rows()[i];
    OptionChange change{Kind::kSet, row.name, old.text(i), now.text(i), row.needs_restart};
    if (change.before == change.after) continue;
    if (row.name == kUrl) {
      change.needs_restart = place(before.upstream) != place(after.upstream);
      change.before = hidden_url(before.upstream);
      change.after = hidden_url(after.upstream);
    }
    if (row.name == kToken || row.name == kWebhook) {
      for (std::string* const text : {&change.before, &change.after})
        if (!text->empty()) *text = net::kHiddenPassword;
    }
    if (row.name == kCommand) {
      change.before = before.alerts.shown_command();
      change.after = after.alerts.shown_command();
    }
    changes.push_back(std::move(change));
  }
}

// The rules by match, in the order of the list.
using ByMatch = std::map<std::string, std::vector<const RuleOptions*>>;
ByMatch by_match(const std::deque<RuleOptions>& rules) {
  ByMatch out;
  for (const RuleOptions& rule : rules) out[rule.match].push_back(&rule);
  return out;
}

std::vector<std::string> matches(const std::deque<RuleOptions>& rules) {
  std::vector<std::string> out;
  out.reserve(rules.size());
  for (const RuleOptions& rule : rules) out.push_back(rule.match);
  return out;
}

class RuleComparison {
 public:
  RuleComparison(const std::deque<RuleOptions>& before, const std::deque<RuleOptions>& after,
                 const ShownName& shown)
      : before_(before), after_(after), shown_(shown) {}

  void append(std::vector<OptionChange>& changes) const {
    const std::size_t known = changes.size();
    ByMatch left = by_match(before_);
    for (const RuleOptions& rule : after_) {
      std::vector<const RuleOptions*>& same = left[rule.match];
      if (same.empty()) {
        add(changes, Kind::kAdded, rule, "", settings(rule, "match"));
        continue;
      }
      const RuleOptions& was = *same.front();
      same.erase(same.begin());
      if (!(was == rule))
        add(changes, Kind::kSet, rule, settings(was, "match"), settings(rule, "match"));
    }
    for (const RuleOptions& rule : before_) {
      std::vector<const RuleOptions*>& rest = left[rule.match];
      if (std::find(rest.begin(), rest.end(), &rule) != rest.end())
        add(changes, Kind::kRemoved, rule, settings(rule, "match"), "");
    }
    if (changes.size() == known && matches(before_) != matches(after_))
      changes.push_back({Kind::kSet, "rules", "one order", "another order", false});
  }

 private:
  void add(std::vector<OptionChange>& changes, Kind kind, const RuleOptions& rule,
           std::string before, std::string after) const {
    changes.push_back(
        {kind, "rule " + rule_label(rule, shown_), std::move(before), std::move(after), false});
  }

  const std::deque<RuleOptions>& before_;
  const std::deque<RuleOptions>& after_;
  const ShownName& shown_;
};

void compare_warmings(const std::deque<WarmingOptions>& before,
                      const std::deque<WarmingOptions>& after, const ShownName& shown,
                      std::vector<OptionChange>& changes) {
  const auto text = [&shown](WarmingOptions item) {
    if (shown && !item.key.empty()) item.key = shown(item.key);
    return settings(item, "");
  };
  for (std::size_t i = 0; i < std::max(before.size(), after.size()); ++i) {
    const std::string name = "warming " + std::to_string(i + 1);
    if (i >= before.size()) {
      changes.push_back({Kind::kAdded, name, "", text(after[i]), false});
    } else if (i >= after.size()) {
      changes.push_back({Kind::kRemoved, name, text(before[i]), "", false});
    } else if (!(before[i] == after[i])) {
      changes.push_back({Kind::kSet, name, text(before[i]), text(after[i]), false});
    }
  }
}

// A value of --rule: in double quotes if it has a comma, or begins with a double quote.
std::string item_value(const std::string& value) {
  if (value.find(',') == std::string::npos && !value.starts_with('"')) return value;
  std::string out = "\"";
  for (const char c : value) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string yaml_quoted(const std::string& value) {
  std::string out = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string quoted(const std::string& value) { return value.empty() ? "nothing" : value; }

}  // namespace

std::vector<OptionChange> difference(const ProxyOptions& before, const ProxyOptions& after,
                                     const ShownName& shown) {
  std::vector<OptionChange> changes;
  compare_options(before, after, changes);
  RuleComparison(before.rules, after.rules, shown).append(changes);
  compare_warmings(before.warming, after.warming, shown, changes);
  return changes;
}

std::string change_text(const OptionChange& change) {
  std::string out = change.name;
  switch (change.kind) {
    case Kind::kAdded:
      out += " added: " + quoted(change.after);
      break;
    case Kind::kRemoved:
      out += " removed (" + quoted(change.before) + ")";
      break;
    case Kind::kSet:
      out += change.before == change.after
                 ? " changed"
                 : ": " + quoted(change.before) + " -> " + quoted(change.after);
      break;
  }
  return change.needs_restart ? out + " (needs a restart)" : out;
}

ProxyOptions without_restarts(const ProxyOptions& running, const ProxyOptions& wanted) {
  const Rows<ProxyOptions> old(running);
  ProxyOptions out = wanted;
  OptionSet rows;
  out.describe(rows);
  for (std::size_t i = 0; i < old.set.rows().size(); ++i) {
    const OptionRow& row = old.set.rows()[i];
    const bool is_password = row.name == kUrl && place(running.upstream) == place(wanted.upstream);
    if (row.needs_restart && !is_password) static_cast<void>(rows.set(row.name, old.text(i)));
  }
  return out;
}

std::string rule_text(const RuleOptions& rule) {
  std::string out;
  for_each_setting(rule, [&out](const std::string& name, const std::string& value) {
    out += (out.empty() ? "" : ",") + name + "=" + item_value(value);
  });
  return out;
}

std::string rule_line(const RuleOptions& rule) {
  std::string out;
  for_each_setting(rule, [&out](const std::string& name, const std::string& value) {
    out += (out.empty() ? "" : ", ") + name + ": " + yaml_quoted(value);
  });
  return "{" + out + "}";
}

std::string rule_label(const RuleOptions& rule, const ShownName& shown) {
  const bool is_one_key = detect::KeyPattern(rule.match).kind() == detect::KeyPattern::Kind::kExact;
  return printable(shown && is_one_key ? shown(rule.match) : rule.match, kRuleLabelBytes);
}

}  // namespace heatsink::policy
