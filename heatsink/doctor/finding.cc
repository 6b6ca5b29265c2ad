// SPDX-License-Identifier: Apache-2.0
#include "heatsink/doctor/finding.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>

#include "heatsink/base/printable.h"
#include "heatsink/base/reference_table.h"

namespace heatsink::doctor {

const char* to_string(Level level) {
  switch (level) {
    case Level::kOk:
      return "ok";
    case Level::kNote:
      return "note";
    case Level::kWarning:
      return "warning";
    case Level::kError:
      return "error";
  }
  return "error";
}

std::size_t count_of(const Findings& findings, Level level) {
  return static_cast<std::size_t>(std::ranges::count(findings, level, &Finding::level));
}

namespace {

constexpr std::size_t kLevelColumns = 9, kCodeColumns = 18;
constexpr std::size_t kTextBytesMax = 2048;

const char* colour_of(Level level) {
  switch (level) {
    case Level::kOk:
      return "\x1b[32m";
    case Level::kNote:
      return "\x1b[36m";
    case Level::kWarning:
      return "\x1b[33m";
    case Level::kError:
      return "\x1b[31m";
  }
  return "";
}

std::string padded(std::string text, std::size_t columns) {
  text.resize(std::max(columns, text.size() + 1), ' ');
  return text;
}

// Lines for redis-cli begin with a command in capitals: "ACL SETUSER ...".
bool is_redis_command(const std::string& line) {
  return line.size() > 1 && std::isupper(static_cast<unsigned char>(line[0])) != 0 &&
         std::isupper(static_cast<unsigned char>(line[1])) != 0;
}

std::string clean(const std::string& text) { return one_line(text, kTextBytesMax); }

void append_finding(std::string& out, const Finding& finding, const TextOptions& options) {
  const std::string indent(kLevelColumns + kCodeColumns, ' ');
  const std::string level = padded(to_string(finding.level), kLevelColumns);
  const std::string first = level + padded(clean(finding.code), kCodeColumns);
  std::string block;
  append_wrapped(block, first, indent, clean(finding.what), options.columns);
  if (options.has_colour)
    block = colour_of(finding.level) + level + "\x1b[0m" + block.substr(level.size());
  out += block;
  if (!finding.cost.empty())
    append_wrapped(out, indent + "cost: ", indent + "  ", clean(finding.cost), options.columns);
  if (!finding.mend.empty())
    append_wrapped(out, indent + "mend: ", indent + "  ", clean(finding.mend), options.columns);
  if (!finding.paste.empty()) {
    out += indent + (is_redis_command(finding.paste) ? "redis-cli: " : "paste: ") +
           clean(finding.paste) + "\n";
  }
}

std::string counted(std::size_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

}  // namespace

std::string findings_text(const Findings& findings, std::size_t left_out,
                          const TextOptions& options) {
  std::string out;
  for (const Finding& finding : findings) append_finding(out, finding, options);
  out += fmt::format(
      "{}, {}, {}, {} ok", counted(count_of(findings, Level::kError), "error", "errors"),
      counted(count_of(findings, Level::kWarning), "warning", "warnings"),
      counted(count_of(findings, Level::kNote), "note", "notes"), count_of(findings, Level::kOk));
  if (left_out > 0)
    out += fmt::format("; {} not made, because the server gave no answer to them",
                       counted(left_out, "check", "checks"));
  return out + "\n";
}

std::string log_line(const Finding& finding) {
  std::string out = finding.code + ": " + finding.what;
  if (!finding.cost.empty()) out += ": " + finding.cost;
  if (!finding.mend.empty()) out += "; " + finding.mend;
  if (!finding.paste.empty()) out += ": " + finding.paste;
  return out;
}

namespace {

// Machines renew certificates when a third of their lifetime is left; people who renew them by hand
// want a fortnight.
constexpr int kDaysWarned = 14;
constexpr int kDaysNoted = 30;

constexpr std::size_t kDayBytes = 10;  // of "2026-11-21"

}  // namespace

Finding validity_finding(const std::string& what, const net::Certificate& certificate, WallTime now,
                         const std::string& renew) {
  const auto days = std::chrono::floor<std::chrono::days>(certificate.not_after - now).count();
  const std::string day = iso_time(certificate.not_after).substr(0, kDayBytes);
  const std::string named = what + " (" + printable(certificate.subject) + ")";
  if (now < certificate.not_before) {
    return {Level::kError, named + " is not valid yet", "TLS connections fail",
            "check the clock of this machine"};
  }
  if (days < 0) return {Level::kError, named + " expired on " + day, "TLS connections fail", renew};
  const std::string until = fmt::format("{} is valid until {}: {} days", named, day, days);
  if (days >= kDaysNoted) return {Level::kOk, until};
  return {days < kDaysWarned ? Level::kWarning : Level::kNote, until,
          "TLS connections fail from then on", renew};
}

}  // namespace heatsink::doctor
