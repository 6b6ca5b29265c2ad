// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/tally_board.h"

#include <algorithm>

#include "heatsink/detect/access.h"
#include "heatsink/detect/sampling.h"

namespace heatsink::detect {

TallyBoard::TallyBoard(std::size_t bytes) : rows_(std::min(bytes / sizeof(Row), kRowsMax)) {}

void TallyBoard::move(const SlotClock::Move& move, const Position& position) {
  // Half of the slots, rounded down, so that two halves never exceed the window. A window of one
  // slot has one half.
  const std::uint32_t length = std::max(position.slots / 2, 1U);
  const std::uint32_t number = position.turn / length;
  const std::uint32_t passed = move.turns >= position.slots ? 2 : number - half_number_;
  half_number_ = number;
  const std::uint32_t cleared = position.slots == 1 && passed != 0 ? 2 : std::min(passed, 2U);
  for (std::uint32_t i = 0; i < cleared; ++i) {
    half_ ^= 1;
    for (Row& row : rows_) row.halves[half_] = {};
    factors_[half_] = 1;
  }
}

void TallyBoard::List::add(std::uint32_t number, std::uint32_t factor) noexcept {
  Cell* least = cells;
  for (Cell& cell : cells) {
    if (cell.count != 0 && cell.number == number) {
      cell.count += factor;
      return;
    }
    if (cell.count < least->count) least = &cell;
  }
  *least = {number, least->count + factor, least->count};
}

const TallyBoard::Cell* TallyBoard::List::find(std::uint32_t number) const {
  for (const Cell& cell : cells) {
    if (cell.count != 0 && cell.number == number) return &cell;
  }
  return nullptr;
}

std::uint32_t TallyBoard::List::least() const {
  std::uint32_t least = cells[0].count;
  for (const Cell& cell : cells) least = std::min(least, cell.count);
  return least;
}

void TallyBoard::add(std::uint8_t row, const AccessLog::Entry& entry,
                     std::uint32_t factor) noexcept {
  Half& half = rows_[row - 1U].halves[half_];
  if (half.seen > UINT32_MAX - factor) return;
  factors_[half_] = std::max(factors_[half_], factor);
  half.seen += factor;
  if (entry.command != kNoCommand) half.commands.add(entry.command, factor);
  if (entry.client != kNoClient) half.clients.add(entry.client, factor);
}

void TallyBoard::begin() noexcept {
  for (Row& row : rows_) row.kept = false;
}

std::uint8_t TallyBoard::take(std::uint32_t owner, std::uint32_t* before) noexcept {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    hand_ = hand_ + 1 < rows_.size() ? hand_ + 1 : 0;
    Row& row = rows_[hand_];
    if (row.kept) continue;
    *before = row.owner;
    row = {};
    row.owner = owner;
    row.kept = true;
    return static_cast<std::uint8_t>(hand_ + 1);
  }
  return kNoRow;
}

void TallyBoard::release(std::uint8_t row) noexcept { rows_[row - 1U] = {}; }

void TallyBoard::tell(std::uint8_t row, const TallyNames& names, std::uint64_t accesses,
                      KeyCount& out) const {
  const Row& at = rows_[row - 1U];
  const std::uint64_t counted = out.reads + out.writes;
  out.commands = told(at, &Half::commands, accesses, counted, [&](std::uint32_t number) {
    return names.command(static_cast<std::uint16_t>(number));
  });
  out.clients = told(at, &Half::clients, accesses, counted,
                     [&](std::uint32_t number) { return names.client(number); });
}

// Accesses before the key took its row, or before the last half window, were not counted here. Each
// name may have had all of them.
std::vector<Tally> TallyBoard::told(const Row& row, List Half::*list, std::uint64_t accesses,
                                    std::uint64_t counted, const auto& name) const {
  const std::uint32_t factor = std::max(factors_[0], factors_[1]);
  const SampleBounds bounds(factor, 1);
  const std::uint64_t seen = std::uint64_t{row.halves[0].seen} + row.halves[1].seen;
  const std::uint64_t unseen = accesses - std::min(accesses, bounds.low(seen));
  struct Bounds {
    std::uint32_t number;
    std::uint64_t least, most;  // in the sample
  };
  std::vector<Bounds> all;
  for (const Half& half : row.halves) {
    const List& other = ((&half == row.halves ? row.halves[1] : row.halves[0])).*list;
    for (const Cell& cell : (half.*list).cells) {
      if (cell.count == 0) continue;
      const Cell* also = other.find(cell.number);
      if (also != nullptr && &half != row.halves) continue;  // counted with the first half
      all.push_back({cell.number, cell.count - cell.error + (also ? also->count - also->error : 0U),
                     cell.count + (also ? also->count : other.least())});
    }
  }
  std::sort(all.begin(), all.end(), [](const Bounds& a, const Bounds& b) {
    return a.most != b.most ? a.most > b.most : a.number < b.number;
  });
  all.resize(std::min(all.size(), kTalliesMax));
  std::vector<Tally> out;
  std::uint64_t rest = counted;  // accesses not yet assigned to a name
  for (const Bounds& each : all) {
    const std::uint64_t low = std::min(std::max(each.least / factor, bounds.low(each.least)), rest);
    out.push_back({name(each.number).substr(0, kTallyBytesMax), low, 0});
    rest -= low;
  }
  for (std::size_t i = 0; i < all.size(); ++i)
    out[i].high = std::min(std::max(bounds.high(all[i].most) + unseen, rest), accesses);
  return out;
}

}  // namespace heatsink::detect
