// SPDX-License-Identifier: Apache-2.0
#include "heatsink/net/address.h"

#include <arpa/inet.h>

#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <utility>

namespace heatsink::net {
namespace {

constexpr std::uint16_t kRedisPort = 6379, kSentinelPort = 26379;
constexpr std::size_t kHostLengthMax = 253;  // RFC 1035, section 2.3.4, as text

Error invalid(std::string message) { return invalid_argument(std::move(message)); }

// Parses all of `text` as a number <= max.
std::optional<std::uint32_t> parse_number(std::string_view text, std::uint32_t max) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number > max) return std::nullopt;
  return number;
}

bool is_host(std::string_view host) {
  if (host.size() > kHostLengthMax) return false;
  for (const char c : host)
    if (std::isgraph(static_cast<unsigned char>(c)) == 0 ||
        std::string_view("[]/@,").find(c) != std::string_view::npos)
      return false;
  return true;
}

// Splits "[::1]rest" or "host:rest" after the host; false if brackets do not match.
bool split_host(std::string_view text, std::string_view& host, std::string_view& rest) {
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos || end == 1) return false;
    host = text.substr(1, end - 1);
    rest = text.substr(end + 1);
    return host.find(':') != std::string_view::npos;
  }
  const std::size_t colon = text.find(':');
  host = text.substr(0, colon);
  rest = colon == std::string_view::npos ? "" : text.substr(colon);
  return true;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const int lower = std::tolower(static_cast<unsigned char>(c));
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

std::optional<std::string> percent_decode(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = hex_digit(text[i + 1]);
    const int low = hex_digit(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

std::string percent_encode(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || std::string_view("-._~").find(c) != std::string_view::npos) {
      out += c;
    } else {
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  return out;
}

struct Scheme {
  std::string_view text;
  bool tls = false;
  bool is_unix = false;
};
constexpr std::array<Scheme, 5> kSchemes{{{.text = "redis://"},
                                          {.text = "rediss://", .tls = true},
                                          {.text = "valkey://"},
                                          {.text = "valkeys://", .tls = true},
                                          {.text = "unix://", .is_unix = true}}};

struct NamedTopology {
  std::string_view suffix;  // of the scheme
  Topology topology;
};
constexpr std::array<NamedTopology, 4> kTopologies{{{"", Topology::kServer},
                                                    {"+cluster", Topology::kCluster},
                                                    {"+sentinel", Topology::kSentinel},
                                                    {"+replicas", Topology::kReplicas}}};

// Removes the scheme, with the topology that it names, from the front of `url`. Null: no scheme.
const Scheme* take_scheme(std::string_view& url, Topology& topology) {
  constexpr std::string_view kEnd = "://";
  const std::size_t end = url.find(kEnd);
  if (end == std::string_view::npos) return nullptr;
  const std::string_view name = url.substr(0, end);
  for (const Scheme& scheme : kSchemes) {
    const std::string_view base = scheme.text.substr(0, scheme.text.size() - kEnd.size());
    if (!name.starts_with(base)) continue;
    for (const NamedTopology& each : kTopologies) {
      if (name.substr(base.size()) != each.suffix) continue;
      if (scheme.is_unix && each.topology != Topology::kServer) return nullptr;
      topology = each.topology;
      url.remove_prefix(end + kEnd.size());
      return &scheme;
    }
  }
  return nullptr;
}

std::optional<Error> fault_of_path(std::string_view path) {
  if (!path.starts_with('/') || path.ends_with('/') || path.find('\0') != std::string_view::npos)
    return invalid("a Unix socket needs an absolute path, as in /run/heatsink/proxy.sock");
  if (path.size() > kUnixPathBytesMax)
    return Error{ErrorCode::kOutOfRange, "the path of a Unix socket is longer than " +
                                             std::to_string(kUnixPathBytesMax) + " bytes"};
  return std::nullopt;
}

// Parses "[user][:password]" of a URL.
bool take_credentials(std::string_view text, RedisUrl& url) {
  const std::size_t colon = text.find(':');
  const auto user = percent_decode(text.substr(0, colon));
  const auto password =
      percent_decode(colon == std::string_view::npos ? "" : text.substr(colon + 1));
  if (!user || !password) return false;
  url.user = *user;
  url.password = *password;
  return true;
}

}  // namespace

std::string HostPort::text() const {
  const bool brackets = host.find(':') != std::string::npos;
  return (brackets ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

Result<HostPort> parse_host_port(std::string_view text) {
  const auto refuse = [&](std::string_view why) {
    return invalid("\"" + std::string(text.substr(0, 300)) + "\": " + std::string(why) +
                   "; write host:port, [ipv6]:port, or :port for all interfaces");
  };
  std::string_view host;
  std::string_view rest;
  if (!split_host(text, host, rest) || !is_host(host))
    return refuse("the host is missing or malformed");
  if (!rest.starts_with(':')) return refuse("the port is missing");
  const auto port = parse_number(rest.substr(1), 65535);
  if (!port) return refuse("the port must be a number from 0 to 65535");
  return HostPort{std::string(host), static_cast<std::uint16_t>(*port)};
}

std::string network_of(std::string_view peer) {
  std::string_view host;
  std::string_view port;
  if (!split_host(peer, host, port)) return "";
  in6_addr address{};
  std::string text(host);
  if (inet_pton(AF_INET, text.c_str(), &address) == 1) return text;
  if (inet_pton(AF_INET6, text.substr(0, text.find('%')).c_str(), &address) != 1) return "";
  // a socket for both families gives such addresses
  if (IN6_IS_ADDR_V4MAPPED(&address)) return text;
  return {reinterpret_cast<const char*>(&address), 8};
}

std::string Endpoint::text() const { return is_unix() ? "unix:" + unix_path : tcp.text(); }

Result<Endpoint> parse_endpoint(std::string_view text) {
  constexpr std::string_view kUnix = "unix:";
  if (!text.starts_with(kUnix)) {
    Result<HostPort> tcp = parse_host_port(text);
    if (!tcp.ok()) return tcp.error();
    return Endpoint{*tcp, ""};
  }
  const std::string_view path = text.substr(kUnix.size());
  if (auto fault = fault_of_path(path)) return *std::move(fault);
  return Endpoint{{}, std::string(path)};
}

namespace {

constexpr std::uint32_t kDbMax = 0x7FFFFFFF;

Error misplaced_host() {
  return invalid(
      "the host in the server's URL is missing or malformed; "
      "in a password write / as %2F and @ as %40");
}

// Parses "host[:port][,host[:port]]...".
std::optional<Error> take_hosts(std::string_view hosts, RedisUrl& url) {
  const std::uint16_t usual = url.topology == Topology::kSentinel ? kSentinelPort : kRedisPort;
  if (url.topology == Topology::kServer && hosts.find(',') != std::string_view::npos)
    return invalid(
        "several addresses need a scheme that says what they are: "
        "redis+cluster://a,b for nodes of a cluster, "
        "redis+sentinel://a,b/mymaster, or redis+replicas://a,b for a master with its replicas");
  std::vector<HostPort> found;
  for (bool more = true; more;) {
    const std::size_t comma = hosts.find(',');
    std::string_view host;
    std::string_view port_text;
    if (!split_host(hosts.substr(0, comma), host, port_text) || host.empty() || !is_host(host))
      return misplaced_host();
    const auto port = port_text.empty()     ? usual
                      : port_text[0] == ':' ? parse_number(port_text.substr(1), 65535)
                                            : std::nullopt;
    if (!port || *port == 0)
      return invalid("the port in the server's URL must be a number from 1 to 65535");
    if (found.size() == kAddressesMax)
      return invalid("the server's URL has more than " + std::to_string(kAddressesMax) +
                     " addresses: a few are enough, the others are found by asking these");
    found.push_back({std::string(host), static_cast<std::uint16_t>(*port)});
    more = comma != std::string_view::npos;
    if (more) hosts.remove_prefix(comma + 1);
  }
  url.address = found.front();
  url.others.assign(found.begin() + 1, found.end());
  return std::nullopt;
}

// Parses "host[:port][/db]", or the lists of hosts of the other topologies.
std::optional<Error> take_place(std::string_view rest, RedisUrl& url) {
  const std::size_t slash = rest.find('/');
  if (auto fault = take_hosts(rest.substr(0, slash), url)) return fault;
  std::string_view path = slash == std::string_view::npos ? "" : rest.substr(slash + 1);
  if (url.topology == Topology::kSentinel) {
    const std::size_t end = path.find('/');
    const auto name = percent_decode(path.substr(0, end));
    if (!name || name->empty())
      return invalid(
          "a URL of Sentinels needs the name of the master that they watch, "
          "as in redis+sentinel://host:26379/mymaster");
    url.master_name = *name;
    path = end == std::string_view::npos ? "" : path.substr(end + 1);
  }
  const auto number = path.empty() ? 0 : parse_number(path, kDbMax);
  if (!number)
    return invalid("the path in the server's URL must be the number of a database, or nothing");
  if (*number != 0 && url.topology == Topology::kCluster)
    return invalid("a cluster has no database " + std::to_string(*number) + ": leave the path out");
  url.db = *number;
  return std::nullopt;
}

// Parses "/path[?db=N]".
std::optional<Error> take_unix_place(std::string_view rest, RedisUrl& url) {
  constexpr std::string_view kDb = "db=";
  const std::size_t question = rest.find('?');
  const auto path = percent_decode(rest.substr(0, question));
  if (!path) return invalid("in the path of a unix:// URL write % as %25");
  if (auto fault = fault_of_path(*path)) return fault;
  url.unix_path = *path;
  if (question == std::string_view::npos) return std::nullopt;
  const std::string_view query = rest.substr(question + 1);
  const auto number =
      query.starts_with(kDb) ? parse_number(query.substr(kDb.size()), kDbMax) : std::nullopt;
  if (!number) return invalid("the path of a unix:// URL may only be followed by ?db=NUMBER");
  url.db = *number;
  return std::nullopt;
}

}  // namespace

std::string with_scheme(std::string_view server) {
  constexpr std::string_view kUnix = "unix:";
  if (server.empty() || server.find("://") != std::string_view::npos) return std::string(server);
  if (server.starts_with(kUnix)) server.remove_prefix(kUnix.size());
  return (server.starts_with('/') ? "unix://" : "redis://") + std::string(server);
}

Result<RedisUrl> parse_redis_url(std::string_view given) {
  Result<RedisUrl> url = parse_upstream_url(given);
  if (url.ok() && url->topology != Topology::kServer)
    return invalid("this needs the address of one server: write redis://host:port");
  return url;
}

Result<RedisUrl> parse_upstream_url(std::string_view given) {
  const std::string text = with_scheme(given);
  std::string_view rest = text;
  RedisUrl url;
  const Scheme* const scheme = take_scheme(rest, url.topology);
  if (scheme == nullptr)
    return invalid(
        "not a server's address: write host[:port], redis://[user:password@]host[:port], "
        "rediss://... for TLS, or unix:///path");
  url.tls = scheme->tls;
  // Splits at the last @. A password with a bare @ is wrong by RFC 3986, but common and
  // unambiguous.
  const std::size_t at = rest.substr(0, rest.find('/')).rfind('@');
  if (at != std::string_view::npos) {
    if (!take_credentials(rest.substr(0, at), url))
      return invalid("in the user and password of the server's URL write % as %25");
    rest.remove_prefix(at + 1);
  }
  auto fault = scheme->is_unix ? take_unix_place(rest, url) : take_place(rest, url);
  if (fault) return *std::move(fault);
  return url;
}

std::string RedisUrl::where() const {
  if (!unix_path.empty()) return "unix:" + unix_path;
  std::string out = address.text();
  for (const HostPort& other : others) out += "," + other.text();
  return out;
}

namespace {

std::string shown(const RedisUrl& url, const std::string& credentials) {
  std::string out = !url.unix_path.empty() ? "unix" : url.tls ? "rediss" : "redis";
  for (const NamedTopology& each : kTopologies)
    if (each.topology == url.topology) out += each.suffix;
  out += "://" + credentials + (credentials.empty() ? "" : "@");
  if (url.unix_path.empty()) {
    out += url.where();
    if (!url.master_name.empty()) out += "/" + percent_encode(url.master_name);
    return url.db == 0 ? out : out + "/" + std::to_string(url.db);
  }
  for (const char c : url.unix_path) out += c == '/' ? "/" : percent_encode({&c, 1});
  return url.db == 0 ? out : out + "?db=" + std::to_string(url.db);
}

}  // namespace

std::string RedisUrl::redacted() const {
  if (password.empty()) return display();
  return shown(*this, percent_encode(user) + ":" + std::string(kHiddenPassword));
}

std::string RedisUrl::display() const { return shown(*this, percent_encode(user)); }

}  // namespace heatsink::net
