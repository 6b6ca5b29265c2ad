// SPDX-License-Identifier: Apache-2.0
#include "bindings/python/native/callbacks.h"

#include <mutex>
#include <new>
#include <string>

#include "bindings/python/native/client.h"
#include "bindings/python/native/errors.h"

namespace heatsink::python {
namespace {

std::mutex burying;
Dead* dead_ones = nullptr;

int dispose_later(void*) {
  dispose_of_the_dead();
  return 0;
}

// What the library keeps of a load.
struct Source final : Dead {
  Codec codec;
  Ref loader;
  bool key_is_text = false;
};

int call_loader(void* user, const char* key, std::size_t key_size, heatsink_reply* reply) {
  const auto& source = *static_cast<Source*>(user);
  return in_python([&]() -> int {
    const Ref name = key_object(key, key_size, source.key_is_text);
    const Ref value = name ? call_python(source.loader.get(), name.get()) : Ref();
    if (value.get() == Py_None) return HEATSINK_NONE;
    const Ref stored = value ? source.codec.stored(value.get()) : Ref();
    if (!stored) return failed(reply);
    return heatsink_reply_value(reply, PyBytes_AsString(stored.get()),
                                size_of(PyBytes_Size(stored.get())));
  });
}

void bury_source(void* user) { Dead::bury(static_cast<Source*>(user)); }

struct Found {
  heatsink_reply* reply;
  int code;
};

void take_found(void* user, const char* value, std::size_t size) {
  auto& found = *static_cast<Found*>(user);
  const std::string stored = Codec::stored_bytes({value, size});
  found.code = heatsink_reply_value(found.reply, stored.data(), stored.size());
}

int ask_server(void* user, const char* key, std::size_t key_size, heatsink_reply* reply) {
  auto* const client = static_cast<heatsink_client*>(user);
  Found found = {reply, HEATSINK_OK};
  const int code = heatsink_server_fetch(client, key, key_size, take_found, &found);
  if (code < 0) heatsink_reply_error(reply, heatsink_last_error());
  return code == HEATSINK_OK ? found.code : code;
}

int call_write(const Write& write, heatsink_reply* reply) {
  return in_python([&]() -> int {
    const Ref done = write.value != nullptr ? call_python(write.function, write.key, write.value)
                                            : call_python(write.function, write.key);
    return done ? int{HEATSINK_OK} : failed(reply);
  });
}

}  // namespace

void Dead::bury(Dead* dead) noexcept {
  {
    const std::lock_guard lock(burying);
    dead->next_ = std::exchange(dead_ones, dead);
  }
  // It may have no room: whoever loads next disposes of them, too.
  static_cast<void>(Py_AddPendingCall(dispose_later, nullptr));
}

void dispose_of_the_dead() {
  Dead* next = nullptr;
  {
    const std::lock_guard lock(burying);
    next = std::exchange(dead_ones, nullptr);
  }
  while (next != nullptr) delete std::exchange(next, next->next_);
}

void hold_for_fork() {
  burying.lock();
  making_thread_state.lock();
}
void release_after_fork() {
  making_thread_state.unlock();
  burying.unlock();
}

heatsink_loader* new_loader(PyObject* loader, const Codec& codec, bool key_is_text) {
  if (PyCallable_Check(loader) == 0) {
    PyErr_SetString(PyExc_TypeError, "a loader must be callable");
    return nullptr;
  }
  auto* const source = new (std::nothrow) Source;
  heatsink_loader* handle = nullptr;
  if (source != nullptr) {
    source->codec = codec.shared();
    source->loader = Ref::to(loader);
    source->key_is_text = key_is_text;
    handle = heatsink_loader_new(call_loader, source, bury_source);
  }
  if (handle == nullptr) {
    delete source;
    PyErr_NoMemory();
  }
  return handle;
}

heatsink_loader* new_server_loader(heatsink_client* client) {
  heatsink_loader* const handle = heatsink_loader_new(ask_server, client, nullptr);
  if (handle == nullptr) PyErr_NoMemory();
  return handle;
}

int call_store(void* user, const char* /*key*/, std::size_t /*key_size*/, const char* /*value*/,
               std::size_t /*value_size*/, heatsink_reply* reply) {
  return call_write(*static_cast<Write*>(user), reply);
}

int call_remove(void* user, const char* /*key*/, std::size_t /*key_size*/, heatsink_reply* reply) {
  return call_write(*static_cast<Write*>(user), reply);
}

// Built from the same source as the library, so it knows all that is told.
void call_reporter(void* user, const heatsink_stats_values* now, std::size_t /*size*/) {
  in_python([&] {
    auto* const reporter = static_cast<PyObject*>(user);
    const Ref row = row_of(*now);
    if (!(row && call_python(reporter, row.get()))) PyErr_WriteUnraisable(reporter);
    return 0;
  });
}

void call_listener(void* user, const char* key, std::size_t key_size, int is_hot,
                   const char* reason) {
  in_python([&] {
    auto* const listener = static_cast<PyObject*>(user);
    const Ref name = key_object(key, key_size, false);
    const Ref why(PyUnicode_DecodeUTF8(
        reason, static_cast<Py_ssize_t>(std::char_traits<char>::length(reason)), "replace"));
    const Ref done =
        name && why ? call_python(listener, name.get(), is_hot != 0 ? Py_True : Py_False, why.get())
                    : Ref();
    if (!done) PyErr_WriteUnraisable(listener);
    return 0;
  });
}

}  // namespace heatsink::python
