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

constexpr std::uint16_t kRedisPort = 6379;
constexpr std::size_t kHostLengthMax = 253;  // RFC 1035, section 2.3.4, as text

Error invalid(std::string message) {
  return Error{ErrorCode::kInvalidArgument, std::move(message)};
}

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
        std::string_view("[]/@").find(c) != std::string_view::npos)
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

const Scheme* scheme_of(std::string_view url) {
  for (const Scheme& scheme : kSchemes)
    if (url.starts_with(scheme.text)) return &scheme;
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

// Parses "host[:port][/db]".
std::optional<Error> take_place(std::string_view rest, RedisUrl& url) {
  const std::size_t slash = rest.find('/');
  std::string_view host;
  std::string_view port_text;
  if (!split_host(rest.substr(0, slash), host, port_text) || host.empty() || !is_host(host))
    return invalid(
        "the host in the server's URL is missing or malformed; in a password write / as %2F and @ "
        "as %40");
  const auto port = port_text.empty()     ? kRedisPort
                    : port_text[0] == ':' ? parse_number(port_text.substr(1), 65535)
                                          : std::nullopt;
  if (!port || *port == 0)
    return invalid("the port in the server's URL must be a number from 1 to 65535");
  url.address = {std::string(host), static_cast<std::uint16_t>(*port)};
  const std::string_view db = slash == std::string_view::npos ? "" : rest.substr(slash + 1);
  const auto number = db.empty() ? 0 : parse_number(db, kDbMax);
  if (!number)
    return invalid("the path in the server's URL must be the number of a database, or nothing");
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
  const std::string text = with_scheme(given);
  const Scheme* const scheme = scheme_of(text);
  if (scheme == nullptr)
    return invalid(
        "not a server's address: write host[:port], redis://[user:password@]host[:port], "
        "rediss://... for TLS, or unix:///path");
  std::string_view rest = std::string_view(text).substr(scheme->text.size());
  RedisUrl url;
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
  return unix_path.empty() ? address.text() : "unix:" + unix_path;
}

namespace {

std::string shown(const RedisUrl& url, const std::string& credentials) {
  const std::string scheme = !url.unix_path.empty() ? "unix://"
                             : url.tls              ? "rediss://"
                                                    : "redis://";
  std::string out = scheme + credentials + (credentials.empty() ? "" : "@");
  if (url.unix_path.empty()) {
    out += url.address.text();
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
