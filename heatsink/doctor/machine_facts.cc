// SPDX-License-Identifier: Apache-2.0
#include "heatsink/doctor/machine_facts.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <sstream>
#include <system_error>
#include <vector>

#include "heatsink/base/process_limits.h"

namespace heatsink::doctor {
namespace {

constexpr Nanos kWatched = Millis(50);
constexpr const char* kGroups = "/sys/fs/cgroup";

std::uint64_t number_of(const std::string& path) {
  const std::string text = file_text(path);
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// The word between brackets: "always [madvise] never".
std::string chosen_of(const std::string& text) {
  const std::size_t begin = text.find('['), end = text.find(']');
  return begin < end && end != std::string::npos ? text.substr(begin + 1, end - begin - 1) : "";
}

std::string word_of(const std::string& path) {
  std::istringstream text(file_text(path));
  std::string word;
  text >> word;
  return word;
}

std::uint64_t local_ports() {
  std::istringstream text(file_text("/proc/sys/net/ipv4/ip_local_port_range"));
  std::uint64_t first = 0, last = 0;
  return text >> first >> last && last >= first ? last - first + 1 : 0;
}

ClockFacts look_at_clock() {
  ClockFacts clock;
  std::vector<Nanos> steps;
  steps.reserve(1U << 16U);
  const TimePoint begin = BootClock::now();
  for (TimePoint last = begin; last - begin < kWatched;) {
    const TimePoint now = BootClock::now();
    clock.went_back = clock.went_back || now < last;
    clock.longest_stop = std::max(clock.longest_stop, now - last);
    if (steps.size() < steps.capacity()) steps.push_back(now - last);
    last = std::max(now, last);
  }
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
  std::ranges::nth_element(steps, middle);
  clock.reading_cost = std::max(*middle, Nanos(1));
  clock.source = word_of("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  clock.stolen_share = stolen_share(file_text("/proc/stat"));
  for_each_control_group(kGroups, file_text("/proc/self/cgroup"), "cpu",
                         [&](const std::string& directory, bool /*unified*/) {
                           clock.throttled_share =
                               std::max(clock.throttled_share,
                                        throttled_share(file_text(directory + "/cpu.stat")));
                         });
  return clock;
}

FileFacts look_at_file(const char* option, const std::string& path, bool is_secret, bool is_cert) {
  FileFacts file{.option = option, .path = path, .is_secret = is_secret};
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || ::access(path.c_str(), R_OK) != 0) {
    file.problem = std::system_category().message(errno);
    return file;
  }
  file.permissions = status.st_mode & 0777U;
  if (!is_cert) return file;
  Result<net::Certificate> certificate = net::read_certificate(path);
  if (certificate.ok())
    file.certificate = std::move(certificate).value();
  else
    file.problem = certificate.error().message;
  return file;
}

std::vector<FileFacts> look_at_files(const policy::ProxyOptions& options) {
  const auto row = [](const char* option, const std::string& path, bool is_secret,
                      bool is_cert = false) {
    struct Row {
      const char* option;
      const std::string& path;
      bool is_secret, is_cert;
    };
    return Row{option, path, is_secret, is_cert};
  };
  std::vector<FileFacts> out;
  for (const auto& each :
       {row("proxy.tls-cert", options.tls_cert, false, true),
        row("proxy.tls-key", options.tls_key, true), row("proxy.tls-ca", options.tls_ca, false),
        row("upstream.password-file", options.upstream_password_file, true),
        row("upstream.sentinel-password-file", options.sentinel_password_file, true),
        row("upstream.tls-ca", options.upstream_tls_ca, false),
        row("upstream.tls-cert", options.upstream_tls_cert, false, true),
        row("upstream.tls-key", options.upstream_tls_key, true),
        row("admin.token-file", options.admin_token_file, true),
        row("privacy.redact-secret-file", options.redact_secret_file, true)})
    if (!each.path.empty())
      out.push_back(look_at_file(each.option, each.path, each.is_secret, each.is_cert));
  return out;
}

}  // namespace

// "cpu user nice system idle iowait irq softirq steal ..." (proc(5)).
double stolen_share(std::string_view stat) {
  std::istringstream words{std::string(stat.substr(0, stat.find('\n')))};
  std::string name;
  constexpr int kFields = 8;
  double sum = 0, stolen = 0;
  if (!(words >> name) || name != "cpu") return 0;
  for (int i = 0; i < kFields; ++i) {
    if (!(words >> stolen)) return 0;
    sum += stolen;
  }
  return sum > 0 ? stolen / sum : 0;
}

double throttled_share(std::string_view stat) {
  std::istringstream words{std::string(stat)};
  double periods = 0, throttled = 0, value = 0;
  for (std::string name; words >> name >> value;) {
    if (name == "nr_periods") periods = value;
    if (name == "nr_throttled") throttled = value;
  }
  return periods > 0 ? throttled / periods : 0;
}

MachineFacts look_at_machine(const policy::ProxyOptions& options) {
  MachineFacts out;
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
    out.open_files_max = files.rlim_cur;
    out.open_files_hard = files.rlim_max;
  }
  out.cpus = usable_cpus();
  out.memory = memory_limits();
  out.somaxconn = number_of("/proc/sys/net/core/somaxconn");
  out.syn_backlog = number_of("/proc/sys/net/ipv4/tcp_max_syn_backlog");
  out.local_ports = local_ports();
  out.overcommit = word_of("/proc/sys/vm/overcommit_memory");
  out.huge_pages = chosen_of(file_text("/sys/kernel/mm/transparent_hugepage/enabled"));
  out.clock = look_at_clock();
  out.files = look_at_files(options);
  out.now = std::chrono::system_clock::now();
  return out;
}

}  // namespace heatsink::doctor
