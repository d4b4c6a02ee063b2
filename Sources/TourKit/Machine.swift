// Purpose: the machine as the tour reads it: clocks, threads and memory of processes, limits; and
// complete writes to a descriptor.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

public enum Machine {
  /// The monotonic clock, in nanoseconds.
  public static var nanoseconds: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// Seconds since `start`, a value of `nanoseconds`.
  public static func seconds(since start: UInt64) -> Double {
    Double(nanoseconds - start) / 1e9
  }

  /// The processor time, user and system, that this process has used, in seconds.
  public static var processorSeconds: Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// The processor time that the calling thread has used, user and system, in nanoseconds.
  public static var threadNanoseconds: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// The number of processors online, at least one.
  public static var processors: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

  /// Sleeps until `time`, a value of `nanoseconds`. Returns at once if it is past.
  public static func sleep(until time: UInt64) {
    var end = timespec()
    end.tv_sec = time_t(time / 1_000_000_000)
    end.tv_nsec = Int(time % 1_000_000_000)
    while clock_nanosleep(CLOCK_MONOTONIC, Int32(TIMER_ABSTIME), &end, nil) == EINTR {}
  }

  /// The number of threads of a process; nil if the process has ended.
  public static func threadCount(of process: Int32) -> Int? {
    field("Threads:", of: "/proc/\(process)/status")
  }

  /// The number of threads of this process.
  public static var threadCount: Int { threadCount(of: getpid()) ?? 1 }

  /// The largest resident memory of this process so far, in bytes.
  public static var peakMemoryBytes: Int {
    // The main thread may have ended, and then /proc/self/status has no such line, so read that of
    // the calling thread.
    (field("VmHWM:", of: "/proc/thread-self/status") ?? 0) << 10
  }

  /// The resident memory of this process now, in bytes.
  public static var residentBytes: Int {
    (field("VmRSS:", of: "/proc/thread-self/status") ?? 0) << 10
  }

  /// Whether a sanitizer is linked in. A sanitizer needs several times the memory.
  public static var isSanitized: Bool {
    ["__asan_init", "__tsan_init"].contains { (name: String) in dlsym(nil, name) != nil }
  }

  /// The free bytes of `folder`'s file system for this user; nil if it does not report them.
  public static func freeBytes(in folder: Path) -> Int? {
    var status = statvfs()
    guard folder.withCString({ statvfs($0, &status) }) == 0 else { return nil }
    let (bytes, overflows) = Int(clamping: status.f_bavail).multipliedReportingOverflow(
      by: Int(clamping: status.f_frsize))
    return overflows ? .max : bytes
  }

  /// The soft limit of open descriptors.
  public static var descriptorLimit: Int {
    var limit = rlimit()
    #if canImport(Glibc)
      let result = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    #else
      let result = getrlimit(RLIMIT_NOFILE, &limit)
    #endif
    return result == 0 ? Int(clamping: limit.rlim_cur) : 1024
  }

  /// Writes all of `bytes`. Stops if writing fails.
  public static func put(_ bytes: [UInt8], to descriptor: Int32) {
    bytes.withUnsafeBytes { buffer in
      var rest = buffer[...]
      while !rest.isEmpty {
        let piece = UnsafeRawBufferPointer(rebasing: rest)
        let count = write(descriptor, piece.baseAddress, piece.count)
        if count < 0 && errno != EINTR { return }
        rest = rest.dropFirst(max(0, count))
      }
    }
  }

  /// Writes `text` to standard output without a buffer, because two processes write alternately.
  public static func say(_ text: String) {
    put(Array(text.utf8), to: STDOUT_FILENO)
  }

  /// Ends the process with exit code `code`.
  public static func leave(_ code: Int32) -> Never {
    exit(code)
  }

  /// The number after `name` in the file `page` of proc(5); nil if there is none.
  private static func field(_ name: String, of page: String) -> Int? {
    let descriptor = open(page, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 16) { buffer in
      let count = read(descriptor, buffer.baseAddress, buffer.count)
      guard count > 0 else { return nil }
      let lines = buffer[..<count].split(separator: UInt8(ascii: "\n"))
      guard let line = lines.first(where: { $0.starts(with: name.utf8) }) else { return nil }
      let digits = line.filter { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      return Int(String(decoding: digits, as: UTF8.self))
    }
  }
}
