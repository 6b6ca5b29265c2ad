// SPDX-License-Identifier: Apache-2.0
// Python's functions as the library calls them.
#pragma once

#include <heatsink.h>

#include "bindings/python/native/codec.h"

namespace heatsink::python {

// What must be disposed of with the GIL, given up by a thread that may not wait for it: the library
// frees under its locks, and who has the GIL may wait for those. The main thread disposes of it
// soon, or whoever calls dispose_of_the_dead() before.
class Dead {
 public:
  Dead() = default;
  virtual ~Dead() = default;
  Dead(const Dead&) = delete;

  static void bury(Dead* dead) noexcept;  // any thread, with or without the GIL

 private:
  friend void dispose_of_the_dead();
  Dead* next_ = nullptr;
};
void dispose_of_the_dead();

// For pthread_atfork(): nobody has these locks while the process is copied.
void hold_for_fork();
void release_after_fork();

// A handle for `loader`, which is called with the key as text or bytes; null: an exception is set.
// The library keeps what it needs of it.
heatsink_loader* new_loader(PyObject* loader, const Codec& codec, bool key_is_text);

// The same for a loader that asks the server of server.url by the client's own connection, which
// takes no GIL. What it finds is bytes. The client must outlive what the library keeps of it, as it
// does what it keeps itself.
heatsink_loader* new_server_loader(heatsink_client* client);

// A write to the source: `user` is one of these, in the thread that called the library.
struct Write {
  PyObject* function;
  PyObject* key;
  PyObject* value;  // null: a removal
};
int call_store(void* user, const char* key, std::size_t key_size, const char* value,
               std::size_t value_size, heatsink_reply* reply);
int call_remove(void* user, const char* key, std::size_t key_size, heatsink_reply* reply);

// `user` is what was given to on_report(), which is called with a dictionary.
void call_reporter(void* user, const heatsink_stats_values* now, std::size_t size);
// `user` is what was given to on_hot().
void call_listener(void* user, const char* key, std::size_t key_size, int is_hot,
                   const char* reason);

}  // namespace heatsink::python
