// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/library_process.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <optional>
#include <stdexcept>
#include <utility>

#include "heatsink/client/client.h"
#include "tests/simulation/blocking_connection.h"

namespace heatsink::simulation {
namespace {

using consistency::Kind;
using consistency::LoadSpec;
using consistency::Op;
using consistency::Recorder;

constexpr Nanos kStepMax = std::chrono::microseconds(20);     // what an operation takes at most
constexpr Nanos kDetourMax = std::chrono::microseconds(500);  // between read() and load()

client::ClientOptions client_options(const LibraryOptions& options) {
  client::ClientOptions made;
  made.server_url = options.server_url;
  // Keys are hot at once and stay so; one shard, so that the machine's cores do not matter.
  std::vector<std::string> all = {
      "detection.hot-qps=2",         "detection.window=1s",   "detection.minimum-residence=1h",
      "detection.write-hot-ratio=0", "detection.tick=20ms",   "recorder.shards=1",
      "recorder.capacity=100",       "refresh.interval=300ms"};
  all.insert(all.end(), options.options.begin(), options.options.end());
  for (const std::string& assignment : all) {
    const std::size_t at = assignment.find('=');
    const auto changed = made.with(assignment.substr(0, at), assignment.substr(at + 1));
    if (!changed.ok()) {
      std::fprintf(stderr, "%s\n", changed.error().message.c_str());
      std::abort();
    }
    made = *changed;
  }
  return made;
}

// What players wrote; anything else is a value that nobody wrote.
std::uint64_t number_of(const std::optional<std::string>& value) {
  if (!value) return consistency::kNil;
  std::uint64_t number = 0;
  std::from_chars(value->data(), value->data() + value->size(), number);
  return number == consistency::kNil ? UINT64_MAX : number;
}

}  // namespace

// ---- a process

struct LibraryProcess::Application {
  Application(Fibers& its_fibers, Network& network, Recorder& its_recorder,
              const LibraryOptions& its_options, const std::string& name)
      : fibers(its_fibers),
        recorder(its_recorder),
        options(its_options),
        runtime(fibers, network, name),
        node(network, name),
        loop(node.poller()) {
    node.run(loop);
    client.emplace(client_options(options), runtime);
  }

  resp::Value ask_own(const std::vector<std::string_view>& request) {
    const Fiber* const thread = &fibers.current();
    auto own = std::ranges::find(connections, thread, [](const auto& each) { return each.first; });
    if (own == connections.end())
      own = connections.emplace(
          own, thread, std::make_unique<BlockingConnection>(fibers, loop, options.loader_address));
    return own->second->ask(request);
  }
  // The callers' loader: also called by the library's own threads.
  std::optional<std::string> load(const std::string& key) {
    std::optional<std::string> value;
    if (options.has_own_loader) {
      resp::Value reply = ask_own({"GET", key});
      if (reply.type != resp::Value::Type::kNull) value = std::move(reply.text);
    } else {
      value = client->fetch(key);
    }
    if (options.dawdle_max > Nanos(0))
      fibers.pause_for(fibers.scheduler().between(Nanos(0), options.dawdle_max));
    return value;
  }

  Fibers& fibers;
  Recorder& recorder;
  const LibraryOptions options;
  FiberRuntime runtime;
  Node node;  // of the application's own connections
  net::EventLoop loop;
  // In the order of their threads' first questions: addresses are not the same in each process.
  std::list<std::pair<const Fiber*, std::unique_ptr<BlockingConnection>>> connections;
  std::optional<client::Client<>> client;
  std::vector<std::unique_ptr<Caller>> callers;
  std::uint64_t hits = 0;
  bool is_finishing = false;
  bool is_dead = false;
};

// One thread of the application.
class LibraryProcess::Caller {
 public:
  Caller(Application& application, const LoadSpec& spec)
      : application_(application),
        spec_(spec),
        session_(++application.recorder.last_session),
        thread_(application.runtime.spawn("caller", [this] { run(); })) {}

  void join() { thread_->join(); }
  // What it is doing may or may not happen.
  void forget() {
    if (under_way_) recorder().add(*std::exchange(under_way_, std::nullopt));
  }

 private:
  Recorder& recorder() { return application_.recorder; }
  Scheduler& scheduler() { return application_.fibers.scheduler(); }
  client::Client<>& client() { return *application_.client; }
  bool is_over() const { return application_.is_finishing || application_.is_dead; }

  void run() {
    while (!is_over()) {
      application_.fibers.pause_for(std::chrono::microseconds(spec_.think_us));
      for (std::uint32_t i = 0; i < spec_.depth && !is_over(); ++i) {
        application_.fibers.pause_for(scheduler().between(Nanos(1), kStepMax));
        if (!is_over()) act();
      }
    }
  }

  void act() {
    auto dice = static_cast<std::uint32_t>(scheduler().below(LoadSpec::kParts));
    const auto chance = [&](std::uint32_t parts) {
      const bool is_it = dice < parts;
      dice -= std::min(dice, parts);
      return is_it;
    };
    const std::uint32_t key = Recorder::key(
        spec_.db, spec_.first + static_cast<std::uint32_t>(scheduler().below(spec_.keys)));
    if (chance(spec_.set)) return write(key, Millis(0));
    if (chance(spec_.px)) return write(key, Millis(spec_.ttl));
    if (chance(spec_.del)) return erase(key);
    read(key);
  }

  Op begin(Kind kind, std::uint32_t key) {
    Op op;
    op.kind = kind;
    op.key = key;
    op.invoked = scheduler().now();
    op.responded = consistency::kNever;
    op.session = session_;
    op.order = order_++;
    op.via = static_cast<std::uint8_t>(spec_.via);
    op.cached = kind == Kind::kRead;
    if (kind == Kind::kWrite) op.value = (std::uint64_t{session_} << 32) | ++writes_;
    under_way_ = op;
    return op;
  }

  // `act` does it, and adds what it has read.
  template <class Act>
  void record(const Op& op, Act act) {
    std::string error;
    Op done = op;
    try {
      act(done);
      done.responded = scheduler().now();
    } catch (const std::exception& thrown) {
      error = thrown.what();
    }
    if (application_.is_dead) return;  // it was recorded when it died
    under_way_.reset();
    recorder().add(done);
    if (error.empty()) return;
    if (recorder().errors++ == 0) recorder().first_error = error;
    // Like a client that comes back: what it did has perhaps not happened yet.
    session_ = ++recorder().last_session;
    order_ = writes_ = 0;
  }

  void read(std::uint32_t key) {
    record(begin(Kind::kRead, key),
           [this](Op& op) { op.value = number_of(read_value(recorder().name(op.key))); });
  }

  std::optional<std::string> read_value(const std::string& name) {
    const auto loader = [application = &application_](const std::string& wanted) {
      return application->load(wanted);
    };
    const bool is_plain =
        !application_.options.has_own_loader && application_.options.dawdle_max == Nanos(0);
    switch (scheduler().below(4)) {
      case 0: {
        // In two steps, between which anything may happen.
        const auto first = look(name);
        if (first) return *first;
        application_.fibers.pause_for(scheduler().between(Nanos(0), kDetourMax));
        return shown(client().load(name, loader));
      }
      case 1:
        if (is_plain) return shown(client().get(name));
        [[fallthrough]];
      default:
        return shown(client().get(name, loader));
    }
  }

  std::optional<std::optional<std::string>> look(const std::string& name) {
    const client::Local<std::string> local = client().read(name);
    if (!local.is_hit()) return std::nullopt;
    ++application_.hits;
    return local.value();
  }

  std::optional<std::string> shown(const client::Local<std::string>& local) {
    if (local.is_hit()) ++application_.hits;
    return local.value();
  }

  void write(std::uint32_t key, Millis ttl) {
    Op op = begin(Kind::kWrite, key);
    op.ttl = ttl;
    under_way_ = op;
    record(op, [this](const Op& wanted) {
      put(recorder().name(wanted.key), std::to_string(wanted.value), wanted.ttl);
    });
  }

  void put(const std::string& name, const std::string& value, Millis ttl) {
    if (!application_.options.has_own_loader)
      return client().set(name, value, ttl > Millis(0) ? std::optional(ttl) : std::nullopt);
    const std::string milliseconds = std::to_string(ttl.count());
    client().set(name, value, [&](const std::string& its_name, const std::string& its_value) {
      std::vector<std::string_view> words = {"SET", its_name, its_value};
      if (ttl > Millis(0)) words.insert(words.end(), {"PX", milliseconds});
      application_.ask_own(words);
    });
  }

  void erase(std::uint32_t key) {
    record(begin(Kind::kErase, key), [this](const Op& wanted) {
      const std::string name = recorder().name(wanted.key);
      if (application_.options.has_own_loader)
        client().del(name, [&](const std::string& its) { application_.ask_own({"DEL", its}); });
      else
        client().del(name);
    });
  }

  Application& application_;
  const LoadSpec spec_;
  std::uint32_t session_;
  std::uint32_t order_ = 0;
  std::uint32_t writes_ = 0;
  std::optional<Op> under_way_;
  const std::unique_ptr<client::Thread> thread_;  // last: it runs
};

LibraryProcess::LibraryProcess(Fibers& fibers, Network& network, Recorder& recorder,
                               const LibraryOptions& options, const std::string& name)
    : application_(std::make_unique<Application>(fibers, network, recorder, options, name)) {}

LibraryProcess::~LibraryProcess() { assert(!application_->client); }

void LibraryProcess::add_callers(const LoadSpec& spec) {
  for (std::uint32_t i = 0; i < spec.count; ++i)
    application_->callers.push_back(std::make_unique<Caller>(*application_, spec));
}

void LibraryProcess::finish() { application_->is_finishing = true; }

void LibraryProcess::kill() {
  application_->is_dead = true;
  for (const auto& caller : application_->callers) caller->forget();
  // The world forgets it now; this fiber keeps it until its threads are over.
  application_->fibers.spawn([self = shared_from_this()] {
    for (const auto& caller : self->application_->callers) caller->join();
    self->application_->client->close();
    self->application_->client.reset();
    self->application_->connections.clear();
    self->application_->node.leave();
  });
}

void LibraryProcess::stop_one(Nanos time) {
  const auto threads = application_->runtime.threads();
  if (!threads.empty())
    threads[application_->fibers.scheduler().below(threads.size())]->stop_for(time);
}

void LibraryProcess::stop_link(Nanos time) {
  for (const auto& thread : application_->runtime.threads("heatsink-link")) thread->stop_for(time);
}

void LibraryProcess::stop_all(Nanos time) {
  for (const auto& thread : application_->runtime.threads()) thread->stop_for(time);
  application_->node.stop_for(time);
}

std::uint64_t LibraryProcess::hits() const { return application_->hits; }

// ---- all of them

Libraries::Libraries(Network& network, Recorder& recorder, LibraryOptions options)
    : network_(network),
      recorder_(recorder),
      options_(std::move(options)),
      fibers_(network.scheduler(), network.options().wake_min, network.options().wake_max),
      loads_(options_.count),
      processes_(options_.count) {}

Libraries::~Libraries() = default;

void Libraries::add(std::size_t number, const LoadSpec& spec) { loads_.at(number).push_back(spec); }

void Libraries::start() {
  for (std::size_t i = 0; i < options_.count; ++i) begin(i);
}

void Libraries::begin(std::size_t number) {
  if (is_over_) return;
  processes_[number] =
      std::make_shared<LibraryProcess>(fibers_, network_, recorder_, options_, name_of(number));
  for (const LoadSpec& spec : loads_[number]) processes_[number]->add_callers(spec);
}

void Libraries::finish() {
  is_over_ = true;
  for (const auto& process : processes_)
    if (process) process->finish();
}

void Libraries::stop() {
  is_over_ = true;
  for (auto& process : processes_) {
    if (!process) continue;
    hits_of_the_dead_ += process->hits();
    std::exchange(process, nullptr)->kill();
  }
  Scheduler& scheduler = network_.scheduler();
  while (fibers_.alive() > 0) scheduler.run_until(scheduler.now() + std::chrono::seconds(1));
}

LibraryProcess* Libraries::any() {
  if (processes_.empty()) return nullptr;
  return processes_[network_.scheduler().below(processes_.size())].get();
}

void Libraries::stop_one(Nanos time) {
  if (LibraryProcess* const process = any()) process->stop_one(time);
}

void Libraries::stop_link(Nanos time) {
  if (LibraryProcess* const process = any()) process->stop_link(time);
}

void Libraries::stop_all(Nanos time) {
  if (LibraryProcess* const process = any()) process->stop_all(time);
}

void Libraries::restart(Nanos pause) {
  if (processes_.empty()) return;
  const std::size_t number = network_.scheduler().below(processes_.size());
  if (!processes_[number]) return;
  hits_of_the_dead_ += processes_[number]->hits();
  std::exchange(processes_[number], nullptr)->kill();
  network_.scheduler().call_after(pause, [this, number] { begin(number); });
}

std::string Libraries::name_of(std::size_t number) { return "library " + std::to_string(number); }

std::uint64_t Libraries::hits() const {
  std::uint64_t sum = hits_of_the_dead_;
  for (const auto& process : processes_) sum += process ? process->hits() : 0;
  return sum;
}

}  // namespace heatsink::simulation
