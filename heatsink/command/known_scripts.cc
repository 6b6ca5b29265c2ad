// SPDX-License-Identifier: Apache-2.0
#include "heatsink/command/known_scripts.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "heatsink/command/ascii.h"

namespace heatsink::proxy {

std::string sha1_of(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  if (EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr) != 1)
    std::abort();  // OpenSSL is broken
  std::string hex;
  hex.reserve(std::size_t{size} * 2);
  for (unsigned i = 0; i < size; ++i) {
    hex += kDigits[digest.at(i) >> 4U];
    hex += kDigits[digest.at(i) & 15U];
  }
  return hex;
}

namespace {

bool contains(const std::vector<const redis::UpstreamAddress*>& all,
              const redis::UpstreamAddress* one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

}  // namespace

void KnownScripts::learn(std::string_view text, const redis::UpstreamAddress* at) {
  if (text.size() > kTextMax) return;
  const std::lock_guard lock(mutex_);
  auto known = by_text_.find(text);
  if (known == by_text_.end()) {
    scripts_.push_front({sha1_of(text), std::make_shared<const std::string>(text), {}});
    by_sha1_[scripts_.front().sha1] = scripts_.begin();
    known = by_text_.emplace(*scripts_.front().text, scripts_.begin()).first;
    bytes_ += text.size();
  } else {
    scripts_.splice(scripts_.begin(), scripts_, known->second);
  }
  Script& script = *known->second;
  if (at != nullptr && !contains(script.at, at)) script.at.push_back(at);
  trim();
}

KnownScripts::Scripts::iterator KnownScripts::find(std::string_view sha1) {
  const auto found = by_sha1_.find(lower_case(sha1));
  if (found == by_sha1_.end()) return scripts_.end();
  scripts_.splice(scripts_.begin(), scripts_, found->second);
  return found->second;
}

std::shared_ptr<const std::string> KnownScripts::missing_at(const redis::UpstreamAddress& at,
                                                            std::string_view sha1) {
  const std::lock_guard lock(mutex_);
  const auto found = find(sha1);
  if (found == scripts_.end() || contains(found->at, &at)) return nullptr;
  found->at.push_back(&at);
  return found->text;
}

std::shared_ptr<const std::string> KnownScripts::text_of(std::string_view sha1) {
  const std::lock_guard lock(mutex_);
  const auto found = find(sha1);
  return found == scripts_.end() ? nullptr : found->text;
}

void KnownScripts::forget_at(const redis::UpstreamAddress& at) {
  const std::lock_guard lock(mutex_);
  for (Script& each : scripts_) std::erase(each.at, &at);
}

void KnownScripts::clear() {
  const std::lock_guard lock(mutex_);
  by_text_.clear();
  by_sha1_.clear();
  scripts_.clear();
  bytes_ = 0;
}

std::size_t KnownScripts::size() const {
  const std::lock_guard lock(mutex_);
  return scripts_.size();
}

void KnownScripts::trim() {
  while (scripts_.size() > kScriptsMax || bytes_ > kBytesMax) {
    const Script& last = scripts_.back();
    bytes_ -= last.text->size();
    by_text_.erase(*last.text);
    by_sha1_.erase(last.sha1);
    scripts_.pop_back();
  }
}

}  // namespace heatsink::proxy
