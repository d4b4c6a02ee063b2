// Purpose: names the live chapters, and encodes the request for one. The tour starts itself again
// with these arguments, which are internal and not in the help.

import TourKit

/// A part of the tour that is driven by outside events: bytes arrive, files change, processes end.
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
  /// The PATH argument of the tour.
  public let root: Path
  public let isPlain: Bool
  /// The length of the pipeline's file, in megabytes (10⁶ bytes).
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

  /// Parses the arguments of a chapter's process; nil if they are not of that form.
  public init?(arguments: [Path]) {
    guard arguments.count == 5, arguments[0].description == Self.mark,
      let chapter = LiveChapter(rawValue: arguments[1].description),
      let isPlain = Bool(arguments[2].description), let megabytes = Int(arguments[3].description)
    else { return nil }
    self.init(chapter: chapter, root: arguments[4], isPlain: isPlain, megabytes: megabytes)
  }
}
