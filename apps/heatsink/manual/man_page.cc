// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/manual/man_page.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "apps/heatsink/manual/roff.h"
#include "heatsink/base/option_list.h"

namespace heatsink::app {
namespace {

constexpr std::string_view kCommands = "User Commands";
constexpr std::string_view kFile = "/etc/heatsink/heatsink.yaml";

Roff begin(std::string_view title, std::string_view section, std::string_view manual,
           const Edition& edition) {
  std::string upper(title);
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return Roff(upper, section, edition.date, "heatsink " + edition.version, manual);
}

// "Runs the proxy: finds ... copies." becomes "runs the proxy: finds ... copies".
std::string as_clause(std::string text) {
  if (!text.empty() && text.back() == '.') text.pop_back();
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : std::string(between)) + word;
  return out;
}

std::string placeholder(const FlagFacts& argument) {
  const std::string name = argument.name + (argument.repeats ? " ..." : "");
  return argument.required ? name : "[" + name + "]";
}

std::string arguments_of(const CommandFacts& command) {
  std::string out = "[OPTIONS]";
  for (const FlagFacts& argument : command.arguments) out += " " + placeholder(argument);
  return out;
}

std::string sentence_of(const FlagFacts& flag) {
  std::string out = flag.help + ".";
  if (!flag.bounds.empty()) out += " Allowed: " + flag.bounds + ".";
  if (!flag.choices.empty()) out += " One of: " + joined(flag.choices, ", ") + ".";
  if (!flag.default_text.empty()) out += " Default: " + flag.default_text + ".";
  return out;
}

void add_flags(Roff& page, const CommandFacts& command) {
  for (const FlagFacts& argument : command.arguments)
    page.item(argument.name, "", sentence_of(argument));
  for (const FlagFacts& flag : command.flags) {
    const std::string before = flag.short_name.empty() ? "" : flag.short_name + ", ";
    page.item(before + flag.name, flag.value, sentence_of(flag));
  }
}

void add_exit_status(Roff& page, const std::string& footer) {
  page.section("EXIT STATUS");
  page.item("0", "", "Done.");
  page.item("1", "", "It ran and failed; the standard error output says why.");
  page.item("2", "", "The command line or the configuration is wrong.");
  if (!footer.empty()) page.paragraph(footer);
}

std::string default_and_bounds(const OptionSet& set, const OptionRow& row) {
  const std::string bounds = set.bounds_text(row);
  const std::string value = set.default_text(row);
  return "Default: " + (value.empty() ? "''" : value) + "." +
         (bounds.empty() ? "" : " Allowed: " + bounds + ".");
}

void add_options(Roff& page, const OptionSet& set) {
  for (const OptionRow& row : set.rows())
    page.item(row.name, "", row.help + " " + default_and_bounds(set, row));
}

void add_groups(Roff& page, const OptionSet& options) {
  std::string group;
  for (const OptionRow& row : options.rows()) {
    const std::string of = row.name.substr(0, row.name.find('.'));
    if (of != group) page.subsection(of);
    group = of;
    page.item(row.name, "", row.help + " " + default_and_bounds(options, row));
  }
  for (const auto& list : options.lists()) {
    page.subsection(list->row().name);
    page.paragraph(list->row().help + " A list of at most " +
                   std::to_string(OptionListRow::kItemsMax) + ". Each " + list->row().item +
                   " may have:");
    add_options(page, list->sample());
  }
}

}  // namespace

ManualPage program_page(const std::vector<CommandFacts>& commands, const Edition& edition) {
  Roff page = begin("heatsink", "1", kCommands, edition);
  page.name("heatsink",
            "finds the hot keys of a Redis or Valkey server and serves them from copies");
  page.section("SYNOPSIS");
  page.synopsis("heatsink", "VERB [OPTIONS]");
  page.synopsis("heatsink", "--version");
  page.section("DESCRIPTION");
  page.paragraph(
      "heatsink is a transparent proxy for Redis and Valkey. It finds hot keys "
      "and answers their reads from local copies that stay coherent with the server. "
      "Its other verbs look at keys, in a running proxy or in any server.");
  page.section("VERBS");
  std::string pages;
  for (const CommandFacts& command : commands) {
    page.item(command.name, "", command.summary);
    pages += "heatsink-" + command.name + "(1), ";
  }
  add_exit_status(page, "");
  page.section("ENVIRONMENT");
  page.item("HEATSINK_UPSTREAM_PASSWORD", "", "The password of the proxy for the server.");
  page.item("REDISCLI_AUTH", "", "The password of the verbs that look at a server.");
  page.item("NO_COLOR", "", "If it is set, no colours are used.");
  page.item("NOTIFY_SOCKET", "", "Where heatsink proxy tells a service manager how it is doing.");
  page.section("FILES");
  page.item(kFile, "", "The configuration of the service heatsink; heatsink.yaml(5).");
  page.section("SEE ALSO");
  page.paragraph(pages + "heatsink.yaml(5), heatsink-metrics(7), redis-server(1)");
  return {"heatsink.1", page.text()};
}

ManualPage command_page(const CommandFacts& command, const Edition& edition) {
  const std::string name = "heatsink-" + command.name;
  Roff page = begin(name, "1", kCommands, edition);
  page.name(name, as_clause(command.summary));
  page.section("SYNOPSIS");
  const std::string line = "heatsink " + command.name;
  if (command.commands.empty()) page.synopsis(line, arguments_of(command));
  for (const CommandFacts& each : command.commands)
    page.synopsis(line + " " + each.name, arguments_of(each));
  page.section("DESCRIPTION");
  page.paragraph(command.description);
  page.section("OPTIONS");
  add_flags(page, command);
  for (const CommandFacts& each : command.commands) {
    page.subsection(line + " " + each.name);
    page.paragraph(each.description + ".");
    add_flags(page, each);
  }
  add_exit_status(page, command.footer);
  page.section("SEE ALSO");
  page.paragraph("heatsink(1), heatsink.yaml(5)");
  return {name + ".1", page.text()};
}

ManualPage file_page(const OptionSet& options, const Edition& edition) {
  Roff page = begin("heatsink.yaml", "5", "File Formats", edition);
  page.name("heatsink.yaml", "configuration file of heatsink proxy");
  page.section("SYNOPSIS");
  page.synopsis("heatsink proxy --config", kFile);
  page.synopsis("heatsink config check", kFile);
  page.section("DESCRIPTION");
  page.paragraph(
      "A YAML file. Each option may stand in it, nested in its group or with a dot, "
      "and on the command line as --set OPTION=VALUE, which takes precedence. "
      "An option that is not there has its default. "
      "A fault is an error: heatsink config check prints all of them.");
  page.paragraph(
      "A duration has a unit (us, ms, s, m, h), as has a size (b, kb, mb, gb, powers of 1024). "
      "A share is 2% or 0.02. A boolean is true or false, also yes, no, on, off.");
  page.section("EXAMPLE");
  page.example(
      "proxy:\n  listen: 0.0.0.0:6380\nupstream:\n  url: redis://redis.example:6379\n"
      "cache.maximum-bytes: 256mb\nrules:\n  - {match: \"session:*\", level: off}\n");
  page.section("OPTIONS");
  add_groups(page, options);
  page.section("FILES");
  page.item(kFile, "", "What the service heatsink reads. Keep passwords in files of their own.");
  page.section("SEE ALSO");
  page.paragraph("heatsink(1), heatsink-config(1), heatsink-proxy(1)");
  return {"heatsink.yaml.5", page.text()};
}

ManualPage metrics_page(MetricRows rows, const Edition& edition) {
  std::ranges::stable_sort(rows, {}, &MetricRow::name);
  // Not std::ranges::unique: clang 14 cannot compile g++ 12's subrange.
  const auto has_same_name = [](const MetricRow* a, const MetricRow* b) {
    return a->name == b->name;
  };
  rows.erase(std::unique(rows.begin(), rows.end(), has_same_name), rows.end());
  Roff page = begin("heatsink-metrics", "7", "Miscellaneous Information", edition);
  page.name("heatsink-metrics", "metrics of heatsink proxy and of its library");
  page.section("DESCRIPTION");
  page.paragraph(
      "GET /metrics of the admin API answers in the text format of Prometheus. "
      "Counters start at 0 with the process. Times are in seconds, sizes in bytes.");
  page.section("METRICS");
  for (const MetricRow* row : rows) {
    const std::string labels = row->labels.empty() ? "" : "{" + std::string(row->labels) + "}";
    page.item(std::string(row->name) + labels, to_string(row->kind), row->help);
  }
  page.section("SEE ALSO");
  page.paragraph("heatsink(1), heatsink-proxy(1)");
  return {"heatsink-metrics.7", page.text()};
}

}  // namespace heatsink::app
