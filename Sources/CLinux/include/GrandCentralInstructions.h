// Instructions that Swift cannot express, and the trap of a fault.
#ifndef GRANDCENTRAL_INSTRUCTIONS_H
#define GRANDCENTRAL_INSTRUCTIONS_H


// Makes the text the last that the process prints, where a handler of the trap prints a backtrace
// and then lets the process end, as the Swift runtime's does. Without a handler nothing happens.
void gc_repeat_after_backtrace(const char *_Nonnull text);

// Traps, so that the stack still shows the caller.
__attribute__((noreturn)) static inline void gc_trap(void) { __builtin_trap(); }

// Prefetches the cache line of an address, which may be invalid.
static inline void gc_will_read(const void *_Nullable address) { __builtin_prefetch(address); }

// Prefetches the cache line of an address for writing. Without an option that excludes old
// processors, the compiler's own prefetch would be one for reading.
static inline void gc_will_write(const void *_Nonnull address) {
#if defined(__x86_64__)
  __asm__ __volatile__("prefetchw %0" : : "m"(*(const char *)address));
#else
  __builtin_prefetch(address, 1);
#endif
}

// Returns a number that the compiler must not know. A caller that knows what a function returns
// puts it into a register of its own and keeps it across the call, instead of ending with a jump.
static inline long gc_unknown(long number) {
  __asm__("" : "+r"(number));
  return number;
}

static inline void gc_spin_hint(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("isb" ::: "memory");
#endif
}

#endif
