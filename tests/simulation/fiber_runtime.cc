// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cassert>
#include <utility>

#include "tests/simulation/fibers.h"

namespace heatsink::simulation {
namespace {

class FiberCondition final : public client::Condition {
 public:
  explicit FiberCondition(Fibers& fibers) : fibers_(fibers) {}

  void wait_until(std::unique_lock<std::mutex>& lock, TimePoint due) override {
    Fiber& self = fibers_.current();
    waiting_.push_back(&self);
    if (due != TimePoint::max()) self.wake_at(due);
    lock.unlock();
    fibers_.park();
    std::erase(waiting_, &self);
    lock.lock();
  }
  void notify_one() noexcept override {
    if (waiting_.empty()) return;
    const auto chosen =
        waiting_.begin() + static_cast<std::ptrdiff_t>(fibers_.scheduler().below(waiting_.size()));
    (*chosen)->wake_soon();
    waiting_.erase(chosen);  // the next call is for another
  }
  void notify_all() noexcept override {
    for (Fiber* each : std::exchange(waiting_, {})) each->wake_soon();
  }

 private:
  Fibers& fibers_;
  std::vector<Fiber*> waiting_;
};

class FiberThread final : public client::Thread {
 public:
  FiberThread(Fibers& fibers, std::function<void()> body)
      : fibers_(fibers), fiber_(fibers.spawn([this, body = std::move(body)] {
          body();
          if (joins_ != nullptr) joins_->wake_soon();
        })) {}
  void join() override {
    joins_ = &fibers_.current();
    while (!fiber_->is_over()) fibers_.park();
    joins_ = nullptr;
  }
  const std::shared_ptr<Fiber>& fiber() const { return fiber_; }

 private:
  Fibers& fibers_;
  Fiber* joins_ = nullptr;
  const std::shared_ptr<Fiber> fiber_;
};

// The poller of a loop that a fiber runs: wait() waits, as the kernel's does.
class FiberPoller final : public net::Poller {
 public:
  FiberPoller(Fibers& fibers, Network& network, const std::string& name)
      : fibers_(fibers), node_(network, name), inner_(node_.poller()) {
    node_.run([this] {
      has_turn_ = true;
      if (waits_ != nullptr) waits_->wake_at(fibers_.scheduler().now());
    });
  }
  ~FiberPoller() override { node_.leave(); }

  TimePoint clock() const override { return inner_->clock(); }
  Status add(int fd, net::Interest interest, std::uint64_t tag) override {
    return inner_->add(fd, interest, tag);
  }
  void change(int fd, net::Interest interest, std::uint64_t tag) override {
    inner_->change(fd, interest, tag);
  }
  void remove(int fd) override { inner_->remove(fd); }
  std::span<const Event> wait(TimePoint due, Nanos at_most, bool may_sleep) override {
    static_cast<void>(inner_->wait(due, at_most, may_sleep));  // asks for the node's next turn
    has_turn_ = false;
    waits_ = &fibers_.current();
    while (!has_turn_) fibers_.park();
    waits_ = nullptr;
    return inner_->wait(due, at_most, may_sleep);
  }
  void wake() override { inner_->wake(); }
  Result<net::Stream> connect(const net::ResolvedAddress& address,
                              const net::TlsContext& context) override {
    return inner_->connect(address, context);
  }

 private:
  Fibers& fibers_;
  Node node_;
  const std::unique_ptr<SimulatedPoller> inner_;
  Fiber* waits_ = nullptr;
  bool has_turn_ = false;
};

}  // namespace

std::unique_ptr<client::Condition> FiberRuntime::make_condition() {
  return std::make_unique<FiberCondition>(fibers_);
}

std::unique_ptr<client::Thread> FiberRuntime::spawn(const std::string& name,
                                                    std::function<void()> body) {
  auto thread = std::make_unique<FiberThread>(fibers_, std::move(body));
  threads_.push_back({name, thread->fiber()});
  return thread;
}

std::unique_ptr<net::Poller> FiberRuntime::make_poller() {
  return std::make_unique<FiberPoller>(fibers_, network_, name_);
}

std::vector<std::shared_ptr<Fiber>> FiberRuntime::threads(const std::string& name) {
  std::erase_if(threads_, [](const Named& each) { return each.fiber.expired(); });
  std::vector<std::shared_ptr<Fiber>> found;
  for (const Named& each : threads_)
    if (name.empty() || each.name == name) found.push_back(each.fiber.lock());
  return found;
}

}  // namespace heatsink::simulation
