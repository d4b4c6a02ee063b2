import Glibc
import GrandCentralPrimitives
import TestSupport
import Testing

@Suite("A thread's name") struct ThreadNameTests {
  @Test(arguments: [
    ("", ""), ("short", "short"), ("exactly-15-byte", "exactly-15-byte"),
    ("com.example.queue", "com.example.que"),
    // Characters of two, three and four bytes across the limit of 15 bytes.
    ("fourteen bytesä", "fourteen bytes"), ("thirteen byteä", "thirteen byteä"),
    ("thirteen bytes€", "thirteen bytes"), ("twelve bytes€", "twelve bytes€"),
    ("twelve bytes😀", "twelve bytes"), ("eleven byte😀", "eleven byte😀"),
    ("eleven byte😀s", "eleven byte😀"),
  ])
  func `is 15 bytes of whole characters`(text: String, name: String) {
    #expect(ThreadName(text).text == name)
  }

  @Test func `is cut at 15 bytes where it is not UTF-8`() {
    let bytes = UInt64.max
    #expect(ThreadName(start: (bytes, bytes)).withCString { strlen($0) } == 15)
  }

  @Test func `is what the kernel calls the thread`() {
    let seen = Box("")
    let ended = onThreads(1) { _ in
      nameThread(ThreadName("a long name of a thread"))
      seen.value = threadName()
    }
    #expect(ended)
    #expect(seen.value == "a long name of ")
  }
}
