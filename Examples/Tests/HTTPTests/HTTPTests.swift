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
/// and descriptor 3 what it prints. Returns its exit code after SIGTERM, which the
/// command may send itself: a second one would end the server at once.
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
      ("-X DELETE $URL", "DELETE is not for /.\n405"),
      ("-H 'Content-Length: x' $URL", "Content-Length must be a number.\n400"),
      ("-H 'Host;' -H 'Content-Length: -1' $URL", "Content-Length must be a number.\n400"),
    ])
  func `answers curl`(_ arguments: String, _ expected: String) {
    let (output, code) = serving("curl -s -w '%{http_code}' \(arguments)")
    #expect(output == expected)
    #expect(code == 0, "SIGTERM did not stop the server")
  }

  @Test func `keeps a connection for several requests`() {
    let (output, _) = serving("curl -s -w '%{num_connects} ' -o /dev/null $URL -o /dev/null $URL")
    #expect(output == "1 0 ")
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
