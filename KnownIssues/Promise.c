// The parent process waits for the body's verdict and for its end, and uses no library but the
// system's: it decides also if the body hangs or crashes.
#include "Promise.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHANNEL "KNOWN_ISSUES_CHANNEL"
enum { TEXT = 512 };

// The descriptor on which the body reports to the parent.
static int channel = -1;

int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

void sleep_ms(int milliseconds) {
  struct timespec rest = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
  while (nanosleep(&rest, &rest) != 0 && errno == EINTR) {
  }
}

static int64_t used_ns(void) {
  struct timespec used;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return used.tv_sec * 1000000000LL + used.tv_nsec;
}

void compute_ms(int milliseconds) {
  int64_t end = used_ns() + milliseconds * 1000000LL;
  while (used_ns() < end) {
  }
}

int thread_count(void) {
  int count = 0;
  DIR *tasks = opendir("/proc/self/task");
  for (struct dirent *entry; tasks && (entry = readdir(tasks));) count += entry->d_name[0] != '.';
  if (tasks) closedir(tasks);
  return count;
}

long resident_kib(void) {
  long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%*d %ld", &pages) != 1) abort();
  fclose(file);
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

// A message is one write, which no other divides: its kind, its text, a line feed.
static void report(char kind, const char *text) {
  char line[TEXT];
  int length = snprintf(line, sizeof line - 1, "%c%s", kind, text);
  if (length > TEXT - 2) length = TEXT - 2;
  for (int i = 0; i < length; i++) {
    if (line[i] == '\n') line[i] = ' ';
  }
  line[length] = '\n';
  if (write(channel, line, (size_t)length + 1) < 0) _exit(2);
}

void awaiting(const char *event) { report('a', event); }

void decide(bool is_kept, const char *what_happened) {
  report(is_kept ? 'k' : 'b', what_happened);
  // The parent ends this process.
  for (;;) pause();
}

static void finish(const char *promised, bool is_kept, const char *what_happened) {
  printf("%s. Promised: %s. Happened: %s.\n", is_kept ? "kept" : "broken", promised, what_happened);
  fflush(stdout);
  _exit(is_kept ? 0 : 1);
}

// The body's process: this program once more, with the channel in its environment.
static pid_t spawn_body(int *reports, int errors) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) abort();
  channel = fcntl(ends[1], F_DUPFD, 100);
  char number[20];
  snprintf(number, sizeof number, "%d", channel);
  setenv(CHANNEL, number, 1);
  // A crash ends the process at once.
  setenv("SWIFT_BACKTRACE", "enable=no", 1);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
  // A group of its own, so that the processes that it starts end with it.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t child;
  char *arguments[] = {program_invocation_name, NULL};
  int error = posix_spawn(&child, "/proc/self/exe", &actions, &attributes, arguments, environ);
  if (error) {
    fprintf(stderr, "posix_spawn: %s\n", strerror(error));
    _exit(2);
  }
  close(channel);
  close(ends[1]);
  *reports = ends[0];
  return child;
}

// Reads messages until a verdict, the end of the process, or the deadline. Returns the verdict's
// kind, or 0; `event` and `verdict` receive the texts.
static char listen_to(pid_t child, int reports, int64_t deadline, char *event, char *verdict) {
  int process = pidfd_open(child, 0);
  FILE *stream = fdopen(reports, "r");
  fcntl(reports, F_SETFL, O_NONBLOCK);
  for (bool ended = false;;) {
    char line[TEXT];
    while (fgets(line, sizeof line, stream)) {
      line[strcspn(line, "\n")] = 0;
      if (line[0] != 'a') {
        strcpy(verdict, line + 1);
        return line[0];
      }
      strcpy(event, line + 1);
    }
    clearerr(stream);
    int64_t rest = deadline - now_ms();
    if (ended || rest <= 0) return 0;
    struct pollfd polled[] = {{reports, POLLIN, 0}, {process, POLLIN, 0}};
    poll(polled, 2, (int)rest);
    // What was written before the end is still read.
    ended = polled[1].revents != 0;
  }
}

// The text of standard error, and whether it contains every word.
static bool has_words(int errors, const char *words, char *first_line) {
  static char text[65536];
  ssize_t length = pread(errors, text, sizeof text - 1, 0);
  text[length < 0 ? 0 : length] = 0;
  // A long line is cut after a word.
  int cut = (int)strcspn(text, "\n");
  bool is_long = cut > 150;
  for (cut = is_long ? 150 : cut; is_long && cut > 0 && text[cut] != ' ';) cut--;
  // The verdict ends with a full stop of its own.
  if (cut > 0 && text[cut - 1] == '.') cut--;
  snprintf(first_line, 200, "%.*s%s", cut, text, is_long ? " …" : "");
  char *list = strdup(words), *rest = list;
  bool has_all = true;
  for (char *word; (word = strsep(&rest, "|"));) has_all = has_all && strstr(text, word);
  free(list);
  return has_all;
}

static void run(const char *text, const char *words, void (*body)(void)) {
  const char *inherited = getenv(CHANNEL);
  if (inherited) {
    channel = atoi(inherited);
    unsetenv(CHANNEL);
    fcntl(channel, F_SETFD, FD_CLOEXEC);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    body();
    decide(false, "the body returned without a verdict");
  }
  const char *setting = getenv("KNOWN_ISSUES_DEADLINE");
  int seconds = setting ? atoi(setting) : 20;
  int errors = memfd_create("errors", MFD_CLOEXEC), reports;
  pid_t child = spawn_body(&reports, errors);
  char event[TEXT] = "the first event", verdict[TEXT] = "", first_line[200], line[2 * TEXT];
  char kind = listen_to(child, reports, now_ms() + seconds * 1000LL, event, verdict);
  bool is_late = kill(child, 0) == 0 && !kind;
  siginfo_t info;
  if (is_late && waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) == 0) {
    is_late = info.si_pid == 0;
  }
  kill(-child, SIGKILL);
  int status;
  waitpid(child, &status, 0);
  bool has_all = has_words(errors, words ? words : "", first_line);
  if (kind) finish(text, kind == 'k', verdict);
  if (is_late) {
    snprintf(line, sizeof line, "after %d s the program still waits for %s%s", seconds, event,
             words ? ", in silence" : "");
    finish(text, false, line);
  }
  int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  bool stops = number == SIGILL || number == SIGTRAP || number == SIGABRT;
  if (words && stops && has_all) {
    snprintf(line, sizeof line, "it stopped and said: %s", first_line);
    finish(text, true, line);
  }
  snprintf(line, sizeof line, "the program ended (%s) while it awaited %s%s%s",
           number ? strsignal(number) : "without a signal", event,
           first_line[0] ? "; it said: " : "", first_line);
  finish(text, false, line);
}

void promise(const char *text, void (*body)(void)) { run(text, NULL, body); }

void promise_to_stop(const char *text, const char *words, void (*body)(void)) {
  run(text, words, body);
}
