// Purpose: the live chapters by name, and how the tour asks for one: it starts itself again with
// these arguments. They are not for users, and not in the help.

import TourKit

/// A part of the tour in which things happen from outside: bytes come, files change, processes end.
public enum LiveChapter: String, CaseIterable, Sendable {
  case echo
  case folder
  case child
  case pipeline
  case copy
  case classes

  public var title: String {
    switch self {
    case .echo: "An echo server on loopback: read, write and timer sources"
    case .folder: "A folder under watch: file-system sources"
    case .child: "A child under supervision: process, signal and timer sources"
    case .pipeline: "A pipeline over a long file: channel, transliteration, channel"
    case .copy: "A folder copied: many channels at a time"
    case .classes: "Requests beside a scan, and inversions: quality of service"
    }
  }
}

public struct ChapterRequest: Sendable {
  public let chapter: LiveChapter
  /// What the tour was given.
  public let root: Path
  public let isPlain: Bool
  /// How long the pipeline's file is, in millions of bytes.
  public let megabytes: Int

  public init(chapter: LiveChapter, root: Path, isPlain: Bool, megabytes: Int) {
    self.chapter = chapter
    self.root = root
    self.isPlain = isPlain
    self.megabytes = megabytes
  }

  private static let mark = "--chapter-process"

  /// The arguments for the chapter's process, in the order that `init(arguments:)` reads them.
  public var arguments: [Path] {
    [Self.mark, chapter.rawValue, "\(isPlain)", "\(megabytes)"].map { Path($0) } + [root]
  }

  /// Reads the arguments of a chapter's process; nil when these are not such.
  public init?(arguments: [Path]) {
    guard arguments.count == 5, arguments[0].description == Self.mark,
      let chapter = LiveChapter(rawValue: arguments[1].description),
      let isPlain = Bool(arguments[2].description), let megabytes = Int(arguments[3].description)
    else { return nil }
    self.init(chapter: chapter, root: arguments[4], isPlain: isPlain, megabytes: megabytes)
  }
}
