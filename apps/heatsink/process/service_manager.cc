// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/process/service_manager.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <system_error>
#include <utility>

#include "heatsink/base/log.h"
#include "heatsink/base/printable.h"

namespace heatsink::app {
namespace {

using std::chrono::microseconds;

std::string take_variable(const char* name) {
  const char* const found = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  if (found == nullptr) return "";
  std::string value = found;
  unsetenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value;
}

std::string system_text(int error) { return std::generic_category().message(error); }

std::optional<std::int64_t> whole_number(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// An abstract address begins with a zero byte instead of the @, and has no zero byte at its end.
Result<socklen_t> write_address(const std::string& socket, sockaddr_un& address) {
  if (socket.size() < 2 || (socket[0] != '/' && socket[0] != '@'))
    return Error{ErrorCode::kUnsupported, "neither an absolute path nor @ and a name"};
  if (socket.size() >= sizeof(address.sun_path))
    return Error{ErrorCode::kOutOfRange, "longer than an address of a Unix socket can be"};
  address.sun_family = AF_UNIX;
  std::copy(socket.begin(), socket.end(), address.sun_path);
  if (socket[0] == '@') address.sun_path[0] = '\0';
  const std::size_t end = socket[0] == '@' ? 0 : 1;
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket.size() + end);
}

Status send_datagram(const std::string& socket, const std::string& message) {
  sockaddr_un address{};
  const Result<socklen_t> size = write_address(socket, address);
  if (!size.ok()) return size.error();
  const int descriptor = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return Error{ErrorCode::kUnavailable, system_text(errno)};
  constexpr timeval kWait{
      std::chrono::duration_cast<std::chrono::seconds>(ServiceManager::kSendWithin).count(), 0};
  setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &kWait, sizeof(kWait));
  const ssize_t sent = sendto(descriptor, message.data(), message.size(), MSG_NOSIGNAL,
                              reinterpret_cast<const sockaddr*>(&address), *size);
  const int why = errno;
  close(descriptor);
  if (sent < 0) return Error{ErrorCode::kUnavailable, system_text(why)};
  return Unit{};
}

// One line: the protocol ends a value at a line feed.
std::string status_line(std::string_view status) {
  return "STATUS=" + one_line(status.substr(0, ServiceManager::kStatusBytesMax));
}

template <class Unit>
std::string count_of(Nanos time) {
  return std::to_string(std::chrono::duration_cast<Unit>(time).count());
}

}  // namespace

ServiceEnvironment ServiceEnvironment::take() {
  ServiceEnvironment taken;
  taken.socket = take_variable("NOTIFY_SOCKET");
  const std::string usec = take_variable("WATCHDOG_USEC");
  const std::string pid = take_variable("WATCHDOG_PID");
  if (usec.empty()) return taken;
  if (!pid.empty() && whole_number(pid) != getpid()) return taken;  // meant for another process
  const std::optional<std::int64_t> limit = whole_number(usec);
  if (!limit || *limit <= 0 || *limit > microseconds(std::chrono::hours(24 * 365)).count()) {
    taken.problem = "WATCHDOG_USEC is '" + printable(usec, 32) +
                    "', which is no number of microseconds up to a year, "
                    "so the service manager gets no signs of life";
    return taken;
  }
  taken.watchdog = microseconds(*limit);
  return taken;
}

std::vector<std::string> ServiceEnvironment::of_successor() const {
  std::vector<std::string> variables;
  if (!socket.empty()) variables.push_back("NOTIFY_SOCKET=" + socket);
  if (watchdog > Nanos(0)) variables.push_back("WATCHDOG_USEC=" + count_of<microseconds>(watchdog));
  return variables;
}

ServiceManager::ServiceManager(ServiceEnvironment environment)
    : environment_(std::move(environment)) {
  if (!environment_.problem.empty()) log(LogLevel::kWarning, environment_.problem);
}

void ServiceManager::ready(std::string_view status) const {
  send("READY=1\n" + status_line(status));
}

void ServiceManager::reloading(Nanos monotonic) const {
  send("RELOADING=1\nMONOTONIC_USEC=" + count_of<microseconds>(monotonic));
}

void ServiceManager::stopping(Nanos within) const {
  send("STOPPING=1\nEXTEND_TIMEOUT_USEC=" + count_of<microseconds>(within));
}

void ServiceManager::status(std::string_view status) const { send(status_line(status)); }

void ServiceManager::main_process(pid_t pid) const { send("MAINPID=" + std::to_string(pid)); }

void ServiceManager::watchdog() const { send("WATCHDOG=1"); }

void ServiceManager::send(const std::string& message) const {
  if (environment_.socket.empty()) return;
  const Status sent = send_datagram(environment_.socket, message);
  if (sent.ok()) return;
  log_limited(LogLevel::kWarning, "service manager",
              "cannot tell the service manager " + message.substr(0, message.find('\n')) +
                  ": NOTIFY_SOCKET '" + printable(environment_.socket, 128) +
                  "': " + sent.error().message,
              BootClock::now());
}

Nanos monotonic_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::chrono::seconds(now.tv_sec) + Nanos(now.tv_nsec);
}

}  // namespace heatsink::app
