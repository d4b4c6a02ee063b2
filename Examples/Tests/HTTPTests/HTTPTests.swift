// The server in a process of its own, driven by curl and by the load generator.

import Glibc
import Testing

/// Runs a shell command to its end. The program 'http' is in $HTTP.
private func run(_ command: String) -> (output: String, code: Int32) {
  let own = String(cString: realpath("/proc/self/exe", nil))
  let folder = own.prefix(through: own.lastIndex(of: "/") ?? own.startIndex)
  guard let stream = popen("HTTP='\(folder)http'; \(command)", "r") else { return ("", -1) }
  var bytes: [UInt8] = []
  while case let byte = fgetc(stream), byte != EOF { bytes.append(UInt8(byte)) }
  return (String(decoding: bytes, as: UTF8.self), pclose(stream) >> 8 & 0xFF)
}

/// A server for the length of a shell command: $URL and $PORT are its address, $SERVER its process,
/// and descriptor 3 what it prints. Returns its exit code after SIGTERM, which the command may send
/// itself, with STOPPED=1.
private func serving(_ command: String) -> (output: String, code: Int32) {
  run(
    """
    D=$(mktemp -d); trap 'rm -r "$D"' EXIT; mkfifo "$D/said"
    "$HTTP" serve >"$D/said" & SERVER=$!; exec 3<"$D/said"
    read -r _ _ _ _ URL _ <&3; PORT=${URL##*:}; PORT=${PORT%/}
    \(command)
    [ -n "$STOPPED" ] || kill -TERM $SERVER
    wait $SERVER
    """)
}

@Suite("The HTTP server", .timeLimit(.minutes(30))) struct HTTPTests {
  @Test(
    arguments: [
      ("$URL", "Hello from a queue.\n200"),
      ("-I -o /dev/null $URL", "200"),
      ("--data-binary 'a body' ${URL}echo", "a body200"),
      ("-H 'Transfer-Encoding: chunked' --data-binary 'a body' ${URL}echo", "a body200"),
      ("--data-binary 'ab' ${URL}sum", "195\n200"),
      ("--http1.0 $URL", "Hello from a queue.\n200"),
      ("${URL}nothing", "There is no /nothing.\n404"),
      ("${URL}lines/3", "line 1\nline 2\nline 3\n200"),
      ("${URL}lines/0", "200"),
      ("--http1.0 ${URL}lines/2", "line 1\nline 2\n200"),
      ("-I -o /dev/null ${URL}lines/2", "200"),
      ("${URL}lines/-1", "There is no /lines/-1.\n404"),
      ("-X DELETE $URL", "DELETE is not for /.\n405"),
      ("-H 'Content-Length: x' $URL", "Content-Length must be a number.\n400"),
      ("-H 'Host;' -H 'Content-Length: -1' $URL", "Content-Length must be a number.\n400"),
    ])
  func `answers curl`(_ arguments: String, _ expected: String) {
    let (output, code) = serving("curl -s -w '%{http_code}' \(arguments)")
    #expect(output == expected)
    #expect(code == 0, "SIGTERM did not stop the server")
  }

  @Test func `keeps a connection for several requests, also behind an answer in chunks`() {
    let (output, _) = serving(
      """
      curl -s -w '%{num_connects} ' -o /dev/null $URL -o /dev/null ${URL}lines/1000 -o /dev/null $URL
      """)
    #expect(output == "1 0 0 ")
  }

  @Test func `sends an answer while it is made`() {
    let (output, code) = serving(
      """
      curl -sN ${URL}ticks >"$D/ticks" & CURL=$!
      until [ "$(wc -l <"$D/ticks")" -ge 3 ]; do sleep 0.02; done
      kill $CURL
      head -n 1 "$D/ticks" | cut -d, -f1
      """)
    #expect(output == "tick\n")
    // The answer ends without a stop at once: its client has left.
    #expect(code == 0)
  }

  @Test func `makes an answer no faster than its client takes it`() throws {
    let (output, code) = serving(
      """
      # 4 MiB are read, and then nothing. The answer has a thousand: it stands still when the
      # buffers on its way are full.
      curl -sN ${URL}lines/100000000 | {
        head -c 4194304 >/dev/null
        BEFORE=-1; SAME=0
        until [ $SAME -ge 10 ]; do
          NOW=$(curl -s ${URL}written)
          [ "$NOW" = "$BEFORE" ] && SAME=$((SAME + 1)) || SAME=0
          BEFORE=$NOW
          sleep 0.02
        done
        echo $NOW
        sed -n 's/^VmHWM:[^0-9]*\\([0-9]*\\).*/\\1/p' /proc/$SERVER/status
      }
      """)
    let numbers = output.split(separator: "\n").compactMap { Int($0) }
    try #require(numbers.count == 2, "\(output)")
    // 4 MiB of lines of 6 to 15 bytes were read. The kernel holds up to 10 MiB more.
    #expect((280_000...2_500_000).contains(numbers[0]), "\(numbers[0]) lines")
    #expect(numbers[1] < 64 << 10, "\(numbers[1]) KiB")
    #expect(code == 0)
  }

  @Test func `cuts an answer off that has no end when it is stopped twice`() {
    let (output, code) = serving(
      """
      curl -sN -w '%{exitcode}' ${URL}ticks >"$D/ticks" 2>/dev/null & CURL=$!
      until [ -s "$D/ticks" ]; do sleep 0.02; done
      kill -TERM $SERVER
      # The answer continues.
      BEFORE=$(wc -l <"$D/ticks")
      until [ "$(wc -l <"$D/ticks")" -gt $((BEFORE + 2)) ]; do sleep 0.02; done
      kill -TERM $SERVER; kill -TERM $SERVER; STOPPED=1
      wait $CURL; echo "curl ended with $?"
      """)
    // curl(1): 18 is a partial file.
    #expect(output == "curl ended with 18\n")
    #expect(code == 0, "SIGTERM killed the server")
  }

  @Test func `refuses a body or head that is too long`() {
    let long = "head -c 2000000 /dev/zero | curl -s -o /dev/null -w '%{http_code} ' "
    let (output, code) = serving(
      """
      \(long) --data-binary @- ${URL}echo
      \(long) -H 'Transfer-Encoding: chunked' --data-binary @- ${URL}echo
      curl -s -o /dev/null -w '%{http_code} ' -H "X: $(head -c 20000 /dev/zero | tr '\\0' x)" $URL
      """)
    #expect(output == "413 413 431 ")
    #expect(code == 0)
  }

  @Test func `finishes an answer that has begun when it is stopped`() {
    let (output, code) = serving(
      """
      curl -s ${URL}slow & CURL=$!
      read -r _ <&3
      kill -TERM $SERVER; STOPPED=1; wait $CURL
      """)
    #expect(output == "At last.\n")
    #expect(code == 0)
  }

  @Test func `answers every request of the load generator`() {
    let (output, code) = serving("\"$HTTP\" load $PORT 20 50")
    #expect(output.hasPrefix("1000 of 1000 right"))
    #expect(code == 0)
  }
}
