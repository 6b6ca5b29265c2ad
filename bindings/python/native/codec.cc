// SPDX-License-Identifier: Apache-2.0
#include "bindings/python/native/codec.h"

#include <cstring>

namespace heatsink::python {
namespace {

constexpr char kText = 's', kBytes = 'b';

// What decode_responses=True of redis-py may give is kept, too.
constexpr const char* kErrors = "surrogatepass";

const char* type_name(PyObject* object, Ref& holder) {
  holder = Ref(PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), "__name__"));
  const char* const name = holder ? PyUnicode_AsUTF8AndSize(holder.get(), nullptr) : nullptr;
  return name != nullptr ? name : "object";
}

Ref with_kind(char kind, PyObject* bytes) {
  char* data = nullptr;
  Py_ssize_t size = 0;
  if (PyBytes_AsStringAndSize(bytes, &data, &size) != 0) return {};
  Ref stored(PyBytes_FromStringAndSize(nullptr, size + 1));
  if (!stored) return {};
  char* const to = PyBytes_AsString(stored.get());
  *to = kind;
  std::memcpy(to + 1, data, size_of(size));
  return stored;
}

void refuse(PyObject* value, bool has_hook) {
  Ref holder;
  const char* const name = type_name(value, holder);
  if (has_hook)
    PyErr_Format(PyExc_TypeError, "encode returned %s: it must return bytes or str", name);
  else
    PyErr_Format(
        PyExc_TypeError,
        "a value must be bytes, str or None, not %s: pass encode= and decode= to the Client", name);
}

}  // namespace

Key::Key(PyObject* object) {
  Py_ssize_t length = 0;
  if (PyUnicode_Check(object)) {
    is_text = true;
    data = PyUnicode_AsUTF8AndSize(object, &length);
  } else if (PyBytes_Check(object)) {
    char* bytes = nullptr;
    if (PyBytes_AsStringAndSize(object, &bytes, &length) == 0) data = bytes;
  } else {
    Ref holder;
    PyErr_Format(PyExc_TypeError, "a key must be str or bytes, not %s", type_name(object, holder));
  }
  size = size_of(length);
}

Ref key_object(const char* data, std::size_t size, bool is_text) {
  const auto length = static_cast<Py_ssize_t>(size);
  return Ref(is_text ? PyUnicode_DecodeUTF8(data, length, nullptr)
                     : PyBytes_FromStringAndSize(data, length));
}

Ref Codec::stored(PyObject* value) const {
  Ref encoded = encode ? call_python(encode.get(), value) : Ref::to(value);
  if (!encoded) return {};
  if (PyBytes_Check(encoded.get())) return with_kind(kBytes, encoded.get());
  if (PyUnicode_Check(encoded.get())) {
    const Ref text(PyUnicode_AsEncodedString(encoded.get(), "utf-8", kErrors));
    return text ? with_kind(kText, text.get()) : Ref();
  }
  refuse(encoded.get(), static_cast<bool>(encode));
  return {};
}

std::string Codec::stored_bytes(std::string_view plain) {
  std::string stored(1, kBytes);
  stored += plain;
  return stored;
}

Ref Codec::value(const char* stored, std::size_t size) const {
  const auto length = static_cast<Py_ssize_t>(size) - 1;
  Ref plain(*stored == kText ? PyUnicode_DecodeUTF8(stored + 1, length, kErrors)
                             : PyBytes_FromStringAndSize(stored + 1, length));
  if (!plain || !decode) return plain;
  return call_python(decode.get(), plain.get());
}

}  // namespace heatsink::python
