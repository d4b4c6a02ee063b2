// Uses the headers from C++: objects convert to dispatch_object_t by inheritance, and overloads are
// chosen by type. Compiled without warnings, and run.
#include <dispatch/dispatch.h>
#include <sys/qos.h>

#include <atomic>
#include <cstdio>
#include <vector>

namespace {

// A name that some systems' C headers define as a macro.
struct Version {
  int major = 1, minor = 0;
};

class Queue {
public:
  explicit Queue(const char *label) : queue(dispatch_queue_create(label, DISPATCH_QUEUE_SERIAL)) {}
  ~Queue() { dispatch_release(queue); }
  Queue(const Queue &) = delete;
  Queue &operator=(const Queue &) = delete;
  template <typename Work> void sync(Work &work) {
    dispatch_sync_f(queue, &work, [](void *context) { (*static_cast<Work *>(context))(); });
  }
  dispatch_queue_t queue;
};

bool useObjects() {
  Queue serial("usability");
  std::vector<dispatch_object_t> objects{serial.queue, dispatch_get_main_queue(),
      dispatch_group_create(), dispatch_semaphore_create(0), dispatch_data_empty};
  for (dispatch_object_t object : objects) dispatch_retain(object);
  for (dispatch_object_t object : objects) dispatch_release(object);
  dispatch_queue_serial_t main_queue = dispatch_get_main_queue();
  dispatch_queue_t global = dispatch_get_global_queue(QOS_CLASS_DEFAULT, 0);
  int runs = 0;
  auto work = [&runs] { runs++; };
  serial.sync(work);
  return main_queue && global && runs == 1;
}

bool useOverloads() {
  dispatch_group_t group = dispatch_group_create();
  dispatch_semaphore_t semaphore = dispatch_semaphore_create(1);
  dispatch_source_t source =
      dispatch_source_create(DISPATCH_SOURCE_TYPE_DATA_OR, 0, 0, nullptr);
  bool right = dispatch_wait(group, DISPATCH_TIME_NOW) == 0
      && dispatch_wait(semaphore, DISPATCH_TIME_NOW) == 0;
  dispatch_cancel(source);
  right = right && dispatch_testcancel(source) != 0;
  dispatch_semaphore_signal(semaphore);
  dispatch_activate(source);
  dispatch_release(source);
  dispatch_release(group);
  dispatch_release(semaphore);
  return right;
}

#ifdef __BLOCKS__
bool useBlocks() {
  __block int value = 0;
  Queue serial("blocks");
  dispatch_sync(serial.queue, ^{ value = 5; });
  dispatch_block_t block = dispatch_block_create(
      static_cast<dispatch_block_flags_t>(DISPATCH_BLOCK_BARRIER | DISPATCH_BLOCK_DETACHED),
      ^{ value++; });
  dispatch_async(serial.queue, block);
  return dispatch_wait(block, DISPATCH_TIME_FOREVER) == 0 && value == 6;
}
#else
bool useBlocks() { return true; }
#endif

bool useOnce() {
  static dispatch_once_t once;
  static std::atomic<int> runs{0};
  for (int n = 0; n < 2; n++)
    dispatch_once_f(&once, nullptr, [](void *) { runs++; });
  return runs == 1;
}

} // namespace

int main() {
  Version version;
  bool right =
      useObjects() && useOverloads() && useBlocks() && useOnce() && version.major == 1;
  if (!right) std::fprintf(stderr, "usability: something is wrong\n");
  return !right;
}
