// SPDX-License-Identifier: Apache-2.0
// Estimates how much memory a value takes, for cache.maximum-bytes.
#pragma once

#include <cstddef>
#include <iterator>
#include <type_traits>

namespace heatsink::client {

// Counts sizeof, and for strings and vectors of plain values also the memory that they own.
// Specialize it for types that own more memory than that:
//
//   template <> struct heatsink::client::SizeOf<Product> {
//     static std::size_t bytes(const Product& p) { return sizeof(p) + p.description.size(); }
//   };
template <class V>
struct SizeOf {
  static std::size_t bytes(const V& value) {
    if constexpr (requires { std::size(value) * sizeof(*std::data(value)); }) {
      if constexpr (std::is_trivially_copyable_v<std::remove_cvref_t<decltype(*std::data(value))>>)
        return sizeof(V) + std::size(value) * sizeof(*std::data(value));
    }
    return sizeof(V);
  }
};

}  // namespace heatsink::client
