// SPDX-License-Identifier: Apache-2.0
// The connections of the model server: bytes in, requests executed, bytes out.
#include <array>

#include "tests/simulation/model_state.h"

namespace heatsink::simulation {
namespace {

constexpr std::size_t kModelReadBytes = 16 * 1024;

}  // namespace

void ModelClient::on_readable() {
  std::array<char, kModelReadBytes> bytes;
  const net::IoResult got = stream.read(bytes.data(), bytes.size());
  if (got.status == net::IoStatus::kAgain) return;
  if (got.status == net::IoStatus::kClosed) return server.remove(*this);
  take({bytes.data(), got.bytes});
  if (!dead) flush();
}

void ModelClient::take(std::string_view bytes) {
  input.append(bytes);
  while (!input.empty() && !dead && !closes) {
    const resp::ParseStatus status = parser.parse(input.view());
    if (status == resp::ParseStatus::kNeedMore) return;
    if (status != resp::ParseStatus::kRequest) return server.remove(*this);
    const std::size_t size = parser.size();
    if (server.waits_for_pause(*this, parser.args())) return;
    if (!parser.args().empty()) server.execute(*this, parser.args());
    input.consume(size);
  }
}

void ModelClient::flush() {
  if (!server.is_held(*this)) free_bytes = output.size();
  while (!dead && free_bytes > 0) {
    const net::IoResult wrote = stream.write(output.data(), free_bytes);
    if (wrote.status == net::IoStatus::kClosed) return server.remove(*this);
    if (wrote.status == net::IoStatus::kAgain) break;
    output.consume(wrote.bytes);
    free_bytes -= wrote.bytes;
  }
  if (dead) return;
  if (closes && output.empty()) return server.remove(*this);
  server.loop.change(stream.fd(),
                     free_bytes == 0 ? net::Interest::kRead : net::Interest::kReadWrite);
}

ModelClient& ModelState::add(net::Stream stream) {
  const std::uint64_t id = ++last_client;
  auto& client = clients[id];
  client = std::make_unique<ModelClient>(*this, id, std::move(stream));
  if (client->stream)
    static_cast<void>(loop.add(client->stream.fd(), net::Interest::kRead, *client));
  return *client;
}

// Freed in a later turn: it may be the one that is being served.
void ModelState::remove(ModelClient& client) {
  if (std::exchange(client.dead, true)) return;
  if (client.is_replica) --replicas;
  if (client.stream) loop.remove(client.stream.fd());
  client.stream.close();
  client.watched.clear();
  loop.post([this, id = client.id] { clients.erase(id); });
}

ModelClient* ModelState::client(std::uint64_t id) {
  const auto found = clients.find(id);
  return found == clients.end() || found->second->dead ? nullptr : found->second.get();
}

// ---- what clients are told

void ModelState::on_change(std::uint32_t db, const std::string& key) {
  touch_watched(db, key);
  if (replicas > 0) replicate_key(db, key);
  if (replicas > 0 && node != nullptr) unacknowledged[key] = sent_changes + 1;
  for (const std::uint64_t id : tracking.take(key)) {
    ModelClient* to = client(id);
    if (to == nullptr || !to->tracks) continue;
    if (to != executing) {
      tell(*to, &key);
      to->flush();
    } else if (!to->no_loop) {
      own_changes.emplace_back(key);
    }
  }
}

void ModelState::tell(ModelClient& to, const std::string* key) {
  if (!to.resp3 || to.dead) return;
  to.output.append(">2\r\n$10\r\ninvalidate\r\n");
  if (key == nullptr) return to.output.append("_\r\n");
  resp::append_array_header(to.output, 1);
  resp::append_bulk(to.output, *key);
}

void ModelState::tell_flush(bool at_once) {
  tracking.clear();
  for (auto& [id, each] : clients) {
    if (!each->tracks || each->dead) continue;
    if (each.get() == executing && !at_once) {
      own_changes.emplace_back(std::nullopt);
      continue;
    }
    tell(*each, nullptr);
    if (each.get() != executing) each->flush();
  }
}

void ModelState::tell_own_changes(ModelClient& client) {
  for (const std::optional<std::string>& key : std::exchange(own_changes, {}))
    tell(client, key ? &*key : nullptr);
}

}  // namespace heatsink::simulation
