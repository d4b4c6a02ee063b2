// What the kernel and the allocator say of this process.

import CMetrics
import Glibc
import Synchronization

/// Threads alive in this process: the link count of /proc/self/task, less `.` and `..`.
public func threadCount() -> Int {
  var info = stat()
  if stat("/proc/self/task", &info) != 0 { fail("cannot read /proc/self/task") }
  return Int(info.st_nlink) - 2
}

/// Bytes the allocator has handed out and not got back.
public func mallocBytes() -> Int {
  Int(metrics_malloc_bytes())
}

/// Bytes of anonymous memory in use, however it was obtained: `RssAnon` of /proc/self/status.
public func residentBytes() -> Int { statusBytes("RssAnon:") }

/// One line of /proc/self/status that is in kB.
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

/// Bytes that `count` objects made by `body` cost each: the allocator's view or the kernel's,
/// whichever is larger, since an engine may obtain memory past the allocator.
public func bytesEach(of count: Int, _ body: () -> Void) -> Double {
  let allocated = mallocBytes()
  let resident = residentBytes()
  body()
  let growth = max(mallocBytes() - allocated, residentBytes() - resident)
  return Double(growth) / Double(count)
}

/// Nanoseconds of processor time that all threads of this process have used, in the kernel too.
public func processorTime() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// How often threads of this process, also those that have ended, went to sleep: each time,
/// something had to wake them up.
public func sleeps() -> Int {
  var usage = rusage()
  getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
  return Int(usage.ru_nvcsw)
}

/// Runs `body` and returns how many threads more than before lived at the worst moment, read twice
/// a millisecond by a thread of its own, which is not counted.
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
