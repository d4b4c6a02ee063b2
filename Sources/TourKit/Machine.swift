// Purpose: what the tour reads off the machine: the clock, a process's threads and memory, and
// writing all of some bytes to a descriptor.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

public enum Machine {
  /// Nanoseconds on a clock that only goes forward.
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

  /// The processor time that the calling thread has used, in nanoseconds.
  public static var threadNanoseconds: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// How many processors the machine has in use, at least one.
  public static var processors: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

  /// Sleeps until `time`, a value of `nanoseconds`; not at all when that is past.
  public static func sleep(until time: UInt64) {
    var end = timespec()
    end.tv_sec = time_t(time / 1_000_000_000)
    end.tv_nsec = Int(time % 1_000_000_000)
    while clock_nanosleep(CLOCK_MONOTONIC, Int32(TIMER_ABSTIME), &end, nil) == EINTR {}
  }

  /// The number of threads of a process; nil once it has gone.
  public static func threadCount(of process: Int32) -> Int? {
    field("Threads:", of: "/proc/\(process)/status")
  }

  /// This process's threads, now.
  public static var threadCount: Int { threadCount(of: getpid()) ?? 1 }

  /// The most memory this process has had resident, in bytes.
  public static var peakMemoryBytes: Int {
    // thread-self: the main thread may have ended, and then the process's own page has no such
    // line.
    (field("VmHWM:", of: "/proc/thread-self/status") ?? 0) << 10
  }

  /// The memory that this process has resident now, in bytes.
  public static var residentBytes: Int {
    (field("VmRSS:", of: "/proc/thread-self/status") ?? 0) << 10
  }

  /// Whether a sanitizer's runtime is linked in, which needs several times the memory.
  public static var isSanitized: Bool {
    ["__asan_init", "__tsan_init"].contains { (name: String) in dlsym(nil, name) != nil }
  }

  /// How many bytes may still be written to the file system of `folder`; nil where it does not say.
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

  /// Writes all of `bytes`, unless the other end has gone.
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

  /// Writes `text` to standard output at once, with no buffer of our own: two processes take turns.
  public static func say(_ text: String) {
    put(Array(text.utf8), to: STDOUT_FILENO)
  }

  /// Ends the process.
  public static func leave(_ code: Int32) -> Never {
    exit(code)
  }

  /// The number after `name` in a page of proc(5).
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
