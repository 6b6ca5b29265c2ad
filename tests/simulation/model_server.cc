// SPDX-License-Identifier: Apache-2.0
// How the model server runs a command, and what a test may do to it.
#include "tests/simulation/model_server.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "tests/simulation/model_node.h"
#include "tests/simulation/model_replica_link.h"
#include "tests/simulation/model_state.h"

namespace heatsink::simulation {
namespace {

using ModelTable = std::unordered_map<std::string, ModelCommand>;

// Not in Redis 7.0.
const resp::Command kSetInfo{.name = "client|setinfo", .arity = 4};
const resp::Command kNoTouch{.name = "client|no-touch", .arity = 3};

const resp::Command* field_command_named(std::string_view name) {
  const std::span<const resp::Command> all = model_field_commands();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const resp::Command& each) { return each.name == name; });
  return found == all.end() ? nullptr : &*found;
}

const ModelTable& model_table() {
  static const ModelTable table = [] {
    ModelTable out;
    for (const auto commands :
         {model_string_commands(), model_number_commands(), model_key_commands(),
          model_list_commands(), model_hash_commands(), model_transaction_commands(),
          model_script_commands(), model_client_commands(), model_cluster_commands(),
          model_server_commands(), model_replication_commands()}) {
      for (ModelCommand each : commands) {
        each.facts = resp::CommandTable::built_in().find_name(each.name);
        if (each.name == kSetInfo.name) each.facts = &kSetInfo;
        if (each.name == kNoTouch.name) each.facts = &kNoTouch;
        if (const resp::Command* newer = field_command_named(each.name)) each.facts = newer;
        out.emplace(each.name, each);
      }
    }
    return out;
  }();
  return table;
}

bool is_model_container(std::string_view name) {
  return name == "client" || name == "acl" || name == "command" || name == "cluster" ||
         name == "config" || name == "script";
}

bool is_redirect(std::string_view error) {
  return error.starts_with("MOVED") || error.starts_with("ASK") || error.starts_with("TRYAGAIN") ||
         error.starts_with("CLUSTERDOWN") || error.starts_with("CROSSSLOT");
}

// As Redis cuts it: names of 128 bytes, arguments of 128 together.
std::string unknown_command(ModelArgs args) {
  constexpr std::size_t kShown = 128;
  std::string shown;
  for (const std::string_view arg : args.subspan(1)) {
    if (shown.size() >= kShown) break;
    shown += "'" + std::string(arg.substr(0, kShown - shown.size())) + "' ";
  }
  return "ERR unknown command '" + std::string(args[0].substr(0, kShown)) +
         "', with args beginning with: " + shown;
}

std::string unknown_subcommand(ModelArgs args) {
  std::string container(args[0]);
  std::transform(container.begin(), container.end(), container.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return "ERR unknown subcommand '" + std::string(args[1].substr(0, 128)) + "'. Try " + container +
         " HELP.";
}

}  // namespace

std::string model_lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

const ModelCommand* ModelState::find(ModelArgs args) const {
  std::string name = model_lower(args[0]);
  if (is_model_container(name) && args.size() > 1) {
    name += '|' + model_lower(args[1]);
    if (name == "command|") return nullptr;
  }
  const bool is_newer = name == kSetInfo.name || name == kNoTouch.name;
  if (is_newer && !flavor.has_setinfo) return nullptr;
  if (!flavor.has_field_expiry && field_command_named(name) != nullptr) return nullptr;
  const auto found = model_table().find(name);
  return found == model_table().end() ? nullptr : &found->second;
}

bool ModelState::is_write(const ModelCommand& command) { return command.facts->has(resp::kWrite); }

std::string ModelState::refusal(const ModelClient& client, const ModelCommand* command,
                                ModelArgs args) const {
  if (command == nullptr) {
    const std::string name = model_lower(args[0]);
    if (!is_model_container(name)) return unknown_command(args);
    if (args.size() > 1) return unknown_subcommand(args);
    return "ERR wrong number of arguments for '" + name + "' command";
  }
  const auto count = static_cast<std::int32_t>(args.size());
  const std::int32_t arity = command->facts->arity;
  if (arity >= 0 ? count != arity : count < -arity)
    return "ERR wrong number of arguments for '" + std::string(command->name) + "' command";
  if (std::string why = refused_by_cluster(client, *command, args); !why.empty()) return why;
  if (is_replica && !client.from_primary && is_write(*command))
    return "READONLY You can't write against a read only replica.";
  if (node != nullptr && !client.from_primary && is_write(*command)) {
    if (std::string why = node->refuses_write(); !why.empty()) return why;
  }
  const bool nested = client.in_multi && (command->name == "multi" || command->name == "watch");
  if (!nested || !flavor.nested_multi_spoils) return "";
  if (!flavor.nested_multi_names_command) return "ERR Command not allowed inside a transaction";
  return "ERR Command '" + std::string(command->name) + "' not allowed inside a transaction";
}

void ModelState::execute(ModelClient& client, ModelArgs args) {
  ++commands;
  executing = &client;
  keys.begin_command(wall_now());
  keys.set_expires(!is_replica, !client.from_primary);
  client.skips_reply = std::exchange(client.skips_next, false);
  ByteBuffer unread;
  ByteBuffer& out = client.silent() ? unread : client.output;
  const ModelCommand* command = find(args);
  const std::string wrong = refusal(client, command, args);
  const std::string_view name = command == nullptr ? "" : command->name;
  const bool at_once = name == "multi" || name == "exec" || name == "discard" || name == "watch" ||
                       name == "reset" || name == "quit";
  if (node != nullptr && !is_held(client)) client.free_bytes = client.output.size();
  if (!wrong.empty() && name == "exec" && is_redirect(wrong)) {
    model_discard(client);
    resp::append_error(out, wrong);
  } else if (!wrong.empty() && name == "exec") {
    model_discard(client);
    resp::append_error(out, "EXECABORT Transaction discarded because of: " + wrong.substr(4));
  } else if (!wrong.empty()) {
    client.spoilt = client.in_multi;
    resp::append_error(out, wrong);
  } else if (client.in_multi && !at_once) {
    const bool in_vain = client.spoilt || client.watched_changed;
    if (!in_vain) client.queue.emplace_back(args.begin(), args.end());
    resp::append_simple(out, "QUEUED");
  } else {
    call({*this, client, args, out}, *command, args);
  }
  if (!client.in_multi && !name.starts_with("client|")) client.caching_given = false;
  if (!client.in_multi && name != "asking") client.asking = false;
  if (node != nullptr && wrong.empty()) hold_reply(client, command, args);
  tell_own_changes(client);
  executing = nullptr;
  send_to_replicas();
}

void ModelState::call(const ModelCall& call, const ModelCommand& command, ModelArgs caller) {
  command.run(call);
  ++calls[command.name];
  const ModelClient& client = call.client;
  if (node != nullptr && command.facts->has(resp::kReadonly))
    node->note_reads(client, command, call.args);
  if (!client.tracks || !command.facts->has(resp::kReadonly)) return;
  if ((client.opt_in && !client.caching_given) || (client.opt_out && client.caching_given)) return;
  std::vector<resp::KeyRef> found;
  const ModelArgs args = flavor.script_reads_track ? call.args : caller;
  resp::find_keys(*find(args)->facts, args, found);
  for (const resp::KeyRef& key : found) tracking.remember(client.id, args[key.arg]);
}

// ---- what a test may do

ModelServer::ModelServer(net::EventLoop& loop, Databases databases, const ModelFlavor& flavor)
    : loop_(loop), state_(std::make_unique<ModelState>(loop, std::move(databases), flavor)) {}

ModelState::~ModelState() = default;

ModelServer::~ModelServer() {
  state_->node.reset();
  link_.reset();
  for (auto& [id, client] : state_->clients) {
    if (!client->dead && client->stream) loop_.remove(client->stream.fd());
  }
}

void ModelServer::accept(net::Stream stream) { state_->add(std::move(stream)); }
std::size_t ModelServer::clients() const { return state_->clients.size(); }
std::uint64_t ModelServer::commands() const { return state_->commands; }
ModelServer::Databases ModelServer::take_data() { return state_->keys.take(); }

std::size_t ModelServer::keys(std::uint32_t db) const {
  const auto found = state_->keys.databases().find(db);
  return found == state_->keys.databases().end() ? 0 : found->second.size();
}

void ModelServer::expire_some(std::size_t most) {
  state_->keys.begin_command(state_->wall_now());
  state_->keys.set_expires(!state_->is_replica, true);
  state_->keys.expire_some(most);
  state_->send_to_replicas();
}

void ModelServer::forget_tracked(std::size_t most) {
  for (std::size_t i = 0; i < most && state_->tracking.names() > 0; ++i) {
    const std::string key = state_->tracking.any_name();
    for (const std::uint64_t id : state_->tracking.take(key)) {
      ModelClient* client = state_->client(id);
      if (client == nullptr || !client->tracks) continue;
      state_->tell(*client, &key);
      client->flush();
    }
  }
}

void ModelServer::limit_tracked(std::size_t names_max) {
  const std::size_t names = state_->tracking.names();
  if (names > names_max) forget_tracked(names - names_max);
}

void ModelServer::kill(const std::function<bool(std::string_view name)>& chosen) {
  for (auto& [id, client] : state_->clients) {
    if (!client->dead && client->stream && chosen(client->name)) state_->remove(*client);
  }
}

void ModelServer::use_wall_clock(const WallClock& clock) { state_->wall = &clock; }
const ModelServer::Databases& ModelServer::data() const { return state_->keys.databases(); }

void ModelServer::set_cluster(Cluster cluster, std::uint16_t port) {
  state_->cluster = cluster;
  state_->cluster_port = port;
}

ModelNode& ModelServer::join(ModelBus& bus, Node& process, std::uint16_t port,
                             const ModelNodeOptions& options, ModelView view, bool is_restart) {
  state_->cluster = Cluster::kOwner;
  state_->cluster_port = port;
  state_->node = std::make_unique<ModelNode>(*this, *state_, bus, process, port, options,
                                             std::move(view), is_restart);
  return *state_->node;
}

std::string ModelServer::ask(const std::vector<std::string_view>& request) {
  ModelClient& client = state_->add(net::Stream());
  state_->execute(client, request);
  std::string reply(client.output.view());
  state_->remove(client);
  return reply;
}

void ModelServer::flush_another_database() { state_->tell_flush(true); }

void ModelServer::say(std::string_view bytes, const Chosen& chosen) {
  for (auto& [id, client] : state_->clients) {
    if (client->dead || !client->stream) continue;
    const bool idle = client->input.empty() && client->output.empty() && client->queue.empty();
    if (!chosen(client->name, client->stream.fd(), idle)) continue;
    client->output.append(bytes);
    client->flush();
  }
}

void ModelServer::replicate_from(const net::ResolvedAddress& primary) {
  link_.reset();
  state_->is_replica = true;
  link_ = std::make_unique<ReplicaLink>(*state_, primary);
}

void ModelServer::promote() {
  link_.reset();
  state_->is_replica = false;
}

bool ModelServer::is_replica() const { return state_->is_replica; }
bool ModelServer::is_synced() const { return link_ != nullptr && link_->synced(); }

}  // namespace heatsink::simulation
