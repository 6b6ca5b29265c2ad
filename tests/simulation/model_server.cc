// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/model_server.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include "heatsink/proxy/ascii.h"

namespace heatsink::simulation {
namespace {

constexpr std::size_t kReadBytes = 16 * 1024;
constexpr std::int64_t kDatabases = 16;
constexpr std::string_view kNoInteger = "ERR value is not an integer or out of range";

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

}  // namespace

struct ModelServer::Client final : net::FdHandler {
  Client(ModelServer& its_server, std::uint64_t its_id, net::Stream its_stream)
      : server(its_server), id(its_id), stream(std::move(its_stream)) {}

  void on_readable() override {
    std::array<char, kReadBytes> bytes;
    const net::IoResult got = stream.read(bytes.data(), bytes.size());
    if (got.status == net::IoStatus::kAgain) return;
    if (got.status == net::IoStatus::kClosed) return server.remove(*this);
    input.append({bytes.data(), got.bytes});
    while (!input.empty() && !dead) {
      const resp::ParseStatus status = parser.parse(input.view());
      if (status == resp::ParseStatus::kNeedMore) break;
      if (status != resp::ParseStatus::kRequest) return server.remove(*this);
      const std::size_t size = parser.size();
      if (!parser.args().empty()) server.execute(*this, parser.args());
      input.consume(size);
    }
    flush();
  }
  void on_writable() override { flush(); }

  void flush() {
    while (!dead && !output.empty()) {
      const net::IoResult wrote = stream.write(output.data(), output.size());
      if (wrote.status == net::IoStatus::kClosed) return server.remove(*this);
      if (wrote.status == net::IoStatus::kAgain) break;
      output.consume(wrote.bytes);
    }
    if (!dead)
      server.loop_.change(stream.fd(),
                          output.empty() ? net::Interest::kRead : net::Interest::kReadWrite);
  }
  resp::Protocol protocol() const {
    return resp3 ? resp::Protocol::kResp3 : resp::Protocol::kResp2;
  }

  ModelServer& server;
  const std::uint64_t id;
  net::Stream stream;
  resp::RequestParser parser;
  ByteBuffer input, output;
  bool dead = false;
  bool resp3 = false;
  bool tracks = false;
  std::string name;
  std::uint32_t db = 0;
  bool in_multi = false, spoilt = false;
  std::vector<std::vector<std::string>> queue;
  std::set<std::pair<std::uint32_t, std::string>> watched;
  bool watched_changed = false;
  std::vector<std::string> own_changes;  // told behind the reply
};

ModelServer::ModelServer(net::EventLoop& loop, Databases databases)
    : loop_(loop), databases_(std::move(databases)) {}

ModelServer::~ModelServer() {
  for (auto& [id, client] : clients_) {
    if (!client->dead) loop_.remove(client->stream.fd());
  }
}

void ModelServer::accept(net::Stream stream) {
  const std::uint64_t id = ++last_client_;
  auto client = std::make_unique<Client>(*this, id, std::move(stream));
  static_cast<void>(loop_.add(client->stream.fd(), net::Interest::kRead, *client));
  clients_[id] = std::move(client);
}

// Freed in a later turn: it may be the one that is being served.
void ModelServer::remove(Client& client) {
  if (std::exchange(client.dead, true)) return;
  loop_.remove(client.stream.fd());
  client.stream.close();
  for (auto it = tracked_.begin(); it != tracked_.end();) {
    it->second.erase(client.id);
    it = it->second.empty() ? tracked_.erase(it) : std::next(it);
  }
  loop_.post([this, id = client.id] { clients_.erase(id); });
}

void ModelServer::kill(const std::function<bool(std::string_view name)>& chosen) {
  for (auto& [id, client] : clients_) {
    if (!client->dead && chosen(client->name)) remove(*client);
  }
}

// ---- keys

ModelServer::Entry* ModelServer::find(Client& client, std::string_view key) {
  Keys& keys = databases_[client.db];
  const auto found = keys.find(std::string(key));
  if (found == keys.end()) return nullptr;
  if (!found->second.ends || now() < *found->second.ends) return &found->second;
  erase(client.db, found->first);
  return nullptr;
}

void ModelServer::erase(std::uint32_t db, const std::string& key) {
  const std::string name = key;  // it may be the one in the table
  databases_[db].erase(name);
  touched(name, db);
}

void ModelServer::touched(const std::string& key, std::uint32_t db) {
  for (auto& [id, client] : clients_) {
    if (client->watched.contains({db, key})) client->watched_changed = true;
  }
  const auto found = tracked_.find(key);
  if (found == tracked_.end()) return;
  const std::set<std::uint64_t> tracking = std::move(found->second);
  tracked_.erase(found);
  for (const std::uint64_t id : tracking) {
    Client& client = *clients_.at(id);
    if (id == executing_) {
      client.own_changes.push_back(key);
    } else {
      push_invalidation(client, &key);
      client.flush();
    }
  }
}

void ModelServer::push_invalidation(Client& to, const std::string* key) {
  if (!to.resp3 || to.dead) return;
  to.output.append(">2\r\n$10\r\ninvalidate\r\n");
  if (key == nullptr) return to.output.append("_\r\n");
  resp::append_array_header(to.output, 1);
  resp::append_bulk(to.output, *key);
}

void ModelServer::expire_some(std::size_t most) {
  for (auto& [db, keys] : databases_) {
    std::vector<std::string> ended;
    for (const auto& [key, entry] : keys) {
      if (entry.ends && now() >= *entry.ends && ended.size() < most) ended.push_back(key);
    }
    std::sort(ended.begin(), ended.end());
    for (const std::string& key : ended) erase(db, key);
  }
}

void ModelServer::forget_tracked(std::size_t most) {
  for (std::size_t i = 0; i < most && !tracked_.empty(); ++i) {
    const std::string key = tracked_.begin()->first;
    const std::set<std::uint64_t> tracking = std::move(tracked_.begin()->second);
    tracked_.erase(tracked_.begin());
    for (const std::uint64_t id : tracking) {
      push_invalidation(*clients_.at(id), &key);
      clients_.at(id)->flush();
    }
  }
}

// ---- commands

const std::map<std::string, ModelServer::Command, std::less<>>& ModelServer::table() {
  using M = ModelServer;
  static const std::map<std::string, Command, std::less<>> commands = [] {
    std::map<std::string, Command, std::less<>> out;
    for (const Command& each :
         std::initializer_list<Command>{{"hello", -1, &M::hello},
                                        {"auth", -2, &M::auth},
                                        {"ping", -1, &M::ping},
                                        {"select", 2, &M::select},
                                        {"get", 2, &M::get, true},
                                        {"mget", -2, &M::mget, true, true},
                                        {"getrange", 4, &M::getrange, true},
                                        {"strlen", 2, &M::strlen, true},
                                        {"exists", -2, &M::exists, true, true},
                                        {"lcs", -3, &M::lcs, true, true},
                                        {"pttl", 2, &M::pttl, true},
                                        {"set", -3, &M::set},
                                        {"eval", -3, &M::eval},
                                        {"incr", 2, &M::incr},
                                        {"del", -2, &M::del},
                                        {"pexpire", -3, &M::pexpire},
                                        {"touch", -2, &M::touch, true, true},
                                        {"flushall", -1, &M::flushall},
                                        {"client", -2, &M::client_command},
                                        {"info", -1, &M::info},
                                        {"cluster", -2, &M::cluster},
                                        {"acl", -2, &M::acl},
                                        {"multi", 1, &M::multi},
                                        {"exec", 1, &M::exec},
                                        {"discard", 1, &M::discard},
                                        {"watch", -2, &M::watch},
                                        {"unwatch", 1, &M::unwatch}})
      out.emplace(each.name, each);
    return out;
  }();
  return commands;
}

void ModelServer::execute(Client& client, Args args) {
  ++commands_;
  executing_ = client.id;
  const auto found = table().find(lower(args[0]));
  const auto count = static_cast<int>(args.size());
  if (found == table().end()) {
    client.spoilt = client.in_multi;
    resp::append_error(client.output, "ERR unknown command '" + std::string(args[0]) +
                                          "', with args beginning with: ");
  } else if (found->second.arity >= 0 ? count != found->second.arity
                                      : count < -found->second.arity) {
    client.spoilt = client.in_multi;
    resp::append_error(client.output, "ERR wrong number of arguments for '" +
                                          std::string(found->second.name) + "' command");
  } else {
    const std::string_view name = found->second.name;
    const bool at_once = name == "multi" || name == "exec" || name == "discard" || name == "watch";
    if (refuses_key(client, found->second)) {
      client.spoilt = client.in_multi;
    } else if (client.in_multi && !at_once) {
      client.queue.emplace_back(args.begin(), args.end());
      client.output.append("+QUEUED\r\n");
    } else {
      call(client, found->second, args);
    }
  }
  for (const std::string& key : std::exchange(client.own_changes, {}))
    push_invalidation(client, &key);
  executing_ = 0;
}

void ModelServer::call(Client& client, const Command& command, Args args) {
  (this->*command.run)(client, args);
  if (client.tracks && command.reads_keys) track(client, command, args);
}

void ModelServer::track(Client& client, const Command& command, Args args) {
  for (std::size_t i = 1; i < args.size(); ++i) {
    tracked_[std::string(args[i])].insert(client.id);
    if (!command.many) return;
  }
}

void ModelServer::hello(Client& client, Args args) {
  if (args.size() > 1) {
    if (args[1] != "2" && args[1] != "3")
      return resp::append_error(client.output, "NOPROTO unsupported protocol version");
    client.resp3 = args[1] == "3";
  }
  for (std::size_t i = 2; i + 1 < args.size(); ++i) {
    if (proxy::equals_ignoring_case(args[i], "setname")) client.name = args[i + 1];
  }
  resp::append_map_header(client.output, 7, client.protocol());
  const auto text = [&](std::string_view name, std::string_view value) {
    resp::append_bulk(client.output, name);
    resp::append_bulk(client.output, value);
  };
  text("server", "redis");
  text("version", "7.0.15");
  resp::append_bulk(client.output, "proto");
  resp::append_integer(client.output, client.resp3 ? 3 : 2);
  resp::append_bulk(client.output, "id");
  resp::append_integer(client.output, static_cast<std::int64_t>(client.id));
  text("mode", cluster_ == Cluster::kNone ? "standalone" : "cluster");
  text("role", "master");
  resp::append_bulk(client.output, "modules");
  resp::append_array_header(client.output, 0);
}

void ModelServer::auth(Client& client, Args /*args*/) {
  resp::append_error(client.output,
                     "ERR AUTH <password> called without any password configured for the default "
                     "user. Are you sure your configuration is correct?");
}

void ModelServer::ping(Client& client, Args args) {
  args.size() > 1 ? resp::append_bulk(client.output, args[1])
                  : resp::append_simple(client.output, "PONG");
}

void ModelServer::select(Client& client, Args args) {
  const std::optional<std::int64_t> db = number_in(args[1]);
  if (!db) return resp::append_error(client.output, "ERR invalid DB index");
  if (*db < 0 || *db >= kDatabases)
    return resp::append_error(client.output, "ERR DB index is out of range");
  client.db = static_cast<std::uint32_t>(*db);
  resp::append_simple(client.output, "OK");
}

void ModelServer::get(Client& client, Args args) {
  const Entry* entry = find(client, args[1]);
  entry == nullptr ? resp::append_null(client.output, client.protocol())
                   : resp::append_bulk(client.output, entry->value);
}

void ModelServer::mget(Client& client, Args args) {
  resp::append_array_header(client.output, static_cast<std::int64_t>(args.size()) - 1);
  for (std::size_t i = 1; i < args.size(); ++i) get(client, args.subspan(i - 1, 2));
}

// Of a range that begins at 0, which is what heatsink asks for.
void ModelServer::getrange(Client& client, Args args) {
  const std::optional<std::int64_t> first = number_in(args[2]), last = number_in(args[3]);
  if (!first || !last) return resp::append_error(client.output, kNoInteger);
  const Entry* entry = find(client, args[1]);
  const std::string_view value = entry == nullptr ? std::string_view() : entry->value;
  const auto size = static_cast<std::int64_t>(value.size());
  const std::int64_t end = *last < 0 ? size + *last : *last;
  const std::int64_t begin = std::max<std::int64_t>(*first < 0 ? size + *first : *first, 0);
  if (begin > end || begin >= size) return resp::append_bulk(client.output, "");
  resp::append_bulk(client.output, value.substr(static_cast<std::size_t>(begin),
                                                static_cast<std::size_t>(end - begin + 1)));
}

void ModelServer::strlen(Client& client, Args args) {
  const Entry* entry = find(client, args[1]);
  const std::size_t size = entry == nullptr ? 0 : entry->value.size();
  resp::append_integer(client.output, static_cast<std::int64_t>(size));
}

void ModelServer::exists(Client& client, Args args) {
  std::int64_t found = 0;
  for (const std::string_view key : args.subspan(1)) found += find(client, key) != nullptr ? 1 : 0;
  resp::append_integer(client.output, found);
}

// Of a key with itself: its value.
void ModelServer::lcs(Client& client, Args args) {
  const Entry* entry = find(client, args[1]);
  resp::append_bulk(client.output, entry == nullptr ? std::string_view() : entry->value);
}

void ModelServer::pttl(Client& client, Args args) {
  const Entry* entry = find(client, args[1]);
  std::int64_t ms = entry == nullptr ? -2 : -1;
  if (entry != nullptr && entry->ends)
    ms = std::chrono::floor<Millis>(*entry->ends - now()).count();
  resp::append_integer(client.output, ms);
}

void ModelServer::put(Client& client, std::string_view key, std::string_view value, Nanos ttl) {
  Entry& entry = databases_[client.db][std::string(key)];
  entry.value = value;
  entry.ends = ttl > Nanos(0) ? std::optional(now() + ttl) : std::nullopt;
  touched(std::string(key), client.db);
}

void ModelServer::set(Client& client, Args args) {
  Nanos ttl{0};
  if (args.size() == 5 && proxy::equals_ignoring_case(args[3], "px")) {
    const std::optional<std::int64_t> ms = number_in(args[4]);
    if (!ms) return resp::append_error(client.output, kNoInteger);
    ttl = Millis(*ms);
  } else if (args.size() != 3) {
    return resp::append_error(client.output, "ERR syntax error");
  }
  put(client, args[1], args[2], ttl);
  resp::append_simple(client.output, "OK");
}

// The player's script: SET ARGV[1] ARGV[2], without declared keys.
void ModelServer::eval(Client& client, Args args) {
  if (args.size() != 5 || args[2] != "0")
    return resp::append_error(client.output, "ERR the model knows one script only");
  put(client, args[3], args[4], Nanos(0));
  resp::append_simple(client.output, "OK");
}

void ModelServer::incr(Client& client, Args args) {
  const Entry* entry = find(client, args[1]);
  const std::optional<std::int64_t> before = entry == nullptr ? 0 : number_in(entry->value);
  if (!before) return resp::append_error(client.output, kNoInteger);
  Entry& changed = databases_[client.db][std::string(args[1])];
  changed.value = std::to_string(*before + 1);
  touched(std::string(args[1]), client.db);
  resp::append_integer(client.output, *before + 1);
}

void ModelServer::del(Client& client, Args args) {
  std::int64_t removed = 0;
  for (const std::string_view key : args.subspan(1)) {
    if (find(client, key) == nullptr) continue;
    erase(client.db, std::string(key));
    ++removed;
  }
  resp::append_integer(client.output, removed);
}

void ModelServer::pexpire(Client& client, Args args) {
  const std::optional<std::int64_t> ms = number_in(args[2]);
  if (!ms) return resp::append_error(client.output, kNoInteger);
  Entry* entry = find(client, args[1]);
  const bool only_less = args.size() == 4 && proxy::equals_ignoring_case(args[3], "lt");
  const TimePoint ends = now() + Millis(*ms);
  if (entry == nullptr || (only_less && entry->ends && ends >= *entry->ends))
    return resp::append_integer(client.output, 0);
  entry->ends = ends;
  touched(std::string(args[1]), client.db);
  resp::append_integer(client.output, 1);
}

void ModelServer::touch(Client& client, Args args) { exists(client, args); }

void ModelServer::flushall(Client& client, Args /*args*/) {
  for (auto& [id, other] : clients_) {
    for (const auto& [db, key] : other->watched) {
      if (databases_[db].contains(key)) other->watched_changed = true;
    }
  }
  databases_.clear();
  tracked_.clear();
  for (auto& [id, other] : clients_) {
    if (!other->tracks || other->dead) continue;
    push_invalidation(*other, nullptr);
    if (id != client.id) other->flush();
  }
  resp::append_simple(client.output, "OK");
}

void ModelServer::client_command(Client& client, Args args) {
  const std::string what = lower(args[1]);
  if (what == "tracking" && args.size() >= 3) {
    client.tracks = lower(args[2]) == "on";
  } else if (what == "setname" && args.size() == 3) {
    client.name = args[2];
  } else if (what == "unblock") {
    return resp::append_integer(client.output, 0);
  } else if (what != "setinfo") {
    return resp::append_error(client.output, "ERR unknown subcommand '" + what + "'");
  }
  resp::append_simple(client.output, "OK");
}

void ModelServer::info(Client& client, Args /*args*/) {
  resp::append_bulk(client.output, "# Memory\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\n");
}

// The one user, who may do everything: who is not told that keeps copies for a second only.
void ModelServer::acl(Client& client, Args args) {
  if (lower(args[1]) == "dryrun") return resp::append_simple(client.output, "OK");
  if (lower(args[1]) != "getuser")
    return resp::append_error(
        client.output, "ERR unknown subcommand '" + std::string(args[1]) + "'. Try ACL HELP.");
  resp::append_map_header(client.output, 2, client.protocol());
  for (const std::string_view word : {"commands", "+@all", "keys", "~*"})
    resp::append_bulk(client.output, word);
}

// ---- a node of a cluster, and other faults

bool ModelServer::refuses_key(Client& client, const Command& command) {
  const bool keyed = command.reads_keys || command.name == "set" || command.name == "incr" ||
                     command.name == "del" || command.name == "pexpire" || command.name == "watch";
  if (!keyed || (cluster_ != Cluster::kMoved && cluster_ != Cluster::kDown)) return false;
  resp::append_error(client.output, cluster_ == Cluster::kMoved
                                        ? "MOVED 7000 127.0.0.1:6378"
                                        : "CLUSTERDOWN The cluster is down");
  return true;
}

void ModelServer::cluster(Client& client, Args args) {
  if (cluster_ == Cluster::kNone)
    return resp::append_error(client.output, "ERR This instance has cluster support disabled");
  if (lower(args[1]) != "nodes")
    return resp::append_error(
        client.output, "ERR unknown subcommand '" + std::string(args[1]) + "'. Try CLUSTER HELP.");
  const std::string own =
      "e7d1eecce10fd6bb5eb35b9f99a514335d9ba9ca 127.0.0.1:6379@16379 myself,master - 0 0 1 "
      "connected";
  resp::append_bulk(client.output, own + (cluster_ == Cluster::kMoved ? "\n" : " 0-16383\n"));
}

void ModelServer::flush_another_database() {
  tracked_.clear();
  for (auto& [id, client] : clients_) {
    if (!client->tracks || client->dead) continue;
    push_invalidation(*client, nullptr);
    client->flush();
  }
}

void ModelServer::say(std::string_view bytes, const Chosen& chosen) {
  for (auto& [id, client] : clients_) {
    if (client->dead) continue;
    const bool idle = client->input.empty() && client->output.empty() && client->queue.empty();
    if (!chosen(client->name, client->stream.fd(), idle)) continue;
    client->output.append(bytes);
    client->flush();
  }
}

// ---- transactions

void ModelServer::multi(Client& client, Args /*args*/) {
  if (client.in_multi)
    return resp::append_error(client.output, "ERR MULTI calls can not be nested");
  client.in_multi = true;
  client.spoilt = false;
  resp::append_simple(client.output, "OK");
}

void ModelServer::exec(Client& client, Args /*args*/) {
  if (!client.in_multi) return resp::append_error(client.output, "ERR EXEC without MULTI");
  client.in_multi = false;
  const auto queue = std::exchange(client.queue, {});
  // A watched key that has ended meanwhile is a change, too.
  for (const auto& [db, key] : std::set(client.watched)) {
    const std::uint32_t before = std::exchange(client.db, db);
    find(client, key);
    client.db = before;
  }
  const bool changed = std::exchange(client.watched_changed, false);
  client.watched.clear();
  if (std::exchange(client.spoilt, false))
    return resp::append_error(client.output,
                              "EXECABORT Transaction discarded because of previous errors.");
  if (changed) return client.output.append(client.resp3 ? "_\r\n" : "*-1\r\n");
  resp::append_array_header(client.output, static_cast<std::int64_t>(queue.size()));
  for (const auto& words : queue) {
    const std::vector<std::string_view> args(words.begin(), words.end());
    call(client, table().find(lower(args[0]))->second, args);
  }
}

void ModelServer::discard(Client& client, Args /*args*/) {
  if (!client.in_multi) return resp::append_error(client.output, "ERR DISCARD without MULTI");
  client.in_multi = client.spoilt = client.watched_changed = false;
  client.queue.clear();
  client.watched.clear();
  resp::append_simple(client.output, "OK");
}

void ModelServer::watch(Client& client, Args args) {
  if (client.in_multi)
    return resp::append_error(client.output, "ERR WATCH inside MULTI is not allowed");
  for (const std::string_view key : args.subspan(1)) {
    find(client, key);
    client.watched.emplace(client.db, key);
  }
  resp::append_simple(client.output, "OK");
}

void ModelServer::unwatch(Client& client, Args /*args*/) {
  client.watched.clear();
  client.watched_changed = false;
  resp::append_simple(client.output, "OK");
}

}  // namespace heatsink::simulation
