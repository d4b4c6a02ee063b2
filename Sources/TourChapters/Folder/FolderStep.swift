// Purpose: the changes of the watched folder, each by a real command, with the expected events.

/// One shell command, and the events that it must cause, by watched name.
struct FolderStep {
  /// The argument of `sh -c`, which runs in the folder.
  let command: String
  let events: [String: FileEvents]
  /// The name in the folder to open and watch again after the step.
  var watchNext: String?

  /// All steps in order. `folder` names the folder itself; other names are those under which a file
  /// was opened. No step expects an event that the step before may still cause at the same name.
  static let all: [FolderStep] = [
    FolderStep(
      command: "printf 'first\\n' > notes", events: ["folder": .write], watchNext: "notes"),
    FolderStep(command: "printf 'second\\n' >> notes", events: ["notes": [.write, .extend]]),
    FolderStep(command: "chmod 600 notes", events: ["notes": .attrib]),
    FolderStep(command: "cp notes copy", events: ["folder": .write], watchNext: "copy"),
    FolderStep(command: "mv copy moved", events: ["copy": .rename]),
    FolderStep(command: "ln notes second", events: ["notes": .link, "folder": .write]),
    FolderStep(command: "mkdir inner", events: ["folder": [.write, .link]], watchNext: "inner"),
    FolderStep(command: "mv moved inner/", events: ["copy": .rename, "inner": .write]),
    FolderStep(command: "rm inner/moved", events: ["copy": .delete]),
    FolderStep(command: "rmdir inner", events: ["inner": .delete, "folder": .link]),
    FolderStep(command: "rm second", events: ["notes": .link]),
    // Editors save this way: the watched file loses its name to a new file.
    FolderStep(
      command: "printf 'saved\\n' > .notes.new && mv .notes.new notes",
      events: ["notes": .delete, "folder": .write], watchNext: "notes"),
    FolderStep(command: "printf 'more\\n' >> notes", events: ["notes": [.write, .extend]]),
    FolderStep(command: "touch notes", events: ["notes": .attrib]),
    FolderStep(command: ": > notes", events: ["notes": .write]),
    FolderStep(command: "rm notes", events: ["notes": .delete, "folder": .write]),
    FolderStep(command: "cd .. && rmdir \"$OLDPWD\"", events: ["folder": .delete]),
  ]
}
