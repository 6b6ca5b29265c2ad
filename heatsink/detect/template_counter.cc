// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/template_counter.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "heatsink/base/hash_inline.h"

namespace heatsink::detect {
namespace {

__extension__ typedef unsigned __int128 Product;  // NOLINT(modernize-use-using)

// Longer templates than a row holds are rare, but one may have 257 bytes.
constexpr std::size_t kNamesPercent = 10;
constexpr std::uint64_t kBytesOf = 0x0101010101010101ULL;

// Replaces each byte that is a digit by '0', eight bytes at once.
std::uint64_t blanked(std::uint64_t bytes) {
  const std::uint64_t from_zero = bytes ^ (kBytesOf * 0x30);  // digits become 0 .. 9
  const std::uint64_t over_nine = ((from_zero & (kBytesOf * 0x7F)) + kBytesOf * 0x76) | from_zero;
  const std::uint64_t digits = ~over_nine & (kBytesOf * 0x80);
  return bytes & ~((digits >> 7) * 0x0F);
}

// Sixteen bytes of a name, as g++ and clang++ compute with them at once.
using Block = std::uint8_t __attribute__((vector_size(16)));
using Words = std::uint64_t __attribute__((vector_size(16)));

Words blanked(Block bytes) {
  const Block from_zero = bytes ^ 0x30;  // digits become 0 .. 9
  return reinterpret_cast<Words>(bytes & ~(reinterpret_cast<Block>(from_zero < 10) & 0x0F));
}

Words words_at(const char* from) {
  Block block;
  std::memcpy(&block, from, sizeof(block));
  return blanked(block);
}

// The first and the last eight bytes of a name of 8 to 15 bytes; they overlap.
Words words_of(std::string_view name) {
  std::uint64_t first = 0, last = 0;
  std::memcpy(&first, name.data(), 8);
  std::memcpy(&last, name.data() + name.size() - 8, 8);
  return blanked(reinterpret_cast<Block>(Words{first, last}));
}

std::uint64_t short_word(std::string_view name) {
  std::uint64_t word = 0;
  for (const char c : name) word = word << 8 | static_cast<unsigned char>(c);
  return blanked(word);
}

// Multiplies and folds, as wyhash and XXH3 do.
std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  const Product product = Product{a} * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

std::uint64_t secret(std::uint64_t seed, std::size_t number) {
  return hash_name_inline({reinterpret_cast<const char*>(&number), sizeof(number)}, seed).value;
}

}  // namespace

TemplateCounter::TemplateCounter(std::size_t memory_bytes, std::uint64_t seed)
    : seed_(seed),
      shapes_(std::make_unique<Shape[]>(kShapes)),
      table_({.memory_bytes = std::max(memory_bytes, kTemplateBytesMin) - kShapes * sizeof(Shape),
              .seed = seed,
              .names_percent = kNamesPercent}) {
  for (std::size_t i = 0; i < kSecrets; ++i) secrets_[i] = secret(seed, i);
}

// Connects the accesses of a log that have one shape: each with the one before it.
struct TemplateCounter::Chains {
  std::uint8_t before[AccessLog::kEntries];
};

// Names with one shape have one template: they have the same length (up to the limit of a template)
// and differ in digits only. The secrets keep attackers from names that collide.
[[gnu::always_inline]] inline std::uint64_t TemplateCounter::shape_of(
    std::string_view name, std::uint32_t db) const noexcept {
  const char* const from = name.data();
  const std::size_t n = std::min(name.size(), kTemplateKeyBytes);
  const std::uint64_t size = std::min(name.size(), kTemplateKeyBytes + 1);
  std::uint64_t sum = mix(secrets_[0] ^ (size | std::uint64_t{db} << 32), secrets_[1]);
  const std::uint64_t* secrets = &secrets_[2];
  if (n < 8) return mix(sum ^ short_word(name), secrets[0]);
  for (std::size_t at = 0; at + 16 < n; at += 16, secrets += 2) {
    const Words words = words_at(from + at);
    sum += mix(words[0] ^ secrets[0], words[1] ^ secrets[1]);
  }
  const Words last = n < 16 ? words_of({from, n}) : words_at(from + n - 16);
  sum += mix(last[0] ^ secrets[0], last[1] ^ secrets[1]);
  return sum ^ sum >> 32;
}

std::uint64_t TemplateCounter::tag_of(std::string_view name, std::uint32_t db) const noexcept {
  const std::uint64_t tag = in_db(hash_name_inline(KeyTemplate(name).text(), seed_), db).value;
  return tag == 0 ? 1 : tag;
}

void TemplateCounter::count(const AccessLog::Entry& access, std::string_view name) noexcept {
  AccessLog::Entry entry = access;
  entry.tag = tag_of(name, access.db);
  (void)table_.count(entry, KeyTemplate(name).text());
}

void TemplateCounter::count(const AccessLog& log) noexcept {
  const std::uint32_t size = log.size();
  std::uint64_t shapes[AccessLog::kEntries];
  for (std::uint32_t i = 0; i < size; ++i) shapes[i] = shape_of(log.name(log[i]), log[i].db);
  Chains chains;
  Shape* seen[AccessLog::kEntries];
  std::uint32_t seen_size = 0;
  for (std::uint32_t i = 0; i < size; ++i) {
    Shape& shape = shapes_[shapes[i] % kShapes];
    if (shape.shape != shapes[i]) [[unlikely]] {
      count_shape(shape, log, chains);
      shape = {shapes[i], tag_of(log.name(log[i]), log[i].db), {}, 0, 0};
    }
    seen[seen_size] = &shape;
    seen_size += shape.requests == 0 ? 1 : 0;
    ++shape.requests;
    shape.amount += log[i].amount;
    chains.before[i] = static_cast<std::uint8_t>(shape.last);
    shape.last = i;
  }
  for (std::uint32_t k = 0; k < seen_size; ++k) count_shape(*seen[k], log, chains);
}

// Counts what the log has of a shape. If its template is not tracked, the accesses are counted one
// by one: each may be the one that admits it.
void TemplateCounter::count_shape(Shape& shape, const AccessLog& log,
                                  const Chains& chains) noexcept {
  if (shape.requests == 0) return;
  if (!table_.count_tracked(shape.tag, shape.requests, shape.amount)) {
    std::uint32_t at = shape.last;
    const KeyTemplate name(log.name(log[at]));
    for (; shape.requests > 0; --shape.requests, at = chains.before[at]) {
      AccessLog::Entry entry = log[at];
      entry.tag = shape.tag;
      (void)table_.count(entry, name.text());
    }
  }
  shape.requests = 0;
  shape.amount = {};
}

TemplateCounts TemplateCounter::summarize(const Summary& all) {
  Summary counts;
  counts.requests = all.requests;
  table_.summarize(counts, kTemplatesMax, 0);
  return {.absent_max = counts.absent_max, .list = std::move(counts.keys)};
}

std::size_t TemplateCounter::memory_bytes() const {
  return kShapes * sizeof(Shape) + table_.memory_bytes();
}

}  // namespace heatsink::detect
