// Descriptors that are closed before their sources are cancelled. Foundation does that to the
// sockets of refused or cancelled requests, which a program's author cannot change. The last case
// here is the program's own.
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Returns a socket bound on the loopback interface, and its port.
func boundSocket() -> (socket: Int32, port: UInt16) {
  let made = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
  var length = socklen_t(MemoryLayout<sockaddr_in>.size)
  withUnsafeMutablePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      bind(made, $0, length)
      getsockname(made, $0, &length)
    }
  }
  return (made, UInt16(bigEndian: address.sin_port))
}

let configuration = URLSessionConfiguration.ephemeral
configuration.connectionProxyDictionary = [:]
let session = URLSession(configuration: configuration)
let answered = DispatchSemaphore(value: 0)

func request(_ port: UInt16, isCancelled: Bool, _ expected: URLError.Code) -> Bool {
  nonisolated(unsafe) var isExpected = false
  let task = session.dataTask(with: URL(string: "http://127.0.0.1:\(port)/")!) { _, _, error in
    isExpected = (error as? URLError)?.code == expected
    answered.signal()
  }
  task.resume()
  if isCancelled { task.cancel() }
  answered.wait()
  return isExpected
}

let refused = (0..<5).filter { _ in
  // The socket is bound but does not listen: connections are refused, and no other process gets the
  // port.
  let (probe, port) = boundSocket()
  defer { close(probe) }
  return request(port, isCancelled: false, .cannotConnectToHost)
}
print("refused=\(refused.count)")

// The listener answers nothing, so only the cancellation ends a request.
let (listener, port) = boundSocket()
listen(listener, 128)
print("cancelled=\((0..<50).filter { _ in request(port, isCancelled: true, .cancelled) }.count)")

let pipe = Pipe()
let descriptor = dup(pipe.fileHandleForReading.fileDescriptor)
let source = DispatchSource.makeReadSource(fileDescriptor: descriptor)
source.setEventHandler {}
source.setRegistrationHandler { answered.signal() }
source.activate()
answered.wait()
close(descriptor)
source.setCancelHandler { answered.signal() }
source.cancel()
answered.wait()
print("closed=early")
