// SPDX-License-Identifier: Apache-2.0
// What is known of a deployment when the checks look at it: plain values, collected or recorded.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/process_limits.h"
#include "heatsink/base/wall_time.h"
#include "heatsink/net/net.h"
#include "heatsink/policy/needed_rights.h"
#include "heatsink/policy/options.h"
#include "heatsink/resp/value.h"

namespace heatsink::doctor {

// How far the talk with the server came.
enum class Contact : std::uint8_t {
  kNoMaster,      // the server had to be found, and was not
  kNotResolved,   // the name has no address
  kNotConnected,  // refused, unreachable, or too slow
  kTlsFailed,     // the handshake, or a certificate file
  kClosed,        // it accepted and closed without an answer
  kSilent,        // it accepted and said nothing
  kNotRedis,      // its first bytes are no reply
  kAnswered,
};

struct RoundTrips {
  Nanos median{0}, p99{0}, longest{0};
  int count = 0;  // 0: not measured
};

enum class PushTest : std::uint8_t {
  kNotTried,
  kArrived,
  kMissing,  // the write was done, and no push came
  kRefused,  // the server refused a command of the test; `push_problem` says which
};

// `replies` has the server's replies by the text of the command, such as "CONFIG GET timeout". A
// command that was not asked, or whose reply did not come, is not in it.
struct ServerFacts {
  std::string where;  // "127.0.0.1:6379"
  Contact contact = Contact::kNotConnected;
  std::string problem;      // why it came no further; "" if all questions were answered
  std::string first_bytes;  // what the peer sent first, as it came
  bool is_local = false;    // it runs on this machine
  std::string login_error;  // the server's refusal of the login; "" if it let us in
  std::map<std::string, resp::Value, std::less<>> replies;
  std::vector<policy::NeededRight> rights;  // tried; their replies are `right_replies`
  std::vector<resp::Value> right_replies;
  RoundTrips round_trips;
  std::optional<net::Certificate> certificate;
  std::optional<Nanos> clock_ahead;  // the server's TIME minus ours
  PushTest push_test = PushTest::kNotTried;
  Nanos push_delay{0};
  std::string push_problem;

  bool is_answering() const { return contact == Contact::kAnswered; }
  bool is_logged_in() const { return is_answering() && login_error.empty(); }
  // The reply, if it came and is not an error.
  const resp::Value* reply(std::string_view command) const;
  std::string_view error(std::string_view command) const;  // the error reply; "": none
  // The value of a setting of the server; nothing if CONFIG GET is refused or does not know it.
  std::optional<std::string> config(std::string_view name) const;
  std::optional<double> config_number(std::string_view name) const;
  std::string_view info(std::string_view field) const;  // of INFO; "": not known
  std::optional<double> info_number(std::string_view field) const;
  std::string_view hello(std::string_view field) const;  // of HELLO; "": not known
  // Its policy is LRU or LFU, so the proxy touches keys that have copies. False: not known, too.
  bool evicts_by_use() const;
};

// A file that an option names.
struct FileFacts {
  std::string option;  // "proxy.tls-key"
  std::string path;
  bool is_secret = false;
  std::string problem = {};       // why it cannot be read; ""
  std::uint32_t permissions = 0;  // as chmod has them
  std::optional<net::Certificate> certificate = {};
};

struct ClockFacts {
  Nanos reading_cost{0};   // of BootClock::now(), median
  bool went_back = false;  // a later reading was earlier
  Nanos longest_stop{0};   // of this thread, in a loop that only reads the clock
  std::string source;      // "tsc"; "": not known
  double stolen_share =
      0;  // CPU time that the hypervisor gave to others, since the machine's start
  double throttled_share = 0;  // periods in which the control group's quota was used up
};

// Facts of this machine and process. A number that is 0 is not known, unless stated otherwise.
struct MachineFacts {
  std::uint64_t open_files_max = 0;   // of this process (RLIMIT_NOFILE), soft
  std::uint64_t open_files_hard = 0;  // that it may raise it to
  double cpus = 0;
  MemoryLimits memory;
  std::uint64_t somaxconn = 0, syn_backlog = 0;
  std::uint64_t local_ports = 0;  // in ip_local_port_range
  std::string overcommit;         // vm.overcommit_memory; "": not known
  std::string huge_pages;         // "always", "madvise", "never"; "": not known
  ClockFacts clock;
  std::vector<FileFacts> files;
  WallTime now;
};

// The answers of Sentinels, or of a master and its replicas, about which server is the master.
struct MasterSearch {
  std::uint64_t known = 0;                 // Sentinels, or servers
  std::uint64_t answering = 0;             // of these
  std::vector<std::string> failures = {};  // "host:port: why it is of no use"
};

struct Facts {
  policy::ProxyOptions options;
  net::RedisUrl upstream;                   // the server that was asked
  net::RedisUrl configured = {};            // upstream.url
  std::optional<MasterSearch> search = {};  // if `upstream` was found by asking
  ServerFacts server;
  MachineFacts machine;
};

}  // namespace heatsink::doctor
