// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/key_pattern.h"

#include <algorithm>

namespace heatsink::detect {
namespace {

unsigned char number_of(char byte) { return static_cast<unsigned char>(byte); }

}  // namespace

KeyPattern::KeyPattern(std::string_view pattern) {
  pieces_.push_back(read_piece(pattern));
  while (!pattern.empty()) {  // at a star; consecutive stars are one
    pattern.remove_prefix(std::min(pattern.find_first_not_of('*'), pattern.size()));
    pieces_.push_back(read_piece(pattern));
  }
  for (const Steps& piece : pieces_) bytes_min_ += piece.size();
  for (const Step& step : pieces_.front()) {
    if (step.kind != Step::Kind::kByte) break;
    head_ += static_cast<char>(step.byte);
  }
  const bool head_is_all = head_.size() == bytes_min_;
  if (head_is_all && pieces_.size() == 1) kind_ = Kind::kExact;
  if (head_is_all && pieces_.size() == 2) kind_ = Kind::kPrefix;
}

KeyPattern::Steps KeyPattern::read_piece(std::string_view& rest) {
  Steps piece;
  while (!rest.empty() && rest.front() != '*') {
    const char byte = rest.front();
    rest.remove_prefix(1);
    if (byte == '?') {
      piece.push_back({Step::Kind::kAny, 0, 0});
    } else if (byte == '[') {
      piece.push_back({Step::Kind::kSet, 0, static_cast<std::uint16_t>(sets_.size())});
      sets_.push_back(read_class(rest));
    } else if (byte == '\\' && !rest.empty()) {
      add_byte(piece, rest.front());
      rest.remove_prefix(1);
    } else {
      add_byte(piece, byte);
    }
  }
  return piece;
}

void KeyPattern::add_byte(Steps& to, char byte) {
  to.push_back({Step::Kind::kByte, number_of(byte), 0});
  ++literal_bytes_;
}

// The class after "[", up to and including "]".
KeyPattern::ByteSet KeyPattern::read_class(std::string_view& rest) const {
  ByteSet set;
  const bool is_negated = rest.starts_with('^');
  if (is_negated) rest.remove_prefix(1);
  while (!rest.empty() && rest.front() != ']') {
    std::size_t taken = 1;
    if (rest.front() == '\\' && rest.size() >= 2) {
      set.set(number_of(rest[1]));
      taken = 2;
    } else if (rest.size() >= 3 && rest[1] == '-') {
      const auto [low, high] = std::minmax({number_of(rest[0]), number_of(rest[2])});
      for (std::size_t byte = low; byte <= high; ++byte) set.set(byte);
      taken = 3;
    } else {
      set.set(number_of(rest.front()));
    }
    rest.remove_prefix(taken);
  }
  if (!rest.empty()) rest.remove_prefix(1);
  return is_negated ? ~set : set;
}

bool KeyPattern::fits(const Step& step, char byte) const {
  if (step.kind == Step::Kind::kByte) return step.byte == number_of(byte);
  return step.kind == Step::Kind::kAny || sets_[step.set].test(number_of(byte));
}

bool KeyPattern::fits_at(const Steps& piece, std::string_view key) const {
  for (std::size_t i = 0; i < piece.size(); ++i) {
    if (!fits(piece[i], key[i])) return false;
  }
  return true;
}

bool KeyPattern::matches(std::string_view key) const {
  if (key.size() < bytes_min_ || !key.starts_with(head_)) return false;
  if (kind_ == Kind::kPrefix) return true;
  if (kind_ == Kind::kExact) return key.size() == head_.size();
  const Steps& first = pieces_.front();
  const Steps& last = pieces_.back();
  if (!fits_at(first, key)) return false;
  if (pieces_.size() == 1) return key.size() == first.size();
  if (!fits_at(last, key.substr(key.size() - last.size()))) return false;
  return middle_fits(key.substr(first.size(), key.size() - first.size() - last.size()));
}

// Matches the pieces between the first and the last star, each at the leftmost position after the
// piece before it.
bool KeyPattern::middle_fits(std::string_view key) const {
  for (std::size_t i = 1; i + 1 < pieces_.size(); ++i) {
    const Steps& piece = pieces_[i];
    while (key.size() >= piece.size() && !fits_at(piece, key)) key.remove_prefix(1);
    if (key.size() < piece.size()) return false;
    key.remove_prefix(piece.size());
  }
  return true;
}

}  // namespace heatsink::detect
