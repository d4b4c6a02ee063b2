// A task executor of as many threads as CPUs, each with a list of its own. Jobs go to the lists in
// turn, and no thread takes from another's: the idea of executors that are a fixed pool of threads.
// A yardstick for libraries, which have to beat it.
import Glibc
import Synchronization

final class RoundRobinExecutor: TaskExecutor {
  private let threads: [JobThread]
  private let next = Atomic<Int>(0)

  init() {
    threads = (0..<sysconf(Int32(_SC_NPROCESSORS_ONLN))).map { _ in JobThread() }
    for thread in threads { thread.start(asTaskExecutor: self) }
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let number = next.wrappingAdd(1, ordering: .relaxed).oldValue
    threads[Int(UInt(bitPattern: number) % UInt(threads.count))].add(UnownedJob(job))
  }
}

/// A thread that runs the jobs on its list, and sleeps when there are none.
// SAFETY: the mutex guards `jobs` and `isAsleep`; `executor` is set before the thread starts.
private final class JobThread: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let wakeUp = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var jobs: [UnownedJob] = []
  private var isAsleep = false
  private var executor: UnownedTaskExecutor?

  init() {
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(wakeUp, nil)
  }

  func start(asTaskExecutor executor: RoundRobinExecutor) {
    self.executor = executor.asUnownedTaskExecutor()
    var thread = pthread_t()
    let result = pthread_create(
      &thread, nil,
      { raw in
        Unmanaged<JobThread>.fromOpaque(raw.unsafelyUnwrapped).takeRetainedValue().run()
      }, Unmanaged.passRetained(self).toOpaque())
    if result != 0 { exit(71) }
  }

  func add(_ job: UnownedJob) {
    pthread_mutex_lock(mutex)
    jobs.append(job)
    let wakes = isAsleep
    isAsleep = false
    pthread_mutex_unlock(mutex)
    if wakes { pthread_cond_signal(wakeUp) }
  }

  private func run() -> Never {
    guard let executor else { exit(71) }
    var taken: [UnownedJob] = []
    while true {
      pthread_mutex_lock(mutex)
      while jobs.isEmpty {
        isAsleep = true
        pthread_cond_wait(wakeUp, mutex)
      }
      // An add() that found it set has cleared it; a spurious wake-up has not.
      isAsleep = false
      swap(&jobs, &taken)
      pthread_mutex_unlock(mutex)
      for job in taken { job.runSynchronously(on: executor) }
      taken.removeAll(keepingCapacity: true)
    }
  }
}
