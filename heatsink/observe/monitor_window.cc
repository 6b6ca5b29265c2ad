// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/monitor_window.h"

#include <algorithm>
#include <utility>

#include "heatsink/base/hash.h"

namespace heatsink::observe {
namespace {

constexpr std::size_t kTalliedKeys = 50;

// "127.0.0.1:60866" -> "127.0.0.1", "[::1]:7" -> "[::1]": a client may have many connections, each
// with its own port.
std::string_view without_port(std::string_view address) {
  const std::size_t colon = address.rfind(':');
  return address.starts_with("unix:") || colon == std::string_view::npos
             ? address.substr(0, detect::kTallyBytesMax)
             : address.substr(0, std::min(colon, detect::kTallyBytesMax));
}

bool runs_script(std::string_view name) {
  return name == "eval" || name == "evalsha" || name == "eval_ro" || name == "evalsha_ro" ||
         name == "fcall" || name == "fcall_ro";
}

detect::RecorderOptions window_options(const MonitorNames& names, std::uint64_t seed) {
  detect::RecorderOptions options;
  options.memory_bytes = MonitorWindow::kRecorderBytes;
  options.template_bytes = MonitorWindow::kTemplateBytes;
  options.lossless_per_second = UINT64_MAX / 2;  // the recorder's time stands still here
  options.seed = seed;
  options.names = &names;
  return options;
}

}  // namespace

std::uint16_t MonitorNames::command_number(const resp::Command* command) {
  const auto [at, added] =
      command_numbers_.try_emplace(command, static_cast<std::uint16_t>(commands_.size()));
  if (added && commands_.size() < kNamesMax) commands_.push_back(command);
  return at->second < commands_.size() ? at->second : detect::kNoCommand;
}

std::uint32_t MonitorNames::client_number(std::string_view address) {
  const std::string client(without_port(address));
  const auto at = client_numbers_.find(client);
  if (at != client_numbers_.end()) return at->second;
  if (clients_.size() >= kNamesMax) return detect::kNoClient;
  clients_.push_back(client);
  return client_numbers_[client] = static_cast<std::uint32_t>(clients_.size() - 1);
}

std::string MonitorNames::command(std::uint16_t number) const {
  std::string name = number < commands_.size() ? commands_[number]->name : "?";
  std::ranges::transform(name, name.begin(), [](char c) {
    return c == '|' ? ' ' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return name;
}

std::string MonitorNames::client(std::uint32_t number) const {
  return number < clients_.size() ? clients_[number] : "?";
}

MonitorWindow::MonitorWindow(const resp::CommandTable& commands, MonitorNames& names,
                             OwnTraffic& own, std::uint64_t seed)
    : commands_(commands),
      names_(names),
      own_(own),
      seed_(seed),
      recorder_(window_options(names, seed)) {}

void MonitorWindow::take(std::string_view line, bool cut) {
  const auto head = resp::parse_monitor_head(line);
  if (!head || !resp::split_monitor_arguments(head->arguments, cut, text_, args_)) {
    ++unreadable_;
    return;
  }
  if (take_mark(*head)) return;
  ++lines_;
  if (first_ns_ == 0) first_ns_ = head->at_ns;
  last_ns_ = head->at_ns;
  record(*head);
}

bool MonitorWindow::take_mark(const resp::MonitorHead& head) {
  if (mark_.empty() || args_.size() != 2 || args_[1] != mark_) return false;
  mark_seen_ = true;
  mark_ns_ = head.at_ns;
  return true;
}

void MonitorWindow::record(const resp::MonitorHead& head) {
  const resp::Command* command = commands_.find(args_);
  if (command == nullptr || runs_script(command->name)) return;
  (void)resp::find_keys(*command, args_, keys_);
  const std::string_view only_key = keys_.size() == 1 ? args_[keys_[0].arg] : std::string_view();
  if (own_.is_own(head.client, command->name, only_key)) return;
  for (const resp::KeyRef& key : keys_) {
    detect::Access access;
    access.key = args_[key.arg];
    access.hash = in_db(hash_name(access.key, seed_), head.db);
    access.db = head.db;
    access.kind = key.write ? detect::AccessKind::kWrite : detect::AccessKind::kRead;
    access.command = names_.command_number(command);
    access.client = names_.client_number(head.client);
    recorder_.record(access, kNow);
    ++recorded_;
  }
  // The recorder keeps commands and clients only for the keys that were busiest at the last
  // summary. So the window asks early, and then at ever longer intervals.
  if (recorded_ < look_at_) return;
  (void)recorder_.summarize(kNow, kTalliedKeys);
  look_at_ *= 4;
}

detect::Summary MonitorWindow::summarize() { return recorder_.summarize(kNow, kKeysMax); }

}  // namespace heatsink::observe
