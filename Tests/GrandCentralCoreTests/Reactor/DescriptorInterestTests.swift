import Testing

@testable import GrandCentralCore

@Suite("The state word of a descriptor's entry") struct DescriptorInterestTests {
  typealias Word = DescriptorInterest

  static let all: [Word] =
    (UInt32(0)..<16).flatMap { low in
      [0, Readiness.readable.rawValue, Readiness.readHangUp.rawValue | 1, 0x201f].map {
        Word(rawValue: $0 << 16 | low)
      }
    }.filter(\.isValid)

  @Test func `has readiness and certainty only while it is notified`() {
    // Notified, sure or not, of four kinds of readiness; four other stages.
    #expect(Self.all.count == 12)
    #expect(!Word(rawValue: 5).isValid && !Word(rawValue: 1 << 4 | 2).isValid)
    for word in Self.all where word.stage != .notified {
      #expect(word.seen.isEmpty && !word.isSure)
    }
  }

  @Test(arguments: all) func `stays valid through every transition`(word: Word) {
    let next = [
      word.joined(), word.lost(), word.leaving(), word.doubted(),
      word.lookedAgain(seeing: .readable), word.answered(hasEnded: true),
      word.answered(hasEnded: false), word.grown(),
      word.notified(of: .readable, interest: .readable, isSure: true, isAlwaysReady: false),
    ]
    for case let next? in next { #expect(next.isValid, "\(word) → \(next)") }
    #expect(word.joined()?.stage == .waiting && word.leaving()?.stage == .left)
    #expect(word.lost()?.stage == .lost)
  }

  @Test(arguments: all) func `is answered and rechecked only while it is notified`(
    word: Word
  ) {
    let isNotified = word.stage == .notified
    #expect(word.answered(hasEnded: false)?.stage == (isNotified ? .waiting : nil))
    #expect(word.answered(hasEnded: true)?.stage == (isNotified ? .ended : nil))
    let again = word.lookedAgain(seeing: .writable)
    #expect(again?.seen == (isNotified ? .writable : nil))
    #expect(again?.isSure == (isNotified ? word.isSure : nil))
    let doubted = word.doubted()
    #expect((doubted == nil) == !word.isSure)
    if let doubted { #expect(!doubted.isSure && doubted.seen == word.seen) }
  }

  static let readiness: [(Readiness, Bool, Bool)] = [
    (.readable, true, true), (.readHangUp, true, false), ([.readable, .readHangUp], true, false),
    (.hangUp, true, false), (.error, true, false), (.writable, false, false),
  ]

  @Test(arguments: readiness)
  func `is notified of new readiness`(
    readiness: Readiness, wakesWaiting: Bool, wakesEnded: Bool
  ) {
    for word in Self.all {
      let isNew =
        switch word.stage {
        case .waiting: wakesWaiting
        case .ended: wakesEnded
        case .left, .notified, .lost: false
        }
      for isSure in [true, false] {
        let next = word.notified(
          of: readiness, interest: [.readable, .readHangUp], isSure: isSure, isAlwaysReady: false)
        #expect((next != nil) == isNew)
        if let next {
          #expect(next.stage == .notified && next.seen == readiness && next.isSure == isSure)
        }
      }
    }
  }

  @Test func `is notified after its end of bytes that another peer has left`() throws {
    let waiting = try #require(Word.left.joined())
    let gone: Readiness = [.readable, .hangUp]
    let ended =
      waiting
      .notified(of: .hangUp, interest: .readable, isSure: true, isAlwaysReady: false)?
      .answered(hasEnded: true)
    for hasBytes in [false, true] {
      let next = ended?.notified(
        of: gone, interest: .readable, isSure: true, isAlwaysReady: false, hasBytes: hasBytes)
      #expect((next != nil) == hasBytes)
    }
  }

  @Test func `ends until the file grows if the descriptor is always ready`() throws {
    let waiting = try #require(Word.left.joined())
    let ended =
      waiting
      .notified(of: .readable, interest: .readable, isSure: false, isAlwaysReady: true)?
      .answered(hasEnded: true)
    #expect(ended?.stage == .ended)
    #expect(
      ended?.notified(of: .readable, interest: .readable, isSure: false, isAlwaysReady: true) == nil
    )
    let grown = try #require(ended?.grown())
    #expect(grown.stage == .notified && grown.seen == .readable && !grown.isSure)
    for word in Self.all where word.stage != .ended { #expect(word.grown() == nil) }
  }
}
