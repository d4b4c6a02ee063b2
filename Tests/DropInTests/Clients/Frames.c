// Submits items from code that keeps no frame pointers: the register has a value of any kind when
// the library is called. Prints "done", and ends with its standard input.
#include <dispatch/dispatch.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

static void count(void *counter) { ++*(int *)counter; }

#if defined(__x86_64__)
// Calls dispatch_async_f with a value in the register of the frame pointer.
__attribute__((noinline)) static void submit(dispatch_queue_t queue, int *counter,
                                             uintptr_t frame) {
  void *function = (void *)dispatch_async_f, *context = counter, *work = (void *)count;
  __asm__ volatile(
      "movq %%rsp, %%r12\n\tmovq %%rbp, %%r13\n\t"
      "leaq -256(%%rsp), %%rsp\n\tandq $-16, %%rsp\n\t"
      "movq %[frame], %%rbp\n\tcallq *%[function]\n\tmovq %%r13, %%rbp\n\tmovq %%r12, %%rsp"
      : "+D"(queue), "+S"(context), "+d"(work)
      : [frame] "a"(frame), [function] "b"(function)
      : "rcx", "r8", "r9", "r10", "r11", "r12", "r13", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4",
        "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
        "xmm15", "cc", "memory");
}
#else
static void submit(dispatch_queue_t queue, int *counter, uintptr_t frame) {
  (void)frame;
  dispatch_async_f(queue, counter, count);
}
#endif

int main(void) {
  dispatch_queue_t queue = dispatch_queue_create("rows", NULL);
  int counter = 0;
  uintptr_t local[4] = {1, 2, 3, 4};
  local[0] = (uintptr_t)&local[0];          // a frame whose caller is itself
  local[2] = (uintptr_t)&local[0] - 4096;   // one whose caller lies below it
  uintptr_t values[] = {0, 1, 8, UINTPTR_MAX, UINTPTR_MAX - 7, (uintptr_t)1 << 47, (uintptr_t)main,
                        (uintptr_t)&local[0], (uintptr_t)&local[2], (uintptr_t)&local[1] + 1,
                        (uintptr_t)&counter - (1 << 20), (uintptr_t)&counter + (1 << 20),
                        0x7ffffffff000};
  int items = 0;
  for (int round = 0; round < 100; round++)
    for (size_t index = 0; index < sizeof values / sizeof *values; index++, items++)
      submit(queue, &counter, values[index]);
  dispatch_sync_f(queue, &counter, count);
  if (counter != items + 1) return 1;
  write(STDOUT_FILENO, "done\n", 5);
  char byte;
  read(STDIN_FILENO, &byte, 1);
  return 0;
}
