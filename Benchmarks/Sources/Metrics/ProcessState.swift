// The state of this process as the kernel and the allocator report it.

import CMetrics
import Glibc
import Synchronization

/// The number of threads of this process: the link count of /proc/self/task, less `.` and `..`.
public func threadCount() -> Int {
  var info = stat()
  if stat("/proc/self/task", &info) != 0 { fail("cannot read /proc/self/task") }
  return Int(info.st_nlink) - 2
}

/// The bytes allocated and not freed.
public func mallocBytes() -> Int {
  Int(metrics_malloc_bytes())
}

/// The resident anonymous memory in bytes, however it was obtained: `RssAnon` of /proc/self/status.
public func residentBytes() -> Int { statusBytes("RssAnon:") }

/// The value of a line of /proc/self/status that is in kB, in bytes.
func statusBytes(_ name: String) -> Int {
  let descriptor = open("/proc/self/status", O_RDONLY)
  if descriptor < 0 { fail("cannot read /proc/self/status") }
  defer { close(descriptor) }
  var bytes = [UInt8](repeating: 0, count: 8_192)
  let length = read(descriptor, &bytes, bytes.count)
  let text = String(decoding: bytes.prefix(max(0, length)), as: UTF8.self)
  for line in text.split(separator: "\n") where line.hasPrefix(name) {
    let fields = line.split { $0 == " " || $0 == "\t" }
    if fields.count > 1, let kibibytes = Int(fields[1]) { return kibibytes * 1_024 }
  }
  fail("no \(name) in /proc/self/status")
}

/// The bytes per object of the `count` objects that `body` makes, by the allocator or by the
/// kernel. The larger counts, because an engine may bypass the allocator.
public func bytesEach(of count: Int, _ body: () -> Void) -> Double {
  let allocated = mallocBytes()
  let resident = residentBytes()
  body()
  let growth = max(mallocBytes() - allocated, residentBytes() - resident)
  return Double(growth) / Double(count)
}

/// The processor time of all threads of this process, user and system, in nanoseconds.
public func processorTime() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// How often threads of this process, ended ones included, have gone to sleep. Each time, an event
/// had to wake the thread.
public func sleeps() -> Int {
  var usage = rusage()
  getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
  return Int(usage.ru_nvcsw)
}

/// Runs `body`. Returns the largest number of additional threads. A thread that is not counted
/// samples the number twice a millisecond.
public func peakThreads(_ body: () -> Void) -> Int {
  let watch = Watch()
  let watcher = startThread {
    watch.ready.post()
    while !watch.stop.isSet {
      watch.peak.max(threadCount(), ordering: .relaxed)
      sleep(microseconds: 500)
    }
  }
  watch.ready.wait()
  let before = threadCount()
  body()
  watch.stop.set()
  pthread_join(watcher, nil)
  return max(0, watch.peak.load(ordering: .relaxed) - before)
}

private final class Watch: Sendable {
  let ready = Signal()
  let stop = Stop()
  let peak = Atomic(0)
}
