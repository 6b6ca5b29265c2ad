// SPDX-License-Identifier: Apache-2.0
#include "heatsink/relief/spread_layouts.h"

#include <utility>

#include "heatsink/base/log.h"
#include "heatsink/base/printable.h"
#include "heatsink/upstream/own_requester.h"

namespace heatsink::proxy {
namespace {

constexpr Nanos kAskAgain = std::chrono::seconds(1);  // after a question without an answer

}  // namespace

// Asks for one layout, and makes a better one if the node has none, or an uneven one.
class SpreadLayoutQuestion final : public OwnRequester {
 public:
  SpreadLayoutQuestion(SpreadLayouts& layouts, std::string key, std::size_t copies)
      : layouts_(layouts),
        key_(std::move(key)),
        name_(spread::layout_name(key_)),
        copies_(copies) {}

  // False: no connection is ready.
  bool begin() {
    Upstream* const connection = layouts_.parts_.connection_to(slot(), resp::Protocol::kResp2);
    if (connection == nullptr) return false;
    send(*connection, kGet, true, {"GET", name_});
    return true;
  }

 private:
  enum : ReplyQueue::Ticket { kGet = 1, kReplace = 2 };

  std::uint16_t slot() const { return resp::key_slot(key_); }

  void answered(ReplyQueue::Ticket ticket, const resp::Value& reply) override {
    const bool is_text = reply.type == resp::Value::Type::kString;
    if (reply.is_error() || (!is_text && reply.type != resp::Value::Type::kNull)) {
      log_limited(LogLevel::kWarning, "spread",
                  "the layout of the copies of '" + printable(key_, 128) +
                      "' (spread.copies) cannot be used: " + printable(reply.text, 256) +
                      "; the proxy's user needs all rights for keys *:hs:*",
                  layouts_.parts_.loop.now());
      return layouts_.ended(key_, false, {});
    }
    if (ticket == kGet && replace(reply.text)) return;
    layouts_.ended(key_, true, reply.text);
  }
  void lost(ReplyQueue::Ticket /*ticket*/, const std::string& /*problem*/) override {
    layouts_.ended(key_, false, {});
  }

  bool replace(const std::string& text) {
    const std::shared_ptr<const topology::SlotMap> map = layouts_.parts_.upstreams.slot_map();
    if (map == nullptr) return false;
    std::vector<std::uint16_t> slots;
    if (text.empty()) {
      slots = spread::choose_slots(slot(), copies_, map->owners);
    } else if (const auto layout = spread::parse_layout(text)) {
      slots = spread::better_slots(*layout, slot(), copies_, map->owners).value_or(slots);
    }
    Upstream* const connection = layouts_.parts_.connection_to(slot(), resp::Protocol::kResp2);
    if (slots.empty() || connection == nullptr) return false;
    send_script(layouts_.parts_.shared.scripts, *connection, kReplace, spread::kLayoutScript,
                {name_, text, spread::slots_text(slots), std::to_string(spread::kLayoutLeastMs),
                 std::to_string(spread::kLayoutEndsMs)});
    return true;
  }

  SpreadLayouts& layouts_;
  const std::string key_, name_;
  const std::size_t copies_;
};

SpreadLayouts::SpreadLayouts(SpreadParts& parts) : parts_(parts) {}
SpreadLayouts::~SpreadLayouts() = default;

SpreadLayouts::Entry* SpreadLayouts::entry_of(std::string_view key) {
  const auto found = entries_.find(std::string(key));
  if (found != entries_.end()) return &found->second;
  if (entries_.size() >= spread::kLayoutsKept)
    std::erase_if(entries_, [](const auto& each) { return each.second.question == nullptr; });
  return entries_.size() < spread::kLayoutsKept ? &entries_[std::string(key)] : nullptr;
}

bool SpreadLayouts::is_fresh(const Entry& entry) const {
  return entry.known_at != TimePoint::min() &&
         parts_.loop.now() - entry.known_at < spread::kLayoutFresh;
}

const std::vector<std::uint16_t>* SpreadLayouts::known(std::string_view key, std::size_t copies) {
  Entry* const entry = entry_of(key);
  if (entry == nullptr) return nullptr;
  if (!is_fresh(*entry)) ask(key, *entry, copies);
  return entry->layout.slots.empty() ? nullptr : &entry->layout.slots;
}

void SpreadLayouts::with_fresh(std::string_view key, std::size_t copies, Then then) {
  Entry* const entry = entry_of(key);
  if (entry == nullptr) return then(nullptr);
  if (is_fresh(*entry)) {
    const std::vector<std::uint16_t> slots = entry->layout.slots;
    return then(&slots);
  }
  ask(key, *entry, copies);
  if (entry->question == nullptr) return then(nullptr);
  entry->waiting.push_back(std::move(then));
}

void SpreadLayouts::ask(std::string_view key, Entry& entry, std::size_t copies) {
  const TimePoint now = parts_.loop.now();
  if (entry.question != nullptr) return;
  if (entry.asked_at != TimePoint::min() && now - entry.asked_at < kAskAgain) return;
  entry.asked_at = now;
  auto question = std::make_unique<SpreadLayoutQuestion>(*this, std::string(key), copies);
  if (question->begin()) entry.question = std::move(question);
}

// An unknown text is of a later version, or a client's: then there are no copies.
void SpreadLayouts::ended(const std::string& key, bool ok, std::string_view text) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  if (ok) {
    entry.layout = spread::parse_layout(text).value_or(spread::Layout{});
    entry.known_at = parts_.loop.now();
  }
  ended_.push_back(std::move(entry.question));  // it is on the call stack
  const std::vector<Then> waiting = std::exchange(entry.waiting, {});
  const std::vector<std::uint16_t> slots = entry.layout.slots;
  for (const Then& then : waiting) then(ok ? &slots : nullptr);
}

void SpreadLayouts::end_turn() { ended_.clear(); }

}  // namespace heatsink::proxy
