// SPDX-License-Identifier: Apache-2.0
// Replication of the model server: both sides of the link.
#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "tests/simulation/model_node.h"
#include "tests/simulation/model_replica_link.h"

namespace heatsink::simulation {
namespace {

constexpr Nanos kRetry = Millis(100);
constexpr std::size_t kLinkReadBytes = 16 * 1024;
constexpr std::string_view kSyncs = "+FULLRESYNC ";
constexpr Nanos kAckTimeout = Millis(300);
constexpr std::uint32_t kNoDb = UINT32_MAX;

// A hash, of a key that has been deleted.
std::size_t append_fields(ByteBuffer& out, const std::string& key, const ModelHash& hash) {
  std::vector<std::string_view> set = {"HSET", key};
  for (const auto& [name, field] : hash) set.insert(set.end(), {name, field.value});
  resp::append_request(out, set);
  std::size_t count = 1;
  for (const auto& [name, field] : hash) {
    if (!field.ends) continue;
    const std::string ends =
        std::to_string(std::chrono::floor<Millis>(field.ends->time_since_epoch()).count());
    resp::append_request(out, {"HPEXPIREAT", key, ends, "FIELDS", "1", name});
    ++count;
  }
  return count;
}

// What makes this key what it is now, for a replica in the same database.
std::size_t append_key(ByteBuffer& out, const std::string& key, const ModelEntry& entry) {
  const std::string ends =
      entry.ends
          ? std::to_string(std::chrono::floor<Millis>(entry.ends->time_since_epoch()).count())
          : "";
  if (const std::string* text = entry.text()) {
    ends.empty() ? resp::append_request(out, {"SET", key, *text})
                 : resp::append_request(out, {"SET", key, *text, "PXAT", ends});
    return 1;
  }
  resp::append_request(out, {"DEL", key});
  std::size_t count = 2;
  if (const ModelHash* hash = entry.hash()) {
    count = 1 + append_fields(out, key, *hash);
  } else {
    std::vector<std::string_view> push = {"RPUSH", key};
    for (const std::string& element : *entry.list()) push.emplace_back(element);
    resp::append_request(out, push);
  }
  if (ends.empty()) return count;
  resp::append_request(out, {"PEXPIREAT", key, ends});
  return count + 1;
}

void do_psync(const ModelCall& call) {
  if (std::exchange(call.client.is_replica, true)) return;
  ++call.server.replicas;
  call.client.output.append(kSyncs);
  call.client.output.append(std::to_string(call.server.sent_changes) + "\r\n");
  call.server.append_all_keys(call.client.output);
}

// REPLCONF ACK batches; it has no reply.
void do_replconf(const ModelCall& call) {
  if (call.client.is_replica && call.args.size() == 3)
    call.server.acknowledge(
        static_cast<std::uint64_t>(resp::parse_decimal(call.args[2]).value_or(0)));
}

constexpr std::array kReplicationCommands = {ModelCommand{"psync", do_psync},
                                             ModelCommand{"replconf", do_replconf}};

}  // namespace

std::span<const ModelCommand> model_replication_commands() { return kReplicationCommands; }

// ---- the primary

void ModelState::replicate(std::initializer_list<std::string_view> request) {
  if (replicas == 0) return;
  resp::append_request(changes, request);
  ++changes_count;
  changes_db = kNoDb;  // it may be a SELECT
  if (*request.begin() == "FLUSHALL") all_changed = sent_changes + 1;
}

void ModelState::replicate_key(std::uint32_t db, const std::string& key) {
  if (changes_count == 0 || changes_db != db) replicate({"SELECT", std::to_string(db)});
  changes_db = db;
  if (const ModelEntry* entry = keys.peek(db, key)) {
    changes_count += append_key(changes, key, *entry);
  } else {
    resp::append_request(changes, {"DEL", key});
    ++changes_count;
  }
}

void ModelState::send_to_replicas() {
  if (changes_count == 0) return;
  for (auto& [id, each] : clients) {
    if (!each->is_replica || each->dead) continue;
    resp::append_request(each->output, {"MULTI"});
    each->output.append(changes.view());
    resp::append_request(each->output, {"EXEC"});
    each->flush();
  }
  changes.clear();
  changes_count = 0;
  if (acknowledged == sent_changes) sent_at = loop.clock();
  ++sent_changes;
}

// ---- replies that wait for a replica

bool ModelState::may_change_keys(const ModelCommand& command) {
  return is_write(command) || command.name == "exec" || command.name == "eval" ||
         command.name == "evalsha" || command.name == "migrate";
}

void ModelState::hold_reply(ModelClient& client, const ModelCommand* command, ModelArgs args) {
  if (client.from_primary || client.is_replica || !client.stream) return;
  if (acknowledged == sent_changes && changes_count == 0) return;
  const bool changes_keys = may_change_keys(*command);
  std::uint64_t needed = changes_count > 0 ? sent_changes + 1 : 0;
  if (changes_keys && !unacknowledged.empty()) needed = std::max(needed, sent_changes);
  std::vector<resp::KeyRef> found;
  if (!changes_keys) resp::find_keys(*command->facts, args, found);
  if (!found.empty() && all_changed > acknowledged) needed = std::max(needed, all_changed);
  for (const resp::KeyRef& key : found) {
    const auto changed = unacknowledged.find(args[key.arg]);
    if (changed != unacknowledged.end()) needed = std::max(needed, changed->second);
  }
  if (needed > acknowledged) client.waits_for = std::max(client.waits_for, needed);
}

void ModelState::acknowledge(std::uint64_t batches) {
  if (batches <= acknowledged) return;
  acknowledged = std::min(batches, sent_changes);
  sent_at = loop.clock();
  std::erase_if(unacknowledged, [this](const auto& each) { return each.second <= acknowledged; });
  for (auto& [id, each] : clients)
    if (each->waits_for > 0 && !is_held(*each) && each->stream) each->flush();
}

void ModelState::drop_held() {
  for (auto& [id, each] : clients)
    if (is_held(*each) && each->stream) remove(*each);
  drop_replicas();
  unacknowledged.clear();
  acknowledged = sent_changes;
}

void ModelState::drop_late_replicas(TimePoint now) {
  if (replicas == 0 || acknowledged == sent_changes || now - sent_at < kAckTimeout) return;
  drop_replicas();
}

void ModelState::drop_replicas() {
  for (auto& [id, each] : clients)
    if (each->is_replica) remove(*each);
}

// CLIENT PAUSE WRITE: the command stays unread.
bool ModelState::waits_for_pause(const ModelClient& client, ModelArgs args) const {
  if (node == nullptr || client.from_primary || args.empty() || !node->pauses_writes())
    return false;
  const ModelCommand* command = find(args);
  return command != nullptr && may_change_keys(*command);
}

void ModelState::resume_clients() {
  for (auto& [id, each] : clients) {
    if (each->dead || !each->stream) continue;
    each->take({});
    if (!each->dead) each->flush();
  }
}

void ModelState::append_all_keys(ByteBuffer& out) const {
  resp::append_request(out, {"MULTI"});
  resp::append_request(out, {"FLUSHALL"});
  for (const auto& [db, entries] : keys.databases()) {
    resp::append_request(out, {"SELECT", std::to_string(db)});
    std::map<std::string_view, const ModelEntry*> sorted;
    for (const auto& [key, entry] : entries) sorted[key] = &entry;
    for (const auto& [key, entry] : sorted) append_key(out, std::string(key), *entry);
  }
  resp::append_request(out, {"EXEC"});
}

// ---- the replica

ModelServer::ReplicaLink::ReplicaLink(ModelState& server, net::ResolvedAddress primary)
    : server_(server), primary_(primary) {
  connect();
}

ModelServer::ReplicaLink::~ReplicaLink() {
  lose();
  server_.loop.cancel(retry_);
}

void ModelServer::ReplicaLink::connect() {
  retry_ = 0;
  Result<net::Stream> stream = server_.loop.connect(primary_, {});
  if (!stream.ok() || !server_.loop.add(stream->fd(), net::Interest::kReadWrite, *this).ok())
    return lose();
  stream_ = std::move(stream).value();
  client_ = &server_.add(net::Stream());
  client_->from_primary = true;
  told_ = UINT64_MAX;
}

void ModelServer::ReplicaLink::lose() {
  if (stream_) server_.loop.remove(stream_.fd());
  stream_.close();
  stream_ = net::Stream();
  if (client_ != nullptr) server_.remove(*std::exchange(client_, nullptr));
  asked_ = syncs_ = loaded_ = false;
  if (retry_ == 0) retry_ = server_.loop.call_after(kRetry, [this] { connect(); });
}

void ModelServer::ReplicaLink::on_writable() {
  const Result<net::Interest> opened = stream_.open();
  if (!opened.ok()) return lose();
  if (*opened != net::Interest::kNone || asked_) return;
  asked_ = true;
  ByteBuffer request;
  resp::append_request(request, {"PSYNC", "?", "-1"});
  if (stream_.write(request.data(), request.size()).bytes != request.size()) return lose();
  server_.loop.change(stream_.fd(), net::Interest::kRead);
}

void ModelServer::ReplicaLink::on_readable() {
  std::array<char, kLinkReadBytes> bytes;
  const net::IoResult got = stream_.read(bytes.data(), bytes.size());
  if (got.status == net::IoStatus::kAgain) return;
  if (got.status == net::IoStatus::kClosed) return lose();
  std::string_view came(bytes.data(), got.bytes);
  if (!syncs_) {
    client_->input.append(came);
    const std::size_t end = client_->input.view().find("\r\n");
    if (end == std::string_view::npos) return;
    if (!client_->input.view().starts_with(kSyncs)) return lose();
    const std::string_view batches =
        client_->input.view().substr(kSyncs.size(), end - kSyncs.size());
    // What comes first counts as one more.
    client_->batches = static_cast<std::uint64_t>(resp::parse_decimal(batches).value_or(0)) - 1;
    client_->input.consume(end + 2);
    syncs_ = true;
    came = {};
  }
  const std::uint64_t before = server_.commands;
  client_->take(came);
  if (client_->dead) return lose();
  loaded_ |= server_.commands > before && !client_->in_multi;
  if (loaded_) tell_applied();
}

void ModelServer::ReplicaLink::tell_applied() {
  if (server_.node == nullptr) return;
  server_.node->replica_has(client_->batches);
  if (std::exchange(told_, client_->batches) == client_->batches) return;
  ByteBuffer request;
  resp::append_request(request, {"REPLCONF", "ACK", std::to_string(client_->batches)});
  static_cast<void>(stream_.write(request.data(), request.size()));
}

}  // namespace heatsink::simulation
