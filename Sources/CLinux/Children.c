// The signal mask of the processes that items start.
//
// A child inherits the mask of the thread that starts it, and the engine's threads block what comes
// from outside (Masks.c). So these functions stand before those of the C library, in programs that
// contain the engine or load it before the C library. On a thread of the engine they give the child
// the program's mask; elsewhere they only call the C library's, except for
// system(3). fork(2) needs none: a handler changes the mask in the child.
//
// They are weak, so a program may have functions of its own with these names. The C library's are
// looked up before main(), because a child of vfork(2) must not take the loader's lock.
//
// Not in sanitized builds, whose sanitizer has such functions itself.
#define _GNU_SOURCE
#include "Masks.h"

#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define WEAK __attribute__((weak, visibility("default")))

// Where the C library is linked statically, dlsym(3) finds nothing, and these take the place. The
// strong reference makes the linker take the file of popen(3), which needs those of the weak ones.
extern __typeof__(popen) _IO_popen;
extern __typeof__(posix_spawn) __posix_spawn __attribute__((weak));
extern __typeof__(execvpe) __execvpe __attribute__((weak));
static __typeof__(posix_spawnp) spawn_in_path;
static __typeof__(execve) execute;
static __typeof__(fexecve) execute_descriptor;
// Older C libraries lack it, and their headers do not declare it.
extern int execveat(
    int folder, const char *path, char *const arguments[], char *const environment[], int flags);
static __typeof__(execveat) execute_at;

#define ALL(each) \
  each(posix_spawn, __posix_spawn) each(posix_spawnp, spawn_in_path) each(popen, _IO_popen) \
  each(execve, execute) each(execvpe, __execvpe) each(fexecve, execute_descriptor) \
  each(execveat, execute_at)

#define DECLARE(name, otherwise) static __typeof__(&name) known_##name;
ALL(DECLARE)

#define LOOK_UP(name, otherwise) \
  known_##name = (__typeof__(&name))dlsym(RTLD_NEXT, #name); \
  if (!known_##name) known_##name = otherwise;
__attribute__((constructor)) static void look_up(void) { ALL(LOOK_UP) }

// Another library's constructor may come first.
#define REAL(name) (known_##name ? known_##name : (look_up(), known_##name))

static int spawn_in_path(
    pid_t *process, const char *file, const posix_spawn_file_actions_t *actions,
    const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[]) {
  const char *path = strchr(file, '/') ? "" : getenv("PATH");
  if (!path) path = "/bin:/usr/bin";
  int error = ENOENT;
  for (;;) {
    char candidate[PATH_MAX];
    size_t length = strcspn(path, ":");
    int needed = snprintf(
        candidate, sizeof candidate, "%.*s%s%s", (int)length, path, length ? "/" : "", file);
    int tried = needed >= PATH_MAX
        ? ENAMETOOLONG
        : REAL(posix_spawn)(process, candidate, actions, attributes, arguments, environment);
    if (tried != ENOENT && tried != ENOTDIR && tried != EACCES) return tried;
    // Reported unless a later folder has the program: execvp(3).
    if (tried == EACCES) error = tried;
    if (!path[length]) return error;
    path += length + 1;
  }
}

static int execute(const char *path, char *const arguments[], char *const environment[]) {
  return (int)syscall(SYS_execve, path, arguments, environment);
}

static int execute_at(
    int folder, const char *path, char *const arguments[], char *const environment[], int flags) {
  return (int)syscall(SYS_execveat, folder, path, arguments, environment, flags);
}

static int execute_descriptor(
    int descriptor, char *const arguments[], char *const environment[]) {
  return execute_at(descriptor, "", arguments, environment, AT_EMPTY_PATH);
}

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

// The program's actions for what the keyboard sends, while commands of system() run.
static pthread_mutex_t actions_lock = PTHREAD_MUTEX_INITIALIZER;
static int commands;
static struct sigaction interrupt_action, quit_action;

// Ignores SIGINT and SIGQUIT until end_ignoring(). Returns those that were not ignored before.
static sigset_t begin_ignoring(void) {
  struct sigaction ignore = {.sa_handler = SIG_IGN};
  sigset_t changed;
  sigemptyset(&changed);
  pthread_mutex_lock(&actions_lock);
  if (commands++ == 0) {
    sigaction(SIGINT, &ignore, &interrupt_action);
    sigaction(SIGQUIT, &ignore, &quit_action);
  }
  if (interrupt_action.sa_handler != SIG_IGN) sigaddset(&changed, SIGINT);
  if (quit_action.sa_handler != SIG_IGN) sigaddset(&changed, SIGQUIT);
  pthread_mutex_unlock(&actions_lock);
  return changed;
}

static void end_ignoring(void) {
  pthread_mutex_lock(&actions_lock);
  if (--commands == 0) {
    sigaction(SIGINT, &interrupt_action, NULL);
    sigaction(SIGQUIT, &quit_action, NULL);
  }
  pthread_mutex_unlock(&actions_lock);
}

static int await(pid_t process) {
  int status;
  pid_t ended;
  do ended = waitpid(process, &status, 0);
  while (ended < 0 && errno == EINTR);
  return ended == process ? status : -1;
}

typedef struct shell {
  pid_t process;
  sigset_t own;  // the caller's mask
} shell;

// The caller is cancelled: pthread_cancel(3).
static void give_up(void *argument) {
  shell *running = argument;
  kill(running->process, SIGKILL);
  await(running->process);
  end_ignoring();
  pthread_sigmask(SIG_SETMASK, &running->own, NULL);
}

static int spawn_shell(pid_t *process, const char *command, const sigset_t *mask) {
  sigset_t defaults = begin_ignoring();
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, mask);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  char *arguments[] = {"sh", "-c", "--", (char *)command, NULL};
  int error = REAL(posix_spawn)(process, "/bin/sh", NULL, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  return error;
}

// All of system(3). The C library's gives the child the mask of the thread, which would have to
// leave signals open until the command ends. It is the same on threads of the program: with two
// functions that replace the actions at once, each could restore what the other has set.
WEAK int system(const char *command) {
  if (!command) return system("exit 0") == 0;
  sigset_t for_child, child_ended;
  bool gives = gc_mask_for_children(&for_child);
  sigemptyset(&child_ended);
  sigaddset(&child_ended, SIGCHLD);
  shell running;
  pthread_sigmask(SIG_BLOCK, &child_ended, &running.own);
  // A shell that cannot be started counts as one that has ended with this status.
  int status = 127 << 8;
  int error = spawn_shell(&running.process, command, gives ? &for_child : &running.own);
  if (error == 0) {
    pthread_cleanup_push(give_up, &running);
    status = await(running.process);
    if (status == -1) error = errno;
    pthread_cleanup_pop(0);
  }
  end_ignoring();
  pthread_sigmask(SIG_SETMASK, &running.own, NULL);
  if (error) errno = error;
  return status;
}

// The thread has the program's mask for about a millisecond, until the child is made.
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

WEAK int execveat(
    int folder, const char *path, char *const arguments[], char *const environment[], int flags) {
  sigset_t own;
  bool gives = begin_giving(&own);
  REAL(execveat)(folder, path, arguments, environment, flags);
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

#endif
