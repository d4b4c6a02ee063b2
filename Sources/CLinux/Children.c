// The signal mask of the processes that items start.
//
// A child inherits the mask of the thread that starts it, and the engine's threads block what comes
// from outside (Masks.c). So these functions stand before those of the C library, in programs that
// contain the engine or load it before the C library. On a thread of the engine they give the child
// the program's mask; elsewhere they only call the C library's. fork(2) needs none: a handler
// changes the mask in the child.
//
// They are weak, so a program may have functions of its own with these names. The C library's are
// looked up before main(), because a child of vfork(2) must not take the loader's lock.
//
// Not in sanitized builds, whose sanitizer has such functions itself.
#define _GNU_SOURCE
#include "CGrandCentralLinux.h"
#include "Masks.h"

#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)

#include <dlfcn.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define WEAK __attribute__((weak, visibility("default")))
#define ALL(each) \
  each(posix_spawn) each(posix_spawnp) each(system) each(popen) each(execve) each(execvpe) \
  each(fexecve) each(raise)

#define DECLARE(name) static __typeof__(&name) known_##name;
ALL(DECLARE)

#define LOOK_UP(name) known_##name = (__typeof__(&name))dlsym(RTLD_NEXT, #name);
__attribute__((constructor)) static void look_up(void) { ALL(LOOK_UP) }

// Another library's constructor may come first.
#define REAL(name) (known_##name ? known_##name : (look_up(), known_##name))

// Gives the calling thread the mask for children; end_giving() restores its own.
static bool begin_giving(sigset_t *own) {
  sigset_t mask;
  return gc_mask_for_children(&mask) && pthread_sigmask(SIG_SETMASK, &mask, own) == 0;
}

static void end_giving(bool gives, const sigset_t *own) {
  if (gives) pthread_sigmask(SIG_SETMASK, own, NULL);
}

// Attributes that give the child the mask, if the caller gives none: `own`, or those given. The
// thread's own mask stays.
static const posix_spawnattr_t *with_mask(
    const posix_spawnattr_t *given, posix_spawnattr_t *own) {
  short flags = 0;
  if (given) posix_spawnattr_getflags(given, &flags);
  sigset_t mask;
  if (flags & POSIX_SPAWN_SETSIGMASK || !gc_mask_for_children(&mask)) return given;
  // The C library's attributes are plain values, and posix_spawnattr_destroy(3) does nothing.
  if (given) *own = *given;
  else posix_spawnattr_init(own);
  posix_spawnattr_setsigmask(own, &mask);
  posix_spawnattr_setflags(own, flags | POSIX_SPAWN_SETSIGMASK);
  return own;
}

WEAK int posix_spawn(
    pid_t *process, const char *path, const posix_spawn_file_actions_t *actions,
    const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[]) {
  posix_spawnattr_t own;
  return REAL(posix_spawn)(
      process, path, actions, with_mask(attributes, &own), arguments, environment);
}

WEAK int posix_spawnp(
    pid_t *process, const char *file, const posix_spawn_file_actions_t *actions,
    const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[]) {
  posix_spawnattr_t own;
  return REAL(posix_spawnp)(
      process, file, actions, with_mask(attributes, &own), arguments, environment);
}

// The thread has the program's mask until the command has ended.
WEAK int system(const char *command) {
  sigset_t own;
  bool gives = begin_giving(&own);
  int status = REAL(system)(command);
  end_giving(gives, &own);
  return status;
}

WEAK FILE *popen(const char *command, const char *mode) {
  sigset_t own;
  bool gives = begin_giving(&own);
  FILE *stream = REAL(popen)(command, mode);
  end_giving(gives, &own);
  return stream;
}

WEAK int execve(const char *path, char *const arguments[], char *const environment[]) {
  sigset_t own;
  bool gives = begin_giving(&own);
  REAL(execve)(path, arguments, environment);
  end_giving(gives, &own);
  return -1;
}

WEAK int execvpe(const char *file, char *const arguments[], char *const environment[]) {
  sigset_t own;
  bool gives = begin_giving(&own);
  REAL(execvpe)(file, arguments, environment);
  end_giving(gives, &own);
  return -1;
}

WEAK int fexecve(int descriptor, char *const arguments[], char *const environment[]) {
  sigset_t own;
  bool gives = begin_giving(&own);
  REAL(fexecve)(descriptor, arguments, environment);
  end_giving(gives, &own);
  return -1;
}

WEAK int execv(const char *path, char *const arguments[]) {
  return execve(path, arguments, environ);
}

WEAK int execvp(const char *file, char *const arguments[]) {
  return execvpe(file, arguments, environ);
}

// The number of arguments before the NULL that ends them.
static size_t count_arguments(const char *first, va_list *rest) {
  size_t count = 0;
  for (const char *next = first; next; next = va_arg(*rest, const char *)) count++;
  return count;
}

static void take_arguments(const char *first, va_list *rest, size_t count, char *into[]) {
  into[0] = (char *)first;
  for (size_t index = 1; index <= count; index++) into[index] = va_arg(*rest, char *);
}

// Lays out the arguments and the NULL on the stack, because these functions may run in a child of
// vfork(2). `rest` is left behind the NULL.
#define LAY_OUT(first, rest, arguments) \
  va_start(rest, first); \
  size_t count = count_arguments(first, &rest); \
  va_end(rest); \
  char *arguments[count + 1]; \
  va_start(rest, first); \
  take_arguments(first, &rest, count, arguments)

WEAK int execl(const char *path, const char *first, ...) {
  va_list rest;
  LAY_OUT(first, rest, arguments);
  va_end(rest);
  return execv(path, arguments);
}

WEAK int execlp(const char *file, const char *first, ...) {
  va_list rest;
  LAY_OUT(first, rest, arguments);
  va_end(rest);
  return execvp(file, arguments);
}

WEAK int execle(const char *path, const char *first, ...) {
  va_list rest;
  LAY_OUT(first, rest, arguments);
  char *const *environment = va_arg(rest, char *const *);
  va_end(rest);
  return execve(path, arguments, environment);
}

// The handler of a signal that an item raises has run before this returns, unless the program
// blocks the signal: raise(3).
WEAK int raise(int number) {
  sigset_t mask, one, own;
  if (number <= 0 || number > SIGRTMAX || !gc_mask_for_children(&mask)
      || sigismember(&mask, number))
    return REAL(raise)(number);
  sigemptyset(&one);
  sigaddset(&one, number);
  pthread_sigmask(SIG_UNBLOCK, &one, &own);
  int result = REAL(raise)(number);
  pthread_sigmask(SIG_SETMASK, &own, NULL);
  return result;
}

#endif
