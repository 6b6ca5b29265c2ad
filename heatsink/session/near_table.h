// SPDX-License-Identifier: Apache-2.0
// Knows which names the clients of one worker keep in caches of their own, and tells these clients
// when a name has ended.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <queue>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/base/clock.h"
#include "heatsink/base/hash.h"
#include "heatsink/cache/cache.h"
#include "heatsink/cache/kept_names.h"
#include "heatsink/policy/policy.h"

namespace heatsink::proxy {

// What a client's value of a name rests on: the copy that it was given.
struct NearBasis {
  NearBasis() = default;
  NearBasis(const cache::Copy& copy, const cache::ConsistencyPolicy& policy,
            const policy::CopyOptions& options);

  // Whether the key rule would still serve such a copy at `at`, if nothing but time passes.
  bool holds(const cache::ProofStates& proofs, TimePoint at) const;

  cache::ProofIndex proof = 0;
  bool is_proven = true;  // false: of Level::kTtl, which only its deadline ends
  cache::Generation generation;
  TimePoint filled_at{};
  TimePoint ends_at{};
  Nanos max_staleness{};

  // From the fill on. A client keeps a value for so long, although the copy goes earlier: the
  // server goes on to tell of changes, and a key that all clients keep is not asked for, so its
  // copy goes for want of reads.
  static constexpr Nanos kLifeMax = std::chrono::minutes(5);
};

// One per worker; its thread. When a name ends, the table tells each client that keeps it, once,
// and forgets the name, as a server does it. If a name changes that very many clients keep, it
// tells a slice of them in each turn: to tell 10 000 takes 10 ms. Costs per name that a client
// keeps: 8 to 12 bytes, and once the name itself with about 150 bytes. To keep and to end a name of
// one client moves at most 40 KB.
class NearTable {
 public:
  // Past these the table keeps no name, so the worker tells the client to forget it at once.
  static constexpr std::size_t kNamesPerClient = 10'000;
  static constexpr std::size_t kNamesMax = 100'000;
  static constexpr std::size_t kKeptMax = 4'000'000;  // names, counted for each client
  static constexpr std::size_t kNameBytesMax = 1024;  // longer ones are not kept

  enum class EndedBy : std::uint8_t {
    kOther,
    kItself,         // by its own write, the reply to which follows
    kItselfEarlier,  // that reply has been given
  };

  // A client, or a fake one in tests.
  class Holder {
   public:
    virtual std::uint64_t id() const = 0;  // of its session
    // The client must forget the name. `wire`: the push, in RESP3. It may leave.
    virtual void end_name(NameHash name, std::string_view wire, EndedBy by) = 0;

   protected:
    ~Holder() = default;
  };
  using Number = std::uint32_t;

  // `slice`: so many clients hear of a name at once.
  NearTable(cache::KeptNames& kept, std::size_t slice) : kept_(kept), slice_(slice) {}
  ~NearTable();
  NearTable(const NearTable&) = delete;

  Number join(Holder& holder);
  void leave(Number client);  // forgets its names

  // The client has been given the value of this name. judge() -> std::optional<NearBasis>: what it
  // rests on, if it is still valid. False: the client must be told at once.
  //
  // A change is not lost between the two: the name is counted in KeptNames before judge() looks
  // (docs/design/near-caches.md).
  template <class Judge>
  bool keep(Number client, NameHash name, std::string_view key, Judge judge) {
    Name* const kept = find_or_add(name, key);
    if (kept == nullptr) return false;
    const std::uint32_t changes = kept_.changes(name, kept->slot);
    const auto basis = judge();
    if (!basis || !has_room(client)) {
      if (kept->holders.empty()) remove(name);
      return false;
    }
    rest_on(*kept, *basis, changes);
    // By another command it could find the old value after it has seen the new one.
    tell_now(client, name);
    hold(client, *kept);
    return true;
  }
  // The caller tells the client, or the client tracks no more.
  void forget(Number client, NameHash name);
  void forget_all(Number client);
  void end_all(Number client);  // tells it to forget all its names

  // `writer`: the session whose command has changed it; 0: not known. Some clients may hear of it
  // later: once told() is what begun() is now, all have been told of the changes so far.
  void changed(NameHash name, std::uint64_t writer = 0);
  std::uint64_t begun() const { return begun_; }
  std::uint64_t told() const { return tellings_.empty() ? begun_ : tellings_.front().sequence - 1; }
  bool is_telling() const { return !tellings_.empty(); }  // the two differ
  void tell_more();                                       // once per turn, while it is
  void all_changed();
  // The nodes of a cluster do not prove these slots any more, by number. O(names).
  void slots_lost(const std::vector<bool>& slots);
  // Ends the names that would not hold at `until`: the next call comes by then. Costs O(1), and for
  // each name that ends O(log n); but O(names) if the proof of any name is too old.
  void look(const cache::ProofStates& proofs, TimePoint until);
  // The shortest bound of the names since the table was empty; max(): there is none.
  Nanos shortest_bound() const;

  bool empty() const { return by_hash_.empty(); }
  bool keeps_any(Number client) const { return !clients_[client].names.empty(); }
  std::size_t names() const { return by_hash_.size(); }
  std::size_t kept() const { return kept_count_; }  // names, counted for each client
  std::size_t clients() const { return clients_.size() - free_clients_.size(); }
  std::size_t bytes() const;  // about, in O(1)

  // For counts of what is kept (NearFigures). Names and clients have numbers below these bounds.
  struct KeptName {
    std::string_view key;  // valid until the table changes
    NameHash hash;
    std::size_t clients;
  };
  std::size_t name_numbers() const { return names_.size(); }
  std::size_t client_numbers() const { return clients_.size(); }
  std::optional<KeptName> name_at(std::size_t number) const;  // nothing: the number is free
  std::size_t clients_with(NameHash name) const;

 private:
  struct Name {
    Name(std::string_view key_in, NameHash hash_in, std::uint16_t slot_in)
        : key(key_in), hash(hash_in), slot(slot_in) {}
    std::string key;
    NameHash hash;
    std::uint16_t slot;        // in a cluster
    std::uint32_t number = 0;  // in names_
    NearBasis basis;
    std::uint32_t changes = 0;         // KeptNames::changes() before the last one was judged
    TimePoint due = TimePoint::max();  // its earliest place in ends_
    std::vector<Number> holders;       // sorted
  };
  // look() looks at the name then. Of an older place of the name, or of one that has ended, it
  // knows by Name::due.
  struct End {
    TimePoint at;
    std::uint64_t name;
    bool operator>(const End& other) const { return at > other.at; }
  };
  struct Client {
    Holder* holder = nullptr;          // null: free
    std::vector<std::uint32_t> names;  // by number, sorted
  };

  // A name that has ended, and has to be told to many clients. Its number stays theirs, and it is
  // counted in KeptNames, until they have been told.
  struct Telling {
    std::uint64_t sequence;
    NameHash name;
    std::uint16_t slot;
    std::uint32_t number;
    std::string wire;
    std::uint64_t writer;
    std::vector<Number> holders;  // sorted
    std::size_t next = 0;         // those before have been told
  };

  Name* find_or_add(NameHash name, std::string_view key);
  bool has_room(Number client) const;
  void rest_on(Name& name, const NearBasis& basis, std::uint32_t changes);
  void note(Name& name);
  void note_all();
  void note_removed();
  void end_unproven(const cache::ProofStates& proofs, TimePoint until);
  template <class IsOver>
  void end_if(IsOver is_over);
  void hold(Number client, Name& name);
  void end(Name& name, std::uint64_t writer);
  void end_whole(Name& name, std::uint64_t writer);
  void begin_telling(const Name& name, std::vector<Number> holders, std::uint64_t writer);
  void tell_now(Number client, NameHash name);
  void tell_one(Number client, const Telling& telling);
  static bool take_out(Number client, Telling& telling);
  void end_told();
  std::uint32_t free_number();
  void remove(NameHash name);
  void tell(const std::vector<Number>& holders, const Name& name, std::uint64_t writer);

  cache::KeptNames& kept_;
  std::unordered_map<std::uint64_t, Name> by_hash_;
  std::vector<Name*> names_;  // by number; null: free
  std::vector<std::uint32_t> free_names_;
  std::vector<Client> clients_;
  std::vector<Number> free_clients_;
  std::size_t kept_count_ = 0, key_bytes_ = 0;
  const std::size_t slice_;
  std::deque<Telling> tellings_;
  std::uint64_t begun_ = 0;
  // By proof: while this holds, all names of the proof do, but for their ends. None: no name.
  std::vector<std::optional<NearBasis>> weakest_;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
};

// ">2 invalidate [key]" for each, which tells a client in RESP3 to forget the key. A message has
// one key, as those of a server: redis-rs looks at the first only.
void append_invalidations(ByteBuffer& out, std::span<const std::string_view> keys);

}  // namespace heatsink::proxy
