// Calls functions at the end of a thread, and notices the end of the main thread, which may come
// before that of the process: pthread_exit(3).
//
// The C library calls the destructors of a thread's keys in the order in which the keys were made.
// So the key is made when the image is loaded, before the program makes its own: when a destructor
// of the program waits for the main queue, workers drain that queue already. The main thread gets
// an entry then too, so that its end is noticed if it has never used the engine.
//
// Between the end of the main thread and the first use of the engine on another thread:
//   the main thread   stores `ended_process`, then reads `main_end_handler`
//   the engine        stores `main_end_handler`, then reads `ended_process` (gc_main_has_ended)
// All four are sequentially consistent, so at least one of the two sees the other.
#define _GNU_SOURCE
#include "GrandCentralThread.h"
#include "Unloading.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

// A thread's list of (value, destructor) pairs. One key serves all callers; its value is the list.
struct exit_entry {
  struct exit_entry *next;
  void *value;
  void (*destructor)(void *);
};

static pthread_key_t exit_key;
static pthread_once_t exit_once = PTHREAD_ONCE_INIT;
static int exit_key_error;

// The process whose main thread has ended. A forked child is another process, and has another main
// thread.
static uint32_t ended_process;
static void (*main_end_handler)(void);

bool gc_main_has_ended(void) {
  return __atomic_load_n(&ended_process, __ATOMIC_SEQ_CST) == gc_process_id();
}

void gc_at_main_end(void (*handler)(void)) {
  __atomic_store_n(&main_end_handler, handler, __ATOMIC_SEQ_CST);
}

static void main_ends(void *value) {
  (void)value;
  __atomic_store_n(&ended_process, gc_process_id(), __ATOMIC_SEQ_CST);
  void (*handler)(void) = __atomic_load_n(&main_end_handler, __ATOMIC_SEQ_CST);
  if (handler) handler();
}

// The first entry of the main thread, for good.
static struct exit_entry main_entry = {.destructor = main_ends};

static void run_exit_entries(void *list) {
  // A destructor may add entries. Left to the C library's next round they would come after the
  // program's destructors.
  for (; list; list = pthread_getspecific(exit_key)) {
    pthread_setspecific(exit_key, NULL);
    for (struct exit_entry *entry = list, *next; entry; entry = next) {
      next = entry->next;
      entry->destructor(entry->value);
      if (entry != &main_entry) free(entry);
    }
  }
}

static void make_exit_key(void) {
  exit_key_error = pthread_key_create(&exit_key, run_exit_entries);
}

// Before all constructors without a priority, in an executable too.
__attribute__((constructor(101))) static void watch_main_thread(void) {
  pthread_once(&exit_once, make_exit_key);
  if (exit_key_error || gc_thread_id() != gc_process_id()) return;
  main_entry.next = pthread_getspecific(exit_key);
  pthread_setspecific(exit_key, &main_entry);
}

static bool is_kept;

// Not inside pthread_once(3): gc_stay_loaded() waits for the loader's lock, which a thread holds
// while dlopen(3) runs a library's constructors. A constructor that uses a queue would wait in
// pthread_once(3) for the thread that waits for the lock. Here several threads may make the same
// call, and none waits for another. A thread comes here before it takes a lock of the engine or
// starts a worker, so it holds no lock of the engine, and a worker makes no call.
static void stay_loaded_once(void) {
  // acquire: pairs with the release below, so a thread that skips the call finds the image kept.
  if (__atomic_load_n(&is_kept, __ATOMIC_ACQUIRE)) return;
  gc_stay_loaded();
  __atomic_store_n(&is_kept, true, __ATOMIC_RELEASE);
}

#if !GRANDCENTRAL_DROPIN
// A plug-in whose engine was never used is unloaded, and the key's destructor goes with it.
__attribute__((destructor)) static void forget_main_thread(void) {
  if (exit_key_error || __atomic_load_n(&is_kept, __ATOMIC_ACQUIRE)) return;
  exit_key_error = EINVAL;
  pthread_key_delete(exit_key);
}
#endif

int gc_thread_at_exit(void *value, void (*destructor)(void *)) {
  stay_loaded_once();
  pthread_once(&exit_once, make_exit_key);
  if (exit_key_error) return exit_key_error;
  struct exit_entry *entry = malloc(sizeof *entry);
  if (!entry) return ENOMEM;
  *entry = (struct exit_entry){.value = value, .destructor = destructor};
  struct exit_entry *first = pthread_getspecific(exit_key);
  if (first == &main_entry) {
    entry->next = main_entry.next;
    main_entry.next = entry;
    return 0;
  }
  entry->next = first;
  int error = pthread_setspecific(exit_key, entry);
  if (error) free(entry);
  return error;
}
