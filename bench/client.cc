// SPDX-License-Identifier: Apache-2.0
// bench_client: what a local read of the library costs, beside what one would build instead.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <heatsink.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <tbb/concurrent_hash_map.h>
#include <unistd.h>

#include <algorithm>
#include <list>
#include <mutex>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "bench/blocking_send.h"
#include "bench/figures.h"
#include "bench/naive_detector.h"
#include "bench/race.h"
#include "heatsink/base/zipf.h"
#include "heatsink/client/client.h"

namespace heatsink::bench {
namespace {

constexpr std::size_t kKeys = 200;  // all hot: what is measured is the hit
constexpr std::size_t kReads = 2'000'000;
constexpr std::size_t kTrips = 20'000;
constexpr int kRounds = 7;
constexpr double kHitNsMax = 30, kScalingMin = 1.9;

const std::string kValue(100, 'v');

std::vector<std::string> key_names() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kKeys; ++i) names.push_back(fmt::format("user:{:011}:profile", i));
  return names;
}

// Zipf 0.99, long enough that no branch predictor learns it by heart.
std::vector<std::string> reads_of(const std::vector<std::string>& names, std::uint64_t seed) {
  const Zipf zipf(names.size(), 0.99);
  std::mt19937_64 random(seed);
  std::vector<std::string> reads(16'384);
  for (std::string& read : reads) read = names[zipf.rank(random)];
  return reads;
}

// The map of the textbook: the keys used last, one lock.
class LockedLru {
 public:
  void put(const std::string& key, const std::string& value) {
    values_.emplace_front(key, value);
    places_[values_.front().first] = values_.begin();
  }
  std::string get(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto at = places_.find(key);
    if (at == places_.end()) return {};
    values_.splice(values_.begin(), values_, at->second);
    return at->second->second;
  }

 private:
  using Values = std::list<std::pair<std::string, std::string>>;
  std::mutex mutex_;
  Values values_;
  std::unordered_map<std::string_view, Values::iterator> places_;
};

// The naive library: each read counted under one lock, then looked up under another.
class NaiveClient {
 public:
  NaiveDetector detector;
  LockedLru values;
  std::string get(const std::string& key) {
    detector.record(key, BootClock::now());
    return values.get(key);
  }
};

// The same client by the C ABI, which has its own copy of the library.
class CClient {
 public:
  explicit CClient(const std::vector<std::string>& names) {
    heatsink_options* const options = heatsink_options_new();
    must(heatsink_options_yaml(options,
                               "{refresh: {enabled: false}, cache: {expire-after-write: 1h}}"));
    must(heatsink_open(options, &client_));
    heatsink_options_free(options);
    for (const std::string& name : names)
      must(heatsink_warm(client_, name.data(), name.size(), loader_, 3'600'000));
  }
  ~CClient() {
    heatsink_loader_free(loader_);
    heatsink_free(client_);
  }
  CClient(const CClient&) = delete;

  std::size_t get(const std::string& key) const {
    heatsink_value value = HEATSINK_NO_VALUE;
    must(heatsink_get(client_, key.data(), key.size(), loader_, &value));
    const std::size_t size = value.size;
    heatsink_value_release(&value);
    return size;
  }

 private:
  static void must(int code) {
    if (code != HEATSINK_OK) throw std::runtime_error(heatsink_last_error());
  }
  static int load(void*, const char*, std::size_t, heatsink_reply* reply) {
    return heatsink_reply_value(reply, kValue.data(), kValue.size());
  }

  heatsink_loader* loader_ = heatsink_loader_new(load, nullptr, nullptr);
  heatsink_client* client_ = nullptr;
};

// A server of the bench's own, and connections to it.
class Server {
 public:
  Server() : port_(free_port()) {
    const std::string port = std::to_string(port_);
    std::vector<const char*> words = {"redis-server", "--port",    port.c_str(), "--bind",
                                      "127.0.0.1",    "--save",    "",           "--appendonly",
                                      "no",           "--logfile", "/dev/null",  nullptr};
    std::vector<char*> arguments;
    for (const char* word : words) arguments.push_back(const_cast<char*>(word));  // NOLINT
    if (posix_spawnp(&pid_, "redis-server", nullptr, nullptr, arguments.data(), environ) != 0)
      throw std::runtime_error("bench_client: redis-server cannot be started: is it installed?");
  }
  ~Server() {
    kill(pid_, SIGTERM);
    waitpid(pid_, nullptr, 0);
  }
  Server(const Server&) = delete;

  std::string url() const { return fmt::format("redis://127.0.0.1:{}", port_); }

  int connect() const {
    for (int tries = 0; tries < 500; ++tries) {
      const int fd = socket(AF_INET, SOCK_STREAM, 0);
      const sockaddr_in address = at(port_);
      if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
        const int on = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        return fd;
      }
      close(fd);
      std::this_thread::sleep_for(Millis(10));
    }
    throw std::runtime_error("bench_client: redis-server does not answer");
  }

 private:
  static sockaddr_in at(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    return address;
  }
  static std::uint16_t free_port() {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = at(0);
    socklen_t size = sizeof(address);
    const bool is_bound = bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                          getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0;
    close(fd);
    if (!is_bound) throw std::runtime_error("bench_client: no port is free");
    return ntohs(address.sin_port);
  }

  std::uint16_t port_;
  pid_t pid_ = 0;
};

// One command and its whole reply, which is known to be `reply_size` bytes.
void round_trip(int fd, std::string_view command, std::size_t reply_size) {
  if (!blocking_send(fd, command)) throw std::runtime_error("bench_client: the server is gone");
  char reply[512];
  for (std::size_t got = 0; got < reply_size;) {
    const ssize_t n = recv(fd, reply, sizeof(reply), 0);
    if (n <= 0) throw std::runtime_error("bench_client: the server is gone");
    got += static_cast<std::size_t>(n);
  }
}

// `read` gets a key and says how long its value is.
template <class Read>
Contender contender(std::string name, std::size_t threads,
                    const std::vector<std::vector<std::string>>& reads, Read read) {
  Contender one{std::move(name), {}, kReads};
  for (std::size_t i = 0; i < threads; ++i) {
    one.threads.emplace_back([&keys = reads[i], read] {
      std::size_t bytes = 0;
      for (std::size_t n = 0; n < kReads; ++n) bytes += read(keys[n % keys.size()]);
      if (bytes != kReads * kValue.size()) throw std::logic_error("bench_client: a wrong value");
    });
  }
  return one;
}

std::vector<Contender> contenders(std::size_t threads,
                                  const std::vector<std::vector<std::string>>& reads,
                                  const client::Client<>& client,
                                  const client::Client<>& with_server, const CClient& c_client,
                                  NaiveClient& naive, LockedLru& locked,
                                  const tbb::concurrent_hash_map<std::string, std::string>& map) {
  const auto loader = [](const std::string&) { return std::optional<std::string>(kValue); };
  std::vector<Contender> all;
  all.push_back(contender("Client::get", threads, reads, [&client, loader](const std::string& key) {
    return client.get(key, loader)->size();
  }));
  all.push_back(contender("Client::get, with a server", threads, reads,
                          [&with_server, loader](const std::string& key) {
                            return with_server.get(key, loader)->size();
                          }));
  all.push_back(contender("heatsink_get and release, in C", threads, reads,
                          [&c_client](const std::string& key) { return c_client.get(key); }));
  all.push_back(contender("Client::peek (not counted)", threads, reads,
                          [&client](const std::string& key) { return client.peek(key)->size(); }));
  all.push_back(contender("naive: counted and kept under locks", threads, reads,
                          [&naive](const std::string& key) { return naive.get(key).size(); }));
  all.push_back(contender("LRU map under one lock", threads, reads,
                          [&locked](const std::string& key) { return locked.get(key).size(); }));
  all.push_back(
      contender("concurrent_hash_map of TBB", threads, reads, [&map](const std::string& key) {
        tbb::concurrent_hash_map<std::string, std::string>::const_accessor at;
        return map.find(at, key) ? at->second.size() : 0;
      }));
  return all;
}

void add_rows(Figures& figures, const std::vector<Contender>& all) {
  for (const Contender& one : all) {
    figures.row({one.name, fmt::format("{:.1f}", median(each(one, &Cost::cpu_ns))),
                 fmt::format("{:.1f}", median(each(one, &Cost::wall_ns))),
                 fmt::format("{:.1f}", ratio(one, all[0], &Cost::cpu_ns))});
  }
}

double get_over_loopback(const Server& server, const std::string& key) {
  const int fd = server.connect();
  const auto bulk = [](const std::string& text) {
    return fmt::format("${}\r\n{}\r\n", text.size(), text);
  };
  round_trip(fd, "*3\r\n$3\r\nSET\r\n" + bulk(key) + bulk(kValue), 5);
  const std::string get = "*2\r\n$3\r\nGET\r\n" + bulk(key);
  Contender one[] = {{"GET over loopback", {}, kTrips}};
  one[0].threads.emplace_back([&] {
    for (std::size_t i = 0; i < kTrips; ++i) round_trip(fd, get, bulk(kValue).size());
  });
  race(one, 3);
  close(fd);
  return median(each(one[0], &Cost::wall_ns));
}

// Every key hot and kept true by the server.
client::Client<> client_of(const Server& server, const std::vector<std::string>& names,
                           client::ClientOptions options) {
  options.server_url = server.url();
  client::Client<> client(options);
  close(server.connect());  // it is there
  for (int tries = 0; tries < 500 && !client.stats().server_problem.empty(); ++tries)
    std::this_thread::sleep_for(Millis(10));
  static_cast<void>(client.warm(
      names, [](const std::string&) { return std::optional<std::string>(kValue); },
      std::chrono::hours(1)));
  if (client.stats().copies != names.size())
    throw std::runtime_error("bench_client: not every key has a copy with a server");
  return client;
}

void measure(Figures& figures) {
  const std::vector<std::string> names = key_names();
  const std::vector<std::vector<std::string>> reads = {reads_of(names, 1), reads_of(names, 2)};
  client::ClientOptions options;
  options.refresh_enabled = false;
  options.expire_after_write = std::chrono::hours(1);
  const client::Client<> client(options);
  static_cast<void>(client.warm(
      names, [](const std::string&) { return std::optional<std::string>(kValue); },
      std::chrono::hours(1)));
  const Server server;
  const client::Client<> with_server = client_of(server, names, options);
  const CClient c_client(names);
  NaiveClient naive;
  LockedLru locked;
  tbb::concurrent_hash_map<std::string, std::string> map;
  for (const std::string& name : names) {
    naive.values.put(name, kValue);
    locked.put(name, kValue);
    map.insert({name, kValue});
  }
  std::vector<double> hit;
  for (const std::size_t threads : {std::size_t{1}, std::size_t{2}}) {
    std::vector<Contender> all =
        contenders(threads, reads, client, with_server, c_client, naive, locked, map);
    race(all, kRounds);
    figures.table(
        fmt::format("A read of a hot key in ns, {} thread{}", threads, threads == 1 ? "" : "s"),
        {"of each thread", "CPU", "wall", "times"});
    add_rows(figures, all);
    hit.push_back(median(each(all[0], &Cost::cpu_ns)));
  }
  const double trip = get_over_loopback(server, names[0]);
  figures.table("Beside the server", {"", "ns", "times"});
  figures.row({"GET over loopback, wall", fmt::format("{:.0f}", trip),
               fmt::format("{:.0f}", trip / hit[0])});
  figures.table("Targets", {"target", "asked", "reached", ""});
  figures.row({"a hit on one thread, ns of CPU", fmt::format("<= {}", kHitNsMax),
               fmt::format("{:.1f}", hit[0]), figures.judged(hit[0] <= kHitNsMax)});
  // By CPU time: what the other thread costs, whatever else the machine does.
  const double scaling = 2 * hit[0] / hit[1];
  figures.row({"throughput of two threads", fmt::format(">= {}", kScalingMin),
               fmt::format("{:.2f}", scaling), figures.judged(scaling >= kScalingMin)});
}

}  // namespace
}  // namespace heatsink::bench

int main(int argc, char** argv) {
  const bool json = argc == 2 && std::string_view(argv[1]) == "--json";
  if (argc > 2 || (argc == 2 && !json)) {
    fmt::print(stderr, "usage: bench_client [--json]\n");
    return 2;
  }
  try {
    heatsink::bench::Figures figures(json);
    heatsink::bench::measure(figures);
    return figures.finish();
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
