// Calls a function on a stack that is large enough for it.
#define _GNU_SOURCE
#include "GrandCentralThread.h"

#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <ucontext.h>

// What the first use of the engine takes, several times over: the Swift runtime looks up each
// generic type by its name, which is 13 KiB deep.
static const size_t ample = 64 << 10, borrowed = 256 << 10, guard = 4 << 10;

// The thread that was the process's first one, and its stack, also in a forked child. Not known if
// another thread loads the library.
static pthread_t main_thread;
static bool knows_main_thread;

__attribute__((constructor)) static void note_main_thread(void) {
  knows_main_thread = gc_thread_id() == gc_process_id();
  main_thread = pthread_self();
}

// Whether the calling thread has that much stack left. The main thread's grows; to ask for its size
// would read a file. On the stack of a coroutine, a thread cannot tell.
static bool measure(void) {
  if (knows_main_thread && pthread_equal(pthread_self(), main_thread)) return true;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return true;
  void *lowest;
  size_t bytes;
  int error = pthread_attr_getstack(&attributes, &lowest, &bytes);
  pthread_attr_destroy(&attributes);
  size_t left = (uintptr_t)__builtin_frame_address(0) - (uintptr_t)lowest;
  return error || (left >= ample && left <= bytes);
}

// The usual answer is kept, since the question takes system calls.
static bool has_ample_stack(void) {
  gc_thread *self = gc_thread_current();
  if (self && self->has_ample_stack) return true;
  bool is_ample = measure();
  if (self) self->has_ample_stack = is_ample;
  return is_ample;
}

#ifdef __GLIBC__
// A call on a borrowed stack. It lies at the upper end of the stack, since its contexts are large.
struct call {
  void (*body)(void *);
  void *argument;
  ucontext_t borrower, callee;
};

// makecontext() passes only ints.
static _Thread_local struct call *current;

static void run(void) { current->body(current->argument); }

// The same thread calls `body`, so what `body` keeps for its thread stays.
static bool call_on_borrowed_stack(void (*body)(void *), void *argument) {
  char *stack = mmap(
      NULL, borrowed, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stack == MAP_FAILED) return false;
  mprotect(stack, guard, PROT_NONE);
  size_t size = borrowed - ((sizeof(struct call) + 63) & ~(size_t)63);
  struct call *call = (struct call *)(stack + size);
  bool calls = getcontext(&call->callee) == 0;
  if (calls) {
    call->body = body;
    call->argument = argument;
    call->callee.uc_stack.ss_sp = stack;
    call->callee.uc_stack.ss_size = size;
    call->callee.uc_link = &call->borrower;
    // Calls from inside `body` need no other stack.
    gc_thread *self = gc_thread_current();
    if (self) self->has_ample_stack = true;
    current = call;
    makecontext(&call->callee, run, 0);
    calls = swapcontext(&call->borrower, &call->callee) == 0;
    if (self) self->has_ample_stack = false;
  }
  munmap(stack, borrowed);
  return calls;
}
#else
static bool call_on_borrowed_stack(void (*body)(void *), void *argument) { return false; }
#endif

void gc_with_ample_stack(void (*body)(void *), void *argument) {
  if (has_ample_stack() || !call_on_borrowed_stack(body, argument)) body(argument);
}
