// The frame of the program: the command line, the list of chapters, and what a chapter may use.

import Glibc
import GrandCentral

/// A part of the tour: a program of a page, which checks its own result.
struct Chapter: Sendable {
  let name: String
  let summary: String
  let run: @Sendable (Tour) throws -> Void

  static let all: [Chapter] = [
    .checksums, .echo, .watch, .restart, .pipeline, .urgent, .actors, .deadlock,
    .hang,
  ]
}

/// One run of the program.
final class Tour: Sendable {
  /// The folder or file to work on: an absolute path.
  let path: String
  /// An empty folder for the chapters' files. The tour removes it at its end.
  let scratch: String
  /// Whether the chapters do as little work as shows what they are about.
  let isShort: Bool
  private let chapters: [Chapter]
  private let isRight = Guarded(true, label: "tour.isRight")

  static let help = """
    Usage: tour [--short] [PATH] [CHAPTER…]

    Runs Grand Central on real work, chapter by chapter, and checks every result.

      PATH      the folder or file to work on; by default the current folder
      CHAPTER   a chapter to run; by default all of them
      --list    lists the chapters
      --short   does less work in each chapter
      --help    prints this text

    Exit code: 0 if every result is right, 1 if one is wrong, 2 for a wrong command line, 130 after
    Ctrl-C.
    """

  /// Reads the command line. Returns nil if it only asks for a text, which is printed.
  init?(arguments: some Sequence<String>) throws(Failure) {
    var (path, isShort, chapters) = (String?.none, false, [Chapter]())
    for argument in arguments {
      switch argument {
      case "--help", "-h":
        print(Self.help)
        return nil
      case "--list":
        for chapter in Chapter.all { print(chapter.name.padded(to: 10), chapter.summary) }
        return nil
      case "--short": isShort = true
      case _ where argument.hasPrefix("-"):
        throw Failure("there is no option '\(argument)'. 'tour --help' lists the options.")
      default:
        if let chapter = Chapter.all.first(where: { $0.name == argument }) {
          chapters.append(chapter)
        } else if let path {
          throw Failure("'\(argument)' is no chapter, and PATH is '\(path)'. See 'tour --list'.")
        } else {
          path = argument
        }
      }
    }
    self.path = try absolutePath(path ?? ".")
    self.isShort = isShort
    self.chapters = chapters.isEmpty ? Chapter.all : chapters
    scratch = try makeTemporaryFolder()
  }

  /// Runs the chapters. Returns whether every result was right.
  func run() -> Bool {
    for chapter in chapters {
      print("\(chapter.name): \(chapter.summary)")
      do {
        try chapter.run(self)
      } catch {
        check(false, "the chapter ran to its end", "\(error)")
      }
      print()
    }
    let isRight = isRight.sync { $0 }
    print(isRight ? "Every result is right." : "Not every result is right: see 'WRONG' above.")
    return isRight
  }

  /// Ends the programs that the tour has started, and removes its files.
  func cleanUp() {
    Program.killAll()
    removeFolder(scratch)
  }

  // MARK: What a chapter prints

  /// Prints a line. Any thread may call it.
  func say(_ line: String) {
    print("  \(line)")
    fflush(nil)  // Into a pipe, too, each line is written at once.
  }

  /// Prints a row of a table.
  func row(_ name: String, _ cells: String...) {
    say(name.padded(to: 18) + cells.map { $0.padded(to: 14, isRight: true) }.joined())
  }

  /// Prints whether a result is right; if it is not, also `otherwise`, which says what was seen.
  func check(_ isRight: Bool, _ claim: String, _ otherwise: @autoclosure () -> String) {
    if isRight { return say("ok: \(claim)") }
    self.isRight.sync { $0 = false }
    say("WRONG: \(claim): \(otherwise())")
  }
}
