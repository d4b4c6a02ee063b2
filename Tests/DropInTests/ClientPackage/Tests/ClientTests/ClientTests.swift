import Client
import Testing
import XCTest

@Test func doubles() async {
  #expect(await doubled(21) == 42)
}

final class ClientCase: XCTestCase {
  func testDoubles() async {
    let answer = await doubled(21)
    XCTAssertEqual(answer, 42)
  }
}
