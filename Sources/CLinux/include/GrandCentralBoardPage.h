// The board's memory, which other processes read, and the words of its first page that say what is
// recorded.
#ifndef GRANDCENTRAL_BOARD_PAGE_H
#define GRANDCENTRAL_BOARD_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "GrandCentralThread.h"

// BlackBox.c. Memory that other processes of the user can read. `folder` NULL: an anonymous file,
// which exists as long as the process. Otherwise a file in that folder, which must be on tmpfs and
// closed to other users; it remains when a signal ends the process. Not inherited by a forked
// child. Returns NULL with errno set; EPERM: the folder is open to other users, or the program runs
// with privileges; EMEDIUMTYPE: the folder is on another file system.
void *_Nullable gc_board_map(const char *_Nullable folder, size_t bytes);
// Copies the name of the calling thread, or of the program, into 16 bytes, padded with zeros.
void gc_board_name(char *_Nonnull name, bool of_program);
// Calls gc_board_was_made() of Sources/Board, if it is linked. Any thread that holds no lock.
void gc_board_made(void);
// Returns the text of gc_board_holders() of Sources/Board, which the caller frees; NULL: it is not
// linked, or the board does not show the holders.
char *_Nullable gc_board_holders_of_process(void);

// The first page of the board at an address that the linker knows, so that an item that is not
// recorded costs a comparison and no load of an address. Zeros, until gc_board_map() maps the board
// over it.
#if defined(__x86_64__)
#define GC_BOARD_PAGE_BYTES 4096
#else
// The largest page that a kernel for this processor uses.
#define GC_BOARD_PAGE_BYTES 65536
#endif
struct gc_board_page {
  _Alignas(GC_BOARD_PAGE_BYTES) uint64_t words[GC_BOARD_PAGE_BYTES / 8];
};
__attribute__((visibility("hidden"))) extern struct gc_board_page gc_board_page;
// The word that says what the engine records, which other processes set, and the next one, until
// when: see BlackBox/EventLayout. The lowest byte is not 0 if each item is recorded. Samples have a
// bit beside that byte, so that an item which is none costs nothing where it runs.
#define GC_EVENT_CONTROL 64
#define GC_EVENT_LEASE 65
#define GC_EVENT_LEVEL 0xff
#define GC_EVENT_SAMPLES 0x200
#define GC_SAMPLE_INTERVAL 64
// Relaxed: the word alone matters, and a stale value delays a recording by nanoseconds.
static inline uint64_t gc_event_control_now(void) {
  return __atomic_load_n(&gc_board_page.words[GC_EVENT_CONTROL], __ATOMIC_RELAXED);
}
// Whether the word is not 0. Every item asks where it is submitted.
static inline bool gc_records_events(void) {
#if defined(__x86_64__)
  // The compiler does not compare memory that it loads as an atomic. The processor loads it alike.
  bool records;
  __asm__ volatile("cmpq $0, %1" : "=@ccne"(records) : "m"(gc_board_page.words[GC_EVENT_CONTROL]));
  return __builtin_expect(records, 0);
#else
  return __builtin_expect(gc_event_control_now() != 0, 0);
#endif
}
// Whether the word asks for each item.
static inline bool gc_records_each_item(void) {
#if defined(__x86_64__)
  bool each;
  __asm__ volatile("cmpb $0, %1"
                   : "=@ccne"(each)
                   : "m"(*(const uint8_t *)&gc_board_page.words[GC_EVENT_CONTROL]));
  return each;
#else
  return (gc_event_control_now() & GC_EVENT_LEVEL) != 0;
#endif
}
// The same, or whether `byte` is not 0. Every item asks where it runs. In this order: one
// instruction joins them and sets the flag.
static inline bool gc_records_each_item_or(uint8_t byte) {
#if defined(__x86_64__)
  bool either;
  __asm__ volatile("orb %2, %1"
                   : "=@ccne"(either), "+q"(byte)
                   : "m"(gc_board_page.words[GC_EVENT_CONTROL]));
  return __builtin_expect(either, 0);
#else
  return __builtin_expect(gc_records_each_item() || byte != 0, 0);
#endif
}
// Counts another item that the calling thread submits. Whether it is a sample: one in 64 is. The
// count is a byte that overflows with each sample: one instruction adds and sets the flag.
static inline bool gc_is_sample(gc_thread *_Nonnull self) {
  self->submissions = (uint8_t)(self->submissions + 256 / GC_SAMPLE_INTERVAL);
  return __builtin_expect(self->submissions == 0, 0);
}
// The time from which on nothing is recorded, as events count it. Relaxed: a stale lease ends the
// recording late, or lets an event out.
static inline uint64_t gc_event_lease_now(void) {
  return __atomic_load_n(&gc_board_page.words[GC_EVENT_LEASE], __ATOMIC_RELAXED);
}
// CLOCK_MONOTONIC in nanoseconds, and as of the kernel's last tick.
uint64_t gc_monotonic(void);
uint64_t gc_monotonic_coarse(void);
// Whether the kernel itself reads the time from the processor's counter, so that all processors
// count alike.
bool gc_counts_ticks(void);
// The time of an event: the processor's counter, or CLOCK_MONOTONIC in nanoseconds.
static inline uint64_t gc_ticks(bool from_counter) {
#if defined(__x86_64__)
  if (from_counter) return __builtin_ia32_rdtsc();
#endif
  return gc_monotonic();
}

#endif
