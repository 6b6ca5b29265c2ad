// SPDX-License-Identifier: Apache-2.0
// Keys and values between Python and the bytes of the library.
#pragma once

#include <string>
#include <string_view>

#include "bindings/python/native/python_api.h"

namespace heatsink::python {

// A str or bytes as the bytes of a key; the same text and bytes are one key. Points into `object`,
// which must live as long. On failure data is null and an exception is set.
struct Key {
  explicit Key(PyObject* object);
  explicit operator bool() const { return data != nullptr; }

  const char* data = nullptr;
  std::size_t size = 0;
  bool is_text = false;
};

// The bytes of a key as the kind of object it came as.
Ref key_object(const char* data, std::size_t size, bool is_text);

// What becomes of values. Null hooks: str and bytes are kept as they are, and nothing else is.
// Without a hook nobody could say what another object is worth a day, or a release, later; so there
// is no default such as pickle.
struct Codec {
  Ref encode;  // gives str or bytes
  Ref decode;

  // As the library keeps it: a byte for the kind, then the value. Null and an exception on failure.
  Ref stored(PyObject* value) const;
  Ref value(const char* stored, std::size_t size) const;
  // What a source outside of Python has of such a value: `stored` without its kind; and back, where
  // it is bytes.
  static std::string_view plain(std::string_view stored) { return stored.substr(1); }
  static std::string stored_bytes(std::string_view plain);
  Codec shared() const { return {Ref::to(encode.get()), Ref::to(decode.get())}; }
};

}  // namespace heatsink::python
