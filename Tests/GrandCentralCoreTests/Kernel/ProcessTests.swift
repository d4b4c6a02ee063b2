import CGrandCentralLinux
import Glibc
import TestSupport
import Testing

@testable import GrandCentralCore

@Suite("What the kernel says of this process") struct ProcessTests {
  /// Runs `body` with the id of a thread that sleeps meanwhile.
  private func besideSleeper(named name: String, _ body: (UInt32) -> Void) {
    let identifier = Box<UInt32>(0)
    let end = Latch()
    let isUp = Latch()
    let thread = TestThread(name) {
      identifier.value = gc_thread_id()
      isUp.open()
      _ = end.wait()
    }
    #expect(isUp.wait())
    body(identifier.value)
    end.open()
    #expect(thread.join())
  }

  @Test(arguments: ["plain", "a b", "odd) S (name", "exactly-15-byte"])
  func `names threads, and tells their state whatever the name`(name: String) {
    besideSleeper(named: name) { thread in
      #expect(Process.threadName(thread) == name)
      #expect(eventually { Process.threadState(thread) == "S" })
      #expect(Process.isEnding(thread) == false)
    }
  }

  @Test func `includes that the caller runs`() {
    #expect(Process.threadState(gc_thread_id()) == "R")
  }

  @Test func `does not include threads that do not exist`() {
    // Larger than any thread id: /proc/sys/kernel/pid_max is at most 2^22.
    #expect(Process.threadName(1 << 23) == "?")
    #expect(Process.threadState(1 << 23) == nil)
    #expect(Process.isEnding(1 << 23) == nil)
  }

  #if arch(x86_64)
    private static let (futexCall, mapCall) = (202, 9)
  #else
    private static let (futexCall, mapCall) = (98, 222)
  #endif

  @Test func `includes the call in which a thread sleeps`() {
    besideSleeper(named: "sleeper") { thread in
      #expect(eventually { Process.sleepingCall(ofThread: thread)?.number == Self.futexCall })
      #expect(!Process.changesMappings(thread))
    }
    #expect(Process.sleepingCall(ofThread: 1 << 23) == nil)
  }

  @Test func `tells calls that only change mappings from those that may read a file`() {
    func changes(_ call: Int, _ arguments: [UInt]) -> Bool {
      gc_changes_mappings(call, arguments + [UInt](repeating: 0, count: 5 - arguments.count))
    }
    let (anonymous, none) = (UInt(MAP_PRIVATE | MAP_ANONYMOUS), UInt(bitPattern: -1))
    #expect(changes(Self.mapCall, [0, 4096, 3, anonymous, none]))
    #expect(changes(Self.mapCall, [0, 4096, 3, anonymous, 0xffff_ffff]))
    #expect(!changes(Self.mapCall, [0, 4096, 3, anonymous | UInt(MAP_POPULATE), none]))
    #expect(!changes(Self.mapCall, [0, 4096, 1, UInt(MAP_PRIVATE), 3]))
    #expect(!changes(Self.futexCall, []) && !changes(-1, []))
  }

  @Test func `says that a thread waits for the lock of the mappings`() {
    let isOver = Latch()
    let bytes = 8 << 20
    let threads = (0..<4).map { number in
      TestThread("mapper-\(number)") {
        while !isOver.isOpen {
          let flags = MAP_PRIVATE | MAP_ANONYMOUS
          guard let memory = mmap(nil, bytes, PROT_READ | PROT_WRITE, flags, -1, 0),
            memory != MAP_FAILED
          else { continue }
          memset(memory, 1, bytes)
          munmap(memory, bytes)
        }
      }
    }
    let isSeen = eventually {
      processThreads().contains { thread in
        thread.name.hasPrefix("mapper-") && Process.threadState(UInt32(thread.id)) == "D"
          && Process.changesMappings(UInt32(thread.id))
      }
    }
    #expect(isSeen)
    isOver.open()
    for thread in threads { #expect(thread.join()) }
  }

  @Test func `includes the main thread's signal mask, asked on any thread`() throws {
    let entry = try #require(processThreads().first { $0.id == Int(gc_process_id()) })
    let before = try #require(Process.mainThreadBlockedSignals())
    #expect(before == entry.blockedSignals)
    let ended = onThreads(1) { _ in
      var own = sigset_t()
      sigemptyset(&own)
      sigaddset(&own, SIGUSR2)
      pthread_sigmask(SIG_SETMASK, &own, nil)
      #expect(Process.mainThreadBlockedSignals() == before)
    }
    #expect(ended)
  }

  @Test func `is read as far as was asked for`() {
    #expect(Process.readText("/proc/self/comm", atMost: 3)?.utf8.count == 3)
    #expect(Process.readText("/proc/self/mountinfo", atMost: 1 << 20)?.hasSuffix("\n") == true)
    #expect(Process.readText("/dev/null", atMost: 16)?.isEmpty == true)
    #expect(Process.readText("/proc/self/no such file", atMost: 16) == nil)
    #expect(Process.readText("/proc/self", atMost: 16) == nil)
  }

  @Test func `includes its environment`() {
    #expect(Process.environment("PATH")?.isEmpty == false)
    #expect(Process.environment("GRANDCENTRAL NO SUCH VARIABLE") == nil)
  }
}
