// SPDX-License-Identifier: Apache-2.0
#include "heatsink/alerts/bodies.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <string_view>
#include <utility>

#include "heatsink/base/version.h"
#include "heatsink/report/json_values.h"

namespace heatsink::alerts {
namespace {

namespace json = boost::json;

bool is_of_key(const Alert& alert) {
  return alert.kind == Kind::kHot || alert.kind == Kind::kExtremelyHot ||
         alert.kind == Kind::kWriteHot;
}

// "extremely-hot" is "HeatsinkExtremelyHot", in the manner of Prometheus.
std::string alert_name(Kind kind) {
  std::string out = "Heatsink";
  bool begins = true;
  for (const char c : to_string(kind)) {
    if (c != '-') out += begins && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    begins = c == '-';
  }
  return out;
}

// "@channel" in a key's name must call no user, and "[a](b)" be no link (Mattermost).
constexpr std::string_view kMarkup = "@[]`*";
constexpr std::string_view kNoWidth = "\u200B";

std::string for_slack(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else {
      out += c;
      if (kMarkup.find(c) != std::string_view::npos) out += kNoWidth;
    }
  }
  return out;
}

const char* sign_of(const Notice& notice) {
  if (notice.is_over) return ":white_check_mark:";
  return severity_of(notice.alert.kind) == Severity::kCritical ? ":rotating_light:" : ":fire:";
}

json::object object_of(const Notice& notice, const Letterhead& head) {
  const Alert& alert = notice.alert;
  json::object out;
  out["kind"] = to_string(alert.kind);
  out["state"] = notice.is_over ? "resolved" : "firing";
  out["repeat"] = notice.is_repeat;
  out["severity"] = to_string(severity_of(alert.kind));
  out["summary"] = alert.summary;
  out["advice"] = alert.advice;
  out["since"] = head.time(alert.since);
  if (is_of_key(alert)) {
    out["key"] = alert.subject;
    out["db"] = alert.db;
    out["rate"] = report::number(alert.rate);
    out["share"] = report::number(alert.share);
  } else if (!alert.subject.empty()) {
    out["server"] = alert.subject;
  }
  return out;
}

}  // namespace

std::string Letterhead::time(TimePoint moment) const {
  return iso_time(wall - std::chrono::duration_cast<WallTime::duration>(boot - moment));
}

std::string json_body(const std::vector<Notice>& notices, const Letterhead& head) {
  json::object out;
  out["sender"] = std::string("heatsink ") + std::string(version());
  out["instance"] = head.instance;
  out["upstream"] = head.upstream;
  out["at"] = head.time(head.boot);
  json::array list;
  for (const Notice& notice : notices) list.push_back(object_of(notice, head));
  out["alerts"] = std::move(list);
  return json::serialize(out) + "\n";
}

std::string slack_body(const std::vector<Notice>& notices, const Letterhead& head) {
  std::string text;
  for (const Notice& notice : notices) {
    if (!text.empty()) text += "\n";
    const std::string is_over =
        notice.is_over ? "over (since " + head.time(notice.alert.since) + "): " : "";
    text += std::string(sign_of(notice)) + " " + is_over + for_slack(notice.alert.summary);
    if (!notice.is_over) text += "\n> " + for_slack(notice.alert.advice);
  }
  text += "\n_heatsink " + for_slack(head.instance) + ", server " + for_slack(head.upstream) + "_";
  return json::serialize(json::object{{"text", text}}) + "\n";
}

std::string alertmanager_body(const std::vector<Notice>& notices, const Letterhead& head) {
  json::array list;
  for (const Notice& notice : notices) {
    const Alert& alert = notice.alert;
    json::object labels{{"alertname", alert_name(alert.kind)},
                        {"severity", to_string(severity_of(alert.kind))},
                        {"instance", head.instance},
                        {"upstream", head.upstream},
                        {"job", "heatsink"}};
    if (is_of_key(alert)) {
      labels["key"] = alert.subject;
      labels["db"] = std::to_string(alert.db);
    } else if (!alert.subject.empty()) {
      labels["server"] = alert.subject;
    }
    json::object out;
    out["labels"] = std::move(labels);
    out["annotations"] = {{"summary", alert.summary}, {"description", alert.advice}};
    out["startsAt"] = head.time(alert.since);
    out["endsAt"] = head.time(notice.is_over ? head.boot : head.boot + kAlertmanagerHolds);
    list.push_back(std::move(out));
  }
  return json::serialize(list) + "\n";
}

std::string log_line(const Notice& notice) {
  const Alert& alert = notice.alert;
  const std::string name = "alert " + std::string(to_string(alert.kind)) + ": ";
  if (notice.is_over) return name + "it is over: " + alert.summary;
  return name + alert.summary + ": " + alert.advice;
}

}  // namespace heatsink::alerts
