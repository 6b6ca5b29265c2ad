// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "heatsink/base/printable.h"
#include "heatsink/base/units.h"
#include "heatsink/doctor/check.h"

namespace heatsink::doctor {
namespace {

// Beside clients and private connections: per worker two shared connections, a listener, an epoll
// and an event descriptor, and some idle private connections.
constexpr std::int64_t kFilesPerWorker = 8;
constexpr std::int64_t kOtherFiles = 128;  // the keeper, the admin API, the log, libraries

std::int64_t workers_of(const Facts& facts) {
  if (facts.options.workers > 0) return facts.options.workers;
  const auto cpus = static_cast<std::int64_t>(std::ceil(facts.machine.cpus));
  return std::clamp<std::int64_t>(cpus, 1, policy::ProxyOptions::kWorkersMax);
}

void check_open_files(const Facts& facts, Findings& out) {
  const policy::ProxyOptions& options = facts.options;
  const std::uint64_t most = facts.machine.open_files_max;
  if (most == 0) return;
  const std::int64_t others = workers_of(facts) * kFilesPerWorker + kOtherFiles;
  const auto clients = static_cast<std::uint64_t>(options.clients_max + others);
  const std::uint64_t all = clients + static_cast<std::uint64_t>(options.private_connections_max);
  if (most >= all) {
    out.push_back(
        {Level::kOk, fmt::format("{} open files are allowed, {} may be needed", most, all)});
    return;
  }
  const std::string said = fmt::format(
      "{} open files are allowed; "
      "proxy.maximum-clients {} and proxy.maximum-private-connections {} may need {}",
      most, options.clients_max, options.private_connections_max, all);
  const bool can_raise = facts.machine.open_files_hard >= all;
  out.push_back({most < clients ? Level::kWarning : Level::kNote, said,
                 "past the limit the proxy accepts no client and opens no connection to the server",
                 can_raise ? "raise the limit of the proxy's service (LimitNOFILE= in its unit), "
                             "or of the shell that starts it"
                           : "raise the hard limit, too: LimitNOFILE= in the proxy's unit, "
                             "or /etc/security/limits.conf",
                 fmt::format("ulimit -n {}", all)});
}

void check_backlog(const Facts& facts, Findings& out) {
  constexpr std::uint64_t kBacklog = 1024;  // the default of net::listen_tcp()
  const MachineFacts& machine = facts.machine;
  if (machine.somaxconn == 0) return;
  if (machine.somaxconn >= kBacklog && (machine.syn_backlog == 0 || machine.syn_backlog >= 512)) {
    out.push_back({Level::kOk, fmt::format("somaxconn {}, tcp_max_syn_backlog {}",
                                           machine.somaxconn, machine.syn_backlog)});
    return;
  }
  out.push_back({Level::kNote,
                 fmt::format("somaxconn is {}, tcp_max_syn_backlog is {}; "
                             "the proxy's queue of new clients has {} places",
                             machine.somaxconn, machine.syn_backlog, kBacklog),
                 "when many clients connect at once, some of them wait a second or more",
                 "raise both",
                 "sysctl -w net.core.somaxconn=4096 net.ipv4.tcp_max_syn_backlog=4096"});
}

void check_ports(const Facts& facts, Findings& out) {
  const std::uint64_t ports = facts.machine.local_ports;
  if (ports == 0 || !facts.upstream.unix_path.empty()) return;
  const auto needed = static_cast<std::uint64_t>(facts.options.private_connections_max);
  if (needed <= ports) {
    out.push_back({Level::kOk, fmt::format("{} local ports for connections to the server", ports)});
    return;
  }
  out.push_back(
      {Level::kNote,
       fmt::format("ip_local_port_range has {} ports; proxy.maximum-private-connections is {}",
                   ports, needed),
       "past it no connection to the server can be opened", "widen the range",
       "sysctl -w net.ipv4.ip_local_port_range='1024 65535'"});
}

std::string mebibytes_text(std::uint64_t bytes) { return fmt::format("{} MiB", bytes >> 20U); }

void check_memory(const Facts& facts, Findings& out) {
  const policy::ProxyOptions& options = facts.options;
  const MemoryLimits& limits = facts.machine.memory;
  std::uint64_t most = limits.machine;
  if (limits.control_group != 0 && (most == 0 || limits.control_group < most))
    most = limits.control_group;
  if (most == 0) return;
  const std::uint64_t buffers = options.maximum_memory.count != 0 ? options.maximum_memory.count
                                                                  : share_for_buffers(limits).count;
  constexpr std::uint64_t kPerClient = 4096;               // idle
  constexpr std::uint64_t kPerKey = 300;                   // as cache.maximum-size says
  constexpr std::uint64_t kProgram = 32ULL * 1024 * 1024;  // threads, code, tables
  const std::uint64_t needed =
      buffers + options.maximum_bytes.count + options.detection_memory.count +
      static_cast<std::uint64_t>(options.clients_max) * kPerClient +
      static_cast<std::uint64_t>(options.maximum_size) * kPerKey + kProgram;
  const std::string said = fmt::format(
      "{} of memory; the proxy may use up to {} (buffers {}, copies {})", mebibytes_text(most),
      mebibytes_text(needed), mebibytes_text(buffers), mebibytes_text(options.maximum_bytes.count));
  if (needed <= most) {
    out.push_back({Level::kOk, said});
    return;
  }
  out.push_back({Level::kWarning, said,
                 limits.control_group == most ? "the control group kills the proxy when it is full"
                                              : "the machine swaps, or kills the proxy",
                 "raise the memory limit, or lower proxy.maximum-memory and cache.maximum-bytes",
                 fmt::format("proxy: {{maximum-memory: {}mb}}",
                             std::max<std::uint64_t>(most / 4, 1U << 20U) >> 20U)});
}

void check_cpus(const Facts& facts, Findings& out) {
  const double cpus = facts.machine.cpus;
  if (cpus <= 0) return;
  const std::int64_t workers = workers_of(facts);
  const std::string said =
      fmt::format("{:.4g} CPUs, {} {}", cpus, workers, workers == 1 ? "worker" : "workers");
  if (static_cast<double>(workers) > std::ceil(cpus)) {
    out.push_back({Level::kNote, said + " (proxy.workers)",
                   "workers wait for each other, and heartbeats come late under load",
                   "let the proxy choose", "proxy: {workers: 0}", "workers"});
  } else if (cpus < 1) {
    out.push_back({Level::kWarning, said,
                   "the control group stops all threads for most of each 100 ms under load: "
                   "slow requests, late heartbeats, no copies meanwhile",
                   "give it a whole CPU, or no quota (requests instead of limits in Kubernetes)",
                   "", "quota"});
  } else {
    out.push_back({Level::kOk, said});
  }
}

void check_clock(const Facts& facts, Findings& out) {
  constexpr Nanos kSlowReading(500);
  const ClockFacts& clock = facts.machine.clock;
  if (clock.reading_cost == Nanos(0)) return;
  const std::string source = clock.source.empty() ? "" : " (" + printable(clock.source) + ")";
  if (clock.went_back) {
    out.push_back({Level::kError, "CLOCK_BOOTTIME went back" + source,
                   "the age of copies cannot be known, so reads may be stale",
                   "switch copies off on this machine, and report its kernel and hypervisor",
                   "heatsink proxy --set cache.enabled=false"});
  } else if (clock.reading_cost > kSlowReading) {
    out.push_back(
        {Level::kNote,
         fmt::format("reading the clock takes {} ns{}", clock.reading_cost.count(), source),
         "each batch of requests reads it once: a few percent of the CPU time",
         "let the machine use the processor's clock",
         "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource"});
  } else {
    out.push_back({Level::kOk, fmt::format("the clock never went back; reading it takes {} ns{}",
                                           clock.reading_cost.count(), source)});
  }
}

void check_stops(const Facts& facts, Findings& out) {
  constexpr double kStolenNoted = 0.05, kThrottledNoted = 0.05;
  const ClockFacts& clock = facts.machine.clock;
  if (clock.reading_cost == Nanos(0)) return;
  const Nanos staleness = facts.options.max_staleness;
  const std::size_t before = out.size();
  if (clock.longest_stop * 2 > staleness) {
    out.push_back({Level::kWarning,
                   fmt::format("this process stood still for {} ms",
                               std::chrono::duration_cast<Millis>(clock.longest_stop).count()),
                   "heartbeats come too late, so reads go to the server instead of copies",
                   "give the machine a CPU that is free", "", "stop"});
  }
  if (clock.stolen_share > kStolenNoted) {
    out.push_back({Level::kNote,
                   fmt::format("the hypervisor gave {:.0f} % of the CPU time to others (steal)",
                               100 * clock.stolen_share),
                   "requests stand still for milliseconds", "use a machine with reserved CPUs", "",
                   "steal"});
  }
  if (clock.throttled_share > kThrottledNoted) {
    out.push_back(
        {Level::kNote,
         fmt::format("the control group's CPU quota was used up in {:.0f} % of its periods",
                     100 * clock.throttled_share),
         "all threads stand still for the rest of each such period (100 ms)",
         "raise the quota, or remove it", "", "quota"});
  }
  if (out.size() == before) out.push_back({Level::kOk, "CPU time is there when it is needed"});
}

void check_server_host(const Facts& facts, Findings& out) {
  if (!facts.server.is_local) return;
  const MachineFacts& machine = facts.machine;
  const std::size_t before = out.size();
  const std::optional<std::string> save = facts.server.config("save");
  const bool forks = (save && !save->empty()) || facts.server.info("aof_enabled") == "1" ||
                     facts.server.info_number("connected_slaves").value_or(0) > 0;
  if (forks && machine.overcommit != "1" && !machine.overcommit.empty()) {
    out.push_back({Level::kNote, "vm.overcommit_memory is " + printable(machine.overcommit),
                   "snapshots of the server on this machine fail when memory is short, "
                   "and then it refuses writes",
                   "allow it", "sysctl -w vm.overcommit_memory=1", "overcommit"});
  }
  if (forks && machine.huge_pages == "always") {
    out.push_back(
        {Level::kNote, "transparent huge pages are always on",
         "the server on this machine stands still longer after each fork(), for snapshots",
         "use them only where a program asks",
         "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled", "huge-pages"});
  }
  if (out.size() == before && (save || !facts.server.info("aof_enabled").empty()))
    out.push_back({Level::kOk, "kernel settings suit the server on this machine"});
}

std::string mode_text(std::uint32_t permissions) { return fmt::format("{:o}", permissions); }

void check_file(const FileFacts& file, WallTime now, Findings& out) {
  constexpr std::uint32_t kOthers = 077;
  const std::string named = file.option + " '" + printable(file.path) + "'";
  if (!file.problem.empty()) {
    out.push_back({Level::kError, named + ": " + one_line(file.problem), "the proxy does not start",
                   "check the path and its permissions", "ls -l " + printable(file.path),
                   file.option});
    return;
  }
  if (file.is_secret && (file.permissions & kOthers) != 0) {
    out.push_back({Level::kWarning, named + " has mode " + mode_text(file.permissions),
                   "other users of this machine can read the secret",
                   "let only the proxy's user read it", "chmod 600 " + printable(file.path),
                   file.option});
  }
  if (file.certificate) {
    Finding finding = validity_finding(file.option, *file.certificate, now,
                                       "renew it, and send SIGHUP to the proxy");
    finding.about = file.option;
    out.push_back(std::move(finding));
  }
}

void check_files(const Facts& facts, Findings& out) {
  const std::size_t before = out.size();
  for (const FileFacts& file : facts.machine.files) check_file(file, facts.machine.now, out);
  if (out.size() == before && !facts.machine.files.empty())
    out.push_back({Level::kOk, "files of secrets are readable by their owner alone"});
}

}  // namespace

std::span<const Check> machine_checks() {
  static constexpr std::array<Check, 9> kRows = {{
      {"files",
       "Certificates, keys, passwords and tokens in files: "
       "that they can be read, by whom, and until when certificates are valid.",
       Needs::kNothing, When::kStart, check_files},
      {"open-files",
       "RLIMIT_NOFILE against proxy.maximum-clients and proxy.maximum-private-connections.",
       Needs::kNothing, When::kStart, check_open_files},
      {"memory",
       "The memory of the machine and of the control group, "
       "against what the options allow the proxy.",
       Needs::kNothing, When::kStart, check_memory},
      {"cpus",
       "CPUs that this process may use, and the control group's quota, against proxy.workers.",
       Needs::kNothing, When::kStart, check_cpus},
      {"clock", "That CLOCK_BOOTTIME never goes back, and what reading it costs.", Needs::kNothing,
       When::kStart, check_clock},
      {"stops",
       "Times when the process stands still: "
       "seen in a loop of 50 ms, stolen by the hypervisor, or for the control group's quota.",
       Needs::kNothing, When::kStart, check_stops},
      {"backlog", "somaxconn and tcp_max_syn_backlog against the queue of new clients.",
       Needs::kNothing, When::kStart, check_backlog},
      {"local-ports", "ip_local_port_range against proxy.maximum-private-connections.",
       Needs::kNothing, When::kStart, check_ports},
      {"server-host",
       "If the server runs on this machine and writes snapshots: "
       "overcommit_memory and transparent huge pages.",
       Needs::kData, When::kStart, check_server_host},
  }};
  return kRows;
}

}  // namespace heatsink::doctor
