// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <stdexcept>

#include "heatsink/base/config_file.h"
#include "heatsink/base/option.h"
#include "heatsink/base/secret_file.h"
#include "heatsink/base/units.h"
#include "heatsink/detect/rules.h"
#include "heatsink/httpd/httpd.h"
#include "heatsink/net/address.h"
#include "heatsink/topology/address_translation.h"

namespace heatsink::client {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr double ns(Nanos duration) { return static_cast<double>(duration.count()); }
constexpr double bytes(Bytes size) { return static_cast<double>(size.count); }

constexpr std::string_view kInsteadOfPromotionInterval = "each key is promoted as it is due.";
constexpr std::string_view kInsteadOfFleetSize =
    "fleet.enabled counts what each process really sees (docs/guides/fleet.md).";

constexpr std::string_view kPrefix = "HEATSINK_";

// The environment variable of an option: "detection.hot-qps" is HEATSINK_DETECTION_HOT_QPS.
std::string variable_of(const std::string& option) {
  std::string name(kPrefix);
  for (const char c : option) {
    const bool is_word = std::isalnum(static_cast<unsigned char>(c)) != 0;
    name += is_word ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : '_';
  }
  return name;
}

std::string group_of(const OptionRow& row) { return row.name.substr(0, row.name.find('.') + 1); }

Error joined(const ConfigFaults& faults) {
  std::string all;
  for (const Error& fault : faults) all += (all.empty() ? "" : "\n") + fault.message;
  return {faults.front().code, all};
}

// Reads into a copy, so that an error changes nothing.
template <class Read>
Result<ClientOptions> read_into(const ClientOptions& from, Read read) {
  ClientOptions options;
  OptionSet set;
  options.describe(set);  // takes the defaults from the current values
  options = from;
  if (const ConfigFaults faults = read(set); !faults.empty()) return joined(faults);
  if (const Status status = options.check(); !status.ok()) return status.error();
  return options;
}

// Applies one variable; appends its errors to `faults`.
void apply(std::string_view name, std::string_view value, OptionSet& set, ConfigFaults& faults) {
  const auto& rows = set.rows();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const OptionRow& each) {
    return variable_of(each.name) == name;
  });
  if (row != rows.end()) {
    const Status status = set.set(row->name, value);
    if (!status.ok())
      faults.push_back({status.error().code, fmt::format("{}: {}", name, status.error().message)});
    return;
  }
  const bool is_ours = std::any_of(rows.begin(), rows.end(), [&](const OptionRow& each) {
    return name.starts_with(variable_of(group_of(each)));
  });
  if (is_ours)
    faults.push_back(
        {ErrorCode::kNotFound,
         fmt::format("the environment variable {} does not match any option: correct or remove it",
                     name)});
}

}  // namespace

// NOLINTNEXTLINE(readability-function-size): a table, a row per option
void ClientOptions::describe(OptionSet& set) {
  set.add({"server.url", &server_url,
           "The server that holds the keys: "
           "redis://[user:password@]host[:port][/db], rediss:// or unix:///path. "
           "rediss:// uses TLS. A master that moves: "
           "redis+sentinel://a,b,c/mymaster by its Sentinels, "
           "redis+replicas://a,b by the addresses of the servers themselves. "
           "A cluster: redis+cluster://a,b (or one of its nodes). "
           "The servers notify the library of each change to a copied key. "
           "Without a URL there is no server, and no notifications."});
  set.add({"server.tls-ca", &server_tls_ca,
           "PEM file with the CAs that sign the server's certificate. "
           "Empty: the CAs that this machine trusts."});
  set.add({"server.tls-cert", &server_tls_cert,
           "PEM file with the certificate that the library sends if the server wants one."});
  set.add({"server.tls-key", &server_tls_key,
           "PEM file with the private key of server.tls-cert, without a passphrase."});
  set.add({"server.tls-server-name", &server_tls_server_name,
           "Name that the server's certificate must be for. Empty: the host of server.url."});
  set.add({"server.tls-verify", &server_tls_verify,
           "Whether the library verifies the server's certificate. "
           "If false, anyone can impersonate the server."});
  set.add({"server.sentinel-user", &server_sentinel_user,
           "With redis+sentinel://: the user for the Sentinels themselves. "
           "Empty: their default user."});
  set.add({"server.sentinel-password", &server_sentinel_password,
           "With redis+sentinel://: the password of the Sentinels. Empty: they have none."});
  set.add({"server.translate", &server_translate,
           "Where the library reaches nodes of a cluster that announce other addresses (NAT). "
           "Pairs announced=reached of host:port or of hosts, with commas between them, "
           "as in 10.0.0.5:6379=127.0.0.1:7001,10.0.0.6=gateway."});
  set.add({"server.connect-timeout", &server_connect_timeout,
           "Time limit for a connection attempt, including its TLS handshake.",
           ns(milliseconds(10)), ns(minutes(1))});
  set.add({"server.response-timeout", &server_response_timeout,
           "Maximum wait for a reply. "
           "Then the connection is dropped, and all waiting callers get an error.",
           ns(milliseconds(100)), ns(minutes(10))});
  set.add({"server.backoff-min", &server_backoff_min,
           "Pause before the second connection attempt. "
           "The pause then doubles, up to server.backoff-max.",
           ns(milliseconds(1)), ns(minutes(1))});
  set.add({"server.backoff-max", &server_backoff_max, "Longest pause between connection attempts.",
           ns(milliseconds(1)), ns(minutes(5))});

  set.add({"detection.enabled", &detection_enabled,
           "Whether accesses are counted and hot keys are found. "
           "If false, only warmed keys are kept."});
  set.add({"detection.window", &window,
           "Length of the sliding window in which accesses are counted.", ns(milliseconds(100)),
           ns(hours(1))});
  set.add({.name = "detection.hot-qps",
           .target = &hot_qps,
           .help = "A key is hot from this many accesses per second. "
                   "auto means 1 % of this process's accesses, but at least 100 per second.",
           .min = 0.01,
           .max = 1e9,
           .unset = kAuto});
  set.add({.name = "detection.warm-qps",
           .target = &warm_qps,
           .help = "A key is warm from this many accesses per second. It is limited to hot-qps. "
                   "auto means a quarter of hot-qps.",
           .min = 0,
           .max = 1e9,
           .unset = kAuto});
  set.add({"detection.top-n", &top_n,
           "Maximum number of hot keys. cache.maximum-size limits it, too.", 1, 100'000});
  set.add(deprecated(
      detect::kInsteadOfConfirming,
      {"detection.confirm-windows", &confirm_windows,
       "Consecutive windows above the threshold before a key becomes hot. 1: no wait.", 1, 100}));
  set.add({"detection.demote-ratio", &demote_ratio,
           "A hot key stays hot until its rate falls below this times hot-qps.", 0, 1});
  set.add({"detection.write-hot-ratio", &write_hot_ratio,
           "A key with fewer reads per write than this is not cached.", 0, 1e6});
  set.add({"detection.minimum-residence", &minimum_residence, "Minimum time that a key stays hot.",
           0, ns(hours(24))});
  set.add(deprecated(kInsteadOfPromotionInterval,
                     {"detection.promotion-interval", &promotion_interval,
                      "Minimum time between promotions. 0: each at once.", 0, ns(seconds(5))}));
  set.add({"detection.demotion-interval", &demotion_interval,
           "Minimum time between demotions. 0: each at once.", 0, ns(hours(24))});
  set.add({"detection.tick", &tick, "How often the counts are evaluated.", ns(milliseconds(10)),
           ns(seconds(1))});

  set.add(
      deprecated(kInsteadOfFleetSize, {"detection.fleet-size", &fleet_size,
                                       "Number of processes that share the traffic evenly. "
                                       "Each one compares with hot-qps and warm-qps divided by it. "
                                       "With fleet.enabled it holds only until the fleet is known.",
                                       1, 100'000}));

  set.add({"fleet.enabled", &fleet_enabled,
           "Whether this process counts together with others "
           "through server.url (docs/guides/fleet.md). "
           "It then writes a few kilobytes to the server in each interval: "
           "names and counts of its busiest keys."});
  set.add({"fleet.name", &fleet_name,
           "Name of the fleet: processes with the same name count together. 1 to 64 letters, "
           "digits, dots, underscores and hyphens."});
  set.add({"fleet.interval", &fleet_interval,
           "How often this process reports and reads the merged list, give or take a tenth. "
           "Large fleets report less often.",
           ns(milliseconds(50)), ns(minutes(1))});
  set.add({"fleet.shards", &fleet_shards,
           "Parts of the fleet whose reports are merged separately, then all together. "
           "All processes need the same number.",
           1, 1024});

  set.add({"recorder.capacity", &capacity,
           "Number of keys that are counted exactly, at 250 bytes each.", 100, 100'000});
  set.add({"recorder.shards", &shards,
           "Number of threads that can count at once, each in its part of the memory. "
           "0: one per core, at most 8.",
           0, 64});
  set.add({"recorder.inactive-expire", &inactive_expire,
           "A key that has not been accessed for this long is forgotten, "
           "with its copy and its loader. Warmed keys are not forgotten. "
           "minimum-residence and demotion-interval have no effect beyond this time.",
           ns(milliseconds(100)), ns(hours(24))});

  set.add({"cache.enabled", &cache_enabled,
           "Whether local copies are kept. If false, hot keys are only reported."});
  set.add({.name = "cache.admission",
           .target = &admission,
           .help = "Which keys get local copies (docs/guides/library.md). "
                   "pays: those whose copies save more reads of the source than they cost, "
                   "whatever their rate; hot: hot keys only.",
           .choices = {"pays", "hot"}});
  set.add({"cache.maximum-size", &maximum_size,
           "Maximum number of keys that are kept. Each takes about 500 bytes besides its copy.", 1,
           1'000'000});
  set.add({"cache.maximum-nil", &maximum_nil,
           "Maximum number of kept keys that do not exist in the source.", 0, 100'000});
  set.add({"cache.maximum-bytes", &maximum_bytes,
           "Maximum size of all copies with their key names. "
           "Copies of keys that are not hot make room for others. "
           "A value that does not fit even then is not kept.",
           bytes(kibibytes(64)), bytes(Bytes{64ULL << 30})});
  set.add({"cache.expire-after-write", &expire_after_write,
           "Maximum age of a copy, counted from the start of its load.", ns(milliseconds(1)),
           ns(hours(24))});
  set.add({"cache.max-staleness", &max_staleness,
           "With server.url: no copy is served without proof from the server within this time.",
           ns(milliseconds(50)), ns(minutes(1))});
  set.add({"cache.heartbeat-interval", &heartbeat_interval,
           "With server.url: how often the library asks the server for proof. "
           "At most half of max-staleness.",
           ns(milliseconds(10)), ns(seconds(10))});
  set.add({"cache.heartbeat-key", &heartbeat_key,
           "With server.url: key that the library reads for this proof. It need not exist."});
  set.add({"cache.maximum-waiters", &maximum_waiters,
           "Maximum number of callers that wait for one load of a key. One more gets an error.", 0,
           1'000'000});
  set.add({"cache.wait-timeout", &wait_timeout,
           "Longest time that a caller waits for another caller's load. Then it gets an error.",
           ns(milliseconds(1)), ns(minutes(10))});

  set.add({"refresh.enabled", &refresh_enabled,
           "Whether hot keys are loaded again in the background, before they expire."});
  set.add({"refresh.interval", &refresh_interval,
           "How often a hot key is loaded again. "
           "It is limited to three quarters of cache.expire-after-write.",
           ns(milliseconds(10)), ns(hours(24))});
  set.add({"refresh.jitter", &refresh_jitter,
           "Each load is early by a random share of the interval, up to this share.", 0, 0.9});
  set.add({"refresh.threads", &refresh_threads,
           "Maximum number of loads in the background at once.", 1, 64});
  set.add({"refresh.max-failures", &max_failures,
           "After this many failures in a row, a key is not refreshed any more. "
           "Its copy is dropped, unless stale-while-error is set.",
           1, 1000});
  set.add({"refresh.early", &early_refresh,
           "Factor for early loads by readers (XFetch). 0: never. "
           "Readers load a copy anew before it expires, at a random time: "
           "the earlier, the longer its last load took and the larger the factor.",
           0, 100});
  set.add({"refresh.stale-while-error", &stale_while_error,
           "Time for which an expired copy is served when its load fails. 0: none.", 0,
           ns(hours(24))});

  set.add({"statistics.length", &statistics_length,
           "How long the server keeps window statistics, in 60 slots. "
           "All writers of a statistic need the same length.",
           ns(seconds(6)), ns(hours(24))});
  set.add({"statistics.flush-interval", &statistics_flush_interval,
           "How often the library sends what was added. "
           "If the process dies, the numbers of one interval are lost.",
           ns(milliseconds(10)), ns(minutes(1))});
  set.add({"statistics.hold", &statistics_hold,
           "Numbers that could not be sent for this long are dropped. "
           "At most half of statistics.length.",
           ns(milliseconds(10)), ns(hours(12))});
  set.add({"statistics.maximum-names", &statistics_maximum_names,
           "Maximum number of window statistics that this process writes. "
           "Each takes 6 KB, and 3 KB per thread.",
           1, 100'000});

  set.add({"admin.listen", &admin_listen,
           "Address of an HTTP page about this Client, host:port; off: none. "
           "Beyond loopback it needs a token. The page is for heatsink top, Prometheus and curl."});
  set.add({"admin.token", &admin_token,
           "Token that each request to that page must carry (Authorization: Bearer ...). "
           "Prefer admin.token-file."});
  set.add({"admin.token-file", &admin_token_file, "File with the admin token, on one line."});

  set.add({"report.enabled", &report_enabled, "Whether the library logs a line about its state."});
  set.add({"report.interval", &report_interval, "How often that line is logged.", ns(seconds(1)),
           ns(hours(24))});
}

const ClientOptions& ClientOptions::checked() const {
  if (const Status status = check(); !status.ok())
    throw std::invalid_argument(status.error().message);
  return *this;
}

Status ClientOptions::check() const {
  if (window > inactive_expire) {
    return invalid_argument(
        fmt::format("detection.window is {}: it must not be longer than recorder.inactive-expire "
                    "({}), because the recorder would forget keys that the window counts",
                    format_duration(window), format_duration(inactive_expire)));
  }
  if (statistics_hold * 2 > statistics_length) {
    return invalid_argument(
        "statistics.hold must be at most half of statistics.length: "
        "after that time the server no longer knows which flushes it has counted");
  }
  if (Status status = check_admin(); !status.ok()) return status;
  if (Status status = check_fleet(); !status.ok()) return status;
  return server_url.empty() ? Status(Unit{}) : check_server();
}

// Does not read the token file: start_page() does.
Status ClientOptions::check_admin() const {
  if (!admin_token.empty() && !admin_token_file.empty())
    return invalid_argument("admin.token and admin.token-file are both set: keep one of them");
  if (!admin_token.empty()) {
    if (const Status status = check_secret(admin_token); !status.ok())
      return Error{status.error().code, "admin.token: " + status.error().message};
  }
  if (admin_listen == "off") return Unit{};
  const Result<net::HostPort> listen = net::parse_host_port(admin_listen);
  if (!listen.ok()) return Error{listen.error().code, "admin.listen: " + listen.error().message};
  const bool has_token = !admin_token.empty() || !admin_token_file.empty();
  if (const Status status = httpd::check_address(*listen, has_token); !status.ok())
    return Error{status.error().code, "admin.listen: " + status.error().message};
  return Unit{};
}

Status ClientOptions::check_fleet() const {
  constexpr std::size_t kNameBytesMax = 64;
  const bool is_allowed = std::all_of(fleet_name.begin(), fleet_name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
  });
  if (fleet_name.empty() || fleet_name.size() > kNameBytesMax || !is_allowed)
    return invalid_argument("fleet.name must be 1 to 64 letters, digits or the characters . _ -");
  if (fleet_enabled && server_url.empty())
    return invalid_argument(
        "fleet.enabled needs server.url, through which the fleet counts together: "
        "set it, or set detection.fleet-size instead");
  return Unit{};
}

// Checks the combinations that matter with a server. Reads no file.
Status ClientOptions::check_server() const {
  const Result<net::RedisUrl> url = net::parse_upstream_url(server_url);
  if (!url.ok()) return Error{url.error().code, "server.url: " + url.error().message};
  const auto refuse = [](const char* sentence) { return invalid_argument(sentence); };
  const bool has_tls = !server_tls_ca.empty() || !server_tls_cert.empty() ||
                       !server_tls_server_name.empty() || !server_tls_verify;
  if (server_tls_cert.empty() != server_tls_key.empty())
    return refuse("a certificate needs both server.tls-cert and server.tls-key: set both, or none");
  if (has_tls && !url->tls) {
    return refuse(
        "server.tls-* is set, but server.url has no TLS: use rediss://, or remove server.tls-*");
  }
  if (const auto pairs = topology::AddressTranslation::parse(server_translate); !pairs.ok())
    return Error{pairs.error().code, "server.translate: " + pairs.error().message};
  if (heartbeat_interval * 2 > max_staleness)
    return refuse("cache.heartbeat-interval must be at most half of cache.max-staleness");
  if (stale_while_error > Nanos(0)) {
    return refuse(
        "refresh.stale-while-error cannot be combined with server.url, "
        "because copies end when the server proves nothing for cache.max-staleness: "
        "remove one of them");
  }
  return Unit{};
}

Result<ClientOptions> ClientOptions::with(std::string_view name, std::string_view value) const {
  return read_into(*this, [&](OptionSet& set) {
    const Status status = set.set(name, value);
    return status.ok() ? ConfigFaults{} : ConfigFaults{status.error()};
  });
}

Result<ClientOptions> ClientOptions::with_yaml(std::string_view text, std::string_view name) const {
  return read_into(*this, [&](OptionSet& set) { return apply_config_text(text, name, set); });
}

Result<ClientOptions> ClientOptions::with_file(const std::string& path) const {
  return read_into(*this, [&](OptionSet& set) { return load_config_file(path, set); });
}

Result<ClientOptions> ClientOptions::with_environment(const char* const* environment) const {
  return read_into(*this, [&](OptionSet& set) {
    ConfigFaults faults;
    for (; *environment != nullptr; ++environment) {
      const std::string_view assignment = *environment;
      const std::size_t at = assignment.find('=');
      if (!assignment.starts_with(kPrefix) || at == std::string_view::npos) continue;
      apply(assignment.substr(0, at), assignment.substr(at + 1), set, faults);
    }
    return faults;
  });
}

Result<ClientOptions> ClientOptions::with_environment() const { return with_environment(environ); }

Result<ClientOptions> ClientOptions::from_yaml(std::string_view text, std::string_view name) {
  return ClientOptions{}.with_yaml(text, name);
}
Result<ClientOptions> ClientOptions::from_file(const std::string& path) {
  return ClientOptions{}.with_file(path);
}
Result<ClientOptions> ClientOptions::from_environment(const char* const* environment) {
  return ClientOptions{}.with_environment(environment);
}
Result<ClientOptions> ClientOptions::from_environment() {
  return ClientOptions{}.with_environment();
}

}  // namespace heatsink::client
