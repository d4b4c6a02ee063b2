import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

setvbuf(stdout, nil, Int32(_IOLBF), 0)
let lock = NSLock()
nonisolated(unsafe) var count = 0
let operations = OperationQueue()
for _ in 0..<100 { operations.addOperation { lock.withLock { count += 1 } } }
operations.waitUntilAllOperationsAreFinished()
print("operations=\(count)")

let process = Process()
process.executableURL = URL(fileURLWithPath: "/bin/echo")
process.arguments = ["-n", "hello"]
let output = Pipe()
process.standardOutput = output
try process.run()
let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
process.waitUntilExit()
print("process=\(said) \(process.terminationStatus)")

let pipe = Pipe()
let arrived = DispatchSemaphore(value: 0)
nonisolated(unsafe) var bytes = Data()
pipe.fileHandleForReading.readabilityHandler = { handle in
  let available = handle.availableData
  if available.isEmpty {
    handle.readabilityHandler = nil
    arrived.signal()
  }
  bytes.append(available)
}
pipe.fileHandleForWriting.write(Data("some bytes".utf8))
try pipe.fileHandleForWriting.close()
arrived.wait()
print("handle=\(String(decoding: bytes, as: UTF8.self))")

nonisolated(unsafe) var ticks = 0
let ticker = Timer.scheduledTimer(withTimeInterval: 0.002, repeats: true) { timer in
  ticks += 1
  if ticks == 3 { timer.invalidate() }
}
while ticker.isValid {
  _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.01))
}
print("timer=\(ticks)")

// The run loop runs the main queue's items.
nonisolated(unsafe) var ran = false
DispatchQueue.global().async { DispatchQueue.main.async { ran = Thread.isMainThread } }
while !ran { _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.01)) }
print("main=\(ran)")

nonisolated(unsafe) var onOther = false
let other = Thread {
  let timer = Timer(timeInterval: 0.002, repeats: false) { _ in onOther = true }
  RunLoop.current.add(timer, forMode: .default)
  while !onOther {
    _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.01))
  }
  arrived.signal()
}
other.start()
arrived.wait()
print("runloop=\(onOther)")

nonisolated(unsafe) var wasNotified = false
let observer = NotificationCenter.default.addObserver(
  forName: Notification.Name("client"), object: nil, queue: operations
) { _ in wasNotified = true }
NotificationCenter.default.post(name: Notification.Name("client"), object: nil)
operations.waitUntilAllOperationsAreFinished()
NotificationCenter.default.removeObserver(observer)
print("notified=\(wasNotified)")

// A server that answers one request, on the loopback interface.
let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
var address = sockaddr_in()
address.sin_family = sa_family_t(AF_INET)
address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
var length = socklen_t(MemoryLayout<sockaddr_in>.size)
withUnsafeMutablePointer(to: &address) {
  $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
    bind(listener, $0, length)
    listen(listener, 1)
    getsockname(listener, $0, &length)
  }
}
let port = UInt16(bigEndian: address.sin_port)
let server = Thread {
  let peer = accept(listener, nil, nil)
  var request = [UInt8](repeating: 0, count: 4096)
  _ = read(peer, &request, request.count)
  let answer = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\npong"
  _ = write(peer, answer, answer.utf8.count)
  close(peer)
}
server.start()
let url = URL(string: "http://127.0.0.1:\(port)/ping")!
let configuration = URLSessionConfiguration.ephemeral
configuration.connectionProxyDictionary = [:]
URLSession(configuration: configuration).dataTask(with: url) { data, response, error in
  let status = (response as? HTTPURLResponse)?.statusCode ?? 0
  print("url=\(status) \(String(decoding: data ?? Data(), as: UTF8.self))")
  exit(0)
}.resume()
RunLoop.main.run()
