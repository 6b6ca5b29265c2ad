// SPDX-License-Identifier: Apache-2.0
// What the commands of the model server work on: its clients, keys, tracking table and replicas.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/net/net.h"
#include "heatsink/resp/resp.h"
#include "tests/simulation/model_flavor.h"
#include "tests/simulation/model_keys.h"
#include "tests/simulation/model_tracking.h"
#include "tests/simulation/wall_clock.h"

namespace heatsink::simulation {

class ModelNode;
struct ModelState;
using ModelArgs = std::span<const std::string_view>;

// One connection.
struct ModelClient final : net::FdHandler {
  struct Watched {
    std::uint32_t db;
    std::string key;
    bool had_ended;  // already when it was watched, and is still there
  };

  ModelClient(ModelState& its_server, std::uint64_t its_id, net::Stream its_stream)
      : server(its_server), id(its_id), stream(std::move(its_stream)) {}

  void on_readable() override;
  void on_writable() override { flush(); }
  void take(std::string_view bytes);  // executes what is complete
  void flush();
  resp::Protocol protocol() const {
    return resp3 ? resp::Protocol::kResp3 : resp::Protocol::kResp2;
  }
  bool silent() const { return replies_off || skips_reply || from_primary; }

  ModelState& server;
  const std::uint64_t id;
  net::Stream stream;  // none: the link of a replica, which executes what the primary sends
  resp::RequestParser parser;
  ByteBuffer input, output;
  bool dead = false;    // closed, and freed in a later turn
  bool closes = false;  // as soon as the output has left
  bool resp3 = false;
  std::string name;
  std::uint32_t db = 0;
  // CLIENT REPLY
  bool replies_off = false, skips_next = false, skips_reply = false;
  // CLIENT TRACKING
  bool tracks = false, no_loop = false, opt_in = false, opt_out = false;
  bool caching_given = false;  // CLIENT CACHING, for the next command
  // MULTI, WATCH
  bool in_multi = false, spoilt = false, watched_changed = false;
  std::vector<std::vector<std::string>> queue;
  std::vector<Watched> watched;
  // Replication
  bool from_primary = false;  // on a replica
  bool is_replica = false;    // on a primary
  std::uint64_t batches = 0;  // of changes that it has executed, or that it is known to have
  // Of a cluster.
  bool asking = false;    // ASKING, for the next command
  bool readonly = false;  // READONLY
  // Output behind these bytes waits until the replica has `waits_for` batches of changes.
  std::size_t free_bytes = 0;
  std::uint64_t waits_for = 0;
};

struct ModelCall {
  ModelState& server;
  ModelClient& client;
  ModelArgs args;
  ByteBuffer& out;      // of the client, or what nobody reads
  bool nested = false;  // by EXEC or by a script

  std::uint32_t db() const { return client.db; }
  resp::Protocol protocol() const { return client.protocol(); }
  void error(std::string_view text) const { resp::append_error(out, text); }
  void ok() const { resp::append_simple(out, "OK"); }
  void integer(std::int64_t value) const { resp::append_integer(out, value); }
  void bulk(std::string_view bytes) const { resp::append_bulk(out, bytes); }
  void verbatim(std::string_view text) const;  // a bulk string in RESP2
  void null() const { resp::append_null(out, protocol()); }
};

// A command of the model. Arity, flags and keys are those of the table of Redis 7.0.
struct ModelCommand {
  std::string_view name;  // "get", "client|id"
  void (*run)(const ModelCall&);
  const resp::Command* facts = nullptr;
};

std::span<const ModelCommand> model_string_commands();
std::span<const ModelCommand> model_number_commands();
std::span<const ModelCommand> model_key_commands();
std::span<const ModelCommand> model_list_commands();
std::span<const ModelCommand> model_hash_commands();
// Those of them that Redis 7.0 does not have.
std::span<const resp::Command> model_field_commands();
std::span<const ModelCommand> model_transaction_commands();
std::span<const ModelCommand> model_script_commands();
std::span<const ModelCommand> model_client_commands();
std::span<const ModelCommand> model_cluster_commands();
std::span<const ModelCommand> model_server_commands();
std::span<const ModelCommand> model_replication_commands();

struct ModelState final : ModelKeys::Listener {
  ModelState(net::EventLoop& its_loop, ModelDatabases databases, const ModelFlavor& its_flavor)
      : loop(its_loop), flavor(its_flavor), keys(std::move(databases), *this) {}
  ~ModelState() override;

  // A request, as it came.
  void execute(ModelClient& client, ModelArgs args);
  // A command by itself, of EXEC or of a script; `caller` has declared the keys.
  void call(const ModelCall& call, const ModelCommand& command, ModelArgs caller);
  const ModelCommand* find(ModelArgs args) const;  // null: unknown, or a container by itself
  // What is wrong with it before it runs; "" if nothing is.
  std::string refusal(const ModelClient& client, const ModelCommand* command, ModelArgs args) const;
  static bool is_write(const ModelCommand& command);
  static bool may_change_keys(const ModelCommand& command);  // by itself, or by what it executes
  // "" if its keys are this node's to serve.
  std::string refused_by_cluster(const ModelClient& client, const ModelCommand& command,
                                 ModelArgs args) const;

  void on_change(std::uint32_t db, const std::string& key) override;
  void touch_watched(std::uint32_t db, const std::string& key);
  // Of what is about to be gone, or to change places with another database.
  void touch_watched_in(std::uint32_t db, std::optional<std::uint32_t> replaced_with);
  void tell_flush(bool at_once);
  void tell(ModelClient& client, const std::string* key);  // null: all
  // What the executing client is told of its own changes comes behind its reply.
  void tell_own_changes(ModelClient& client);

  ModelClient& add(net::Stream stream);
  void remove(ModelClient& client);
  ModelClient* client(std::uint64_t id);

  // For replicas.
  void replicate(std::initializer_list<std::string_view> request);
  void replicate_key(std::uint32_t db, const std::string& key);
  void send_to_replicas();
  void append_all_keys(ByteBuffer& out) const;
  // Of a node of a cluster, which keeps replies back until its replica has what they tell.
  void hold_reply(ModelClient& client, const ModelCommand* command, ModelArgs args);
  bool is_held(const ModelClient& client) const { return client.waits_for > acknowledged; }
  void acknowledge(std::uint64_t batches);
  void drop_held();
  void drop_late_replicas(TimePoint now);
  void drop_replicas();
  bool waits_for_pause(const ModelClient& client, ModelArgs args) const;
  void resume_clients();

  TimePoint wall_now() const { return wall == nullptr ? loop.clock() : wall->at(loop.clock()); }

  net::EventLoop& loop;
  const WallClock* wall = nullptr;
  const ModelFlavor flavor;
  ModelKeys keys;
  ModelTracking tracking;
  std::map<std::uint64_t, std::unique_ptr<ModelClient>> clients;
  std::uint64_t last_client = 0;
  std::uint64_t commands = 0;
  std::map<std::string_view, std::uint64_t> calls;  // of each command, since the start
  ModelClient* executing = nullptr;
  std::vector<std::optional<std::string>> own_changes;  // none: all
  std::size_t replicas = 0;
  bool is_replica = false;
  // Batches of changes: sent to replicas, applied by one, known to be applied by this one's.
  std::uint64_t sent_changes = 0, applied_changes = 0, acknowledged = 0;
  std::map<std::string, std::uint64_t, std::less<>> unacknowledged;  // the last batch of each key
  std::uint64_t all_changed = 0;                                     // the batch of a FLUSHALL
  TimePoint sent_at{};              // of the first batch that is not acknowledged
  std::unique_ptr<ModelNode> node;  // of a model cluster; null: of none
  ModelCluster cluster = ModelCluster::kNone;
  // The nodes of the cluster: the first has all slots at the beginning.
  static constexpr std::uint16_t kFirstPort = 6379, kOtherPort = 6378;
  std::uint16_t cluster_port = kFirstPort;  // its own
  ByteBuffer changes;                       // of the command that runs, as requests
  std::size_t changes_count = 0;
  std::uint32_t changes_db = 0;  // the database that the replicas are in
};

// No transaction, no watched keys.
void model_discard(ModelClient& client);

std::string model_lower(std::string_view text);
// "-1" is the last element; an empty range if first > last.
struct ModelRange {
  std::size_t first = 0, count = 0;
};
ModelRange model_range(std::int64_t first, std::int64_t last, std::size_t size);

inline constexpr std::string_view kModelNoInteger = "ERR value is not an integer or out of range";
inline constexpr std::string_view kModelSyntax = "ERR syntax error";
inline constexpr std::string_view kModelWrongType =
    "WRONGTYPE Operation against a key holding the wrong kind of value";

}  // namespace heatsink::simulation
