// Serves the files of a folder over HTTP, with sources and callbacks: as programs for macOS did
// before async. The example `http` is the same in tasks.
//
//   swift run -c release --package-path Examples serve FOLDER [PORT]
//
// A read source on the listening socket accepts; each connection has a serial queue, which is the
// target of its read source and of its channel. So a connection needs no lock, and connections run
// beside each other. The server answers GET, one request for each connection.

import Glibc
import GrandCentral

@main struct Serve {
  static func main() {
    let arguments = CommandLine.arguments
    let number = arguments.count > 2 ? arguments[2] : "0"
    guard 2...3 ~= arguments.count, let port = UInt16(number) else {
      complain("usage: serve FOLDER [PORT]")
      exit(2)
    }
    signal(SIGPIPE, SIG_IGN)
    guard let (socket, bound) = listeningSocket(port: port) else {
      complain("cannot listen on 127.0.0.1:\(port): \(String(cString: strerror(errno)))")
      exit(1)
    }
    let folder = arguments[1]
    let listener = DispatchSource.makeReadSource(fileDescriptor: socket, queue: .main)
    listener.setEventHandler {
      // The source says how many connections wait at least; the socket does not block.
      while case let client = accept(socket, nil, nil), client >= 0 {
        _ = fcntl(client, F_SETFD, FD_CLOEXEC)
        Connection(client, folder: folder).start()
      }
    }
    listener.setCancelHandler {
      close(socket)
      exit(0)
    }
    listener.activate()

    signal(SIGTERM, SIG_IGN)
    let stop = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .main)
    stop.setEventHandler { listener.cancel() }
    stop.activate()
    complain("http://127.0.0.1:\(bound)/")
    dispatchMain()
  }
}

/// One client. It lives as long as its channel's handlers.
// SAFETY: the queue guards all variables.
final class Connection: @unchecked Sendable {
  private let queue = DispatchQueue(label: "serve.connection")
  private let channel: DispatchIO
  private let folder: String
  private var head: [UInt8] = []
  private var piece = DispatchData.empty

  init(_ client: Int32, folder: String) {
    self.folder = folder
    channel = DispatchIO(type: .stream, fileDescriptor: client, queue: queue) { _ in
      close(client)
    }
    // Hand over what has come, however little: a request has no length.
    channel.setLimit(lowWater: 1)
  }

  func start() {
    // A client that says nothing for so long is left.
    let timeout = DispatchWorkItem { [self] in channel.close(flags: .stop) }
    queue.asyncAfter(deadline: .now() + .seconds(30), execute: timeout)
    readHead(timeout)
  }

  private func readHead(_ timeout: DispatchWorkItem) {
    channel.read(offset: 0, length: 4096, queue: queue) { [self] isDone, data, error in
      if timeout.isCancelled { return }
      if let data { head += data }
      if let end = head.firstRange(of: Array("\r\n\r\n".utf8)) {
        timeout.cancel()
        return answer(String(decoding: head[..<end.lowerBound], as: UTF8.self))
      }
      if !isDone { return }
      let isOver = error != 0 || data?.isEmpty != false || head.count >= 16384
      if isOver {
        timeout.cancel()
        channel.close(flags: .stop)
      } else {
        readHead(timeout)
      }
    }
  }

  private func answer(_ head: String) {
    let words = head.prefix { $0 != "\r\n" }.split(separator: " ")
    guard words.count == 3, words[2].hasPrefix("HTTP/1.") else { return send(400, "Bad Request") }
    guard words[0] == "GET" else { return send(405, "Method Not Allowed") }
    let name = words[1].dropFirst()
    guard !name.isEmpty, !name.split(separator: "/").contains("..") else {
      return send(404, "Not Found")
    }
    let file = open("\(folder)/\(name)", O_RDONLY | O_CLOEXEC)
    var status = stat()
    guard file >= 0, fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      if file >= 0 { close(file) }
      return send(404, "Not Found")
    }
    // The file goes from one channel to the other, a piece at a time: memory stays flat.
    let source = DispatchIO(type: .stream, fileDescriptor: file, queue: queue) { _ in close(file) }
    let head = "HTTP/1.1 200 OK\r\nContent-Length: \(status.st_size)\r\n"
    write(bytes(head + end)) { [self] _ in copyRest(of: source) }
  }

  /// Sends the next piece when the client has taken the one before.
  private func copyRest(of source: DispatchIO) {
    piece = .empty
    source.read(offset: 0, length: 65536, queue: queue) { [self] isDone, data, error in
      if let data { piece.append(data) }
      guard isDone else { return }
      if piece.isEmpty || error != 0 {
        source.close()
        return finish()
      }
      write(piece) { [self] isWritten in
        if isWritten { return copyRest(of: source) }
        source.close()
        finish()
      }
    }
  }

  private func send(_ status: Int, _ reason: String) {
    let body = reason + "\n"
    let head = "HTTP/1.1 \(status) \(reason)\r\nContent-Length: \(body.utf8.count)\r\n"
    write(bytes(head + end + body)) { [self] _ in finish() }
  }

  /// Calls `whenDone` once, with whether all bytes were taken.
  private func write(_ data: DispatchData, whenDone: @escaping (Bool) -> Void) {
    channel.write(offset: 0, data: data, queue: queue) { isDone, _, error in
      if isDone { whenDone(error == 0) }
    }
  }

  /// Ends the read that still waits for the client too.
  private func finish() { channel.close(flags: .stop) }

  private let end = "Connection: close\r\n\r\n"
}

func bytes(_ text: String) -> DispatchData {
  Array(text.utf8).withUnsafeBytes { DispatchData(bytes: $0) }
}

/// A socket on the loopback interface that waits for connections. `nil` with errno.
func listeningSocket(port: UInt16) -> (descriptor: Int32, port: UInt16)? {
  let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
  let descriptor = socket(AF_INET, kind, 0)
  guard descriptor >= 0 else { return nil }
  var one: Int32 = 1
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, 4)
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = port.bigEndian
  address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
  var length = socklen_t(MemoryLayout<sockaddr_in>.size)
  let failed = withUnsafeMutablePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      bind(descriptor, $0, length) != 0 || listen(descriptor, 128) != 0
        || getsockname(descriptor, $0, &length) != 0
    }
  }
  return failed ? nil : (descriptor, UInt16(bigEndian: address.sin_port))
}

/// Prints a line on standard error.
func complain(_ text: String) {
  let bytes = Array("serve: \(text)\n".utf8)
  _ = write(STDERR_FILENO, bytes, bytes.count)
}
