// Purpose: the changes that the folder's chapter makes, each by a real command, and what has to be
// told of it.

/// One command of the shell, and which events it is to cause at what is watched.
struct FolderStep {
  /// For `sh -c`, in the folder.
  let command: String
  let events: [String: FileEvents]
  /// What is watched anew afterwards: a name in the folder.
  var watchNext: String?

  /// `folder` is the folder itself; everything else is watched under the name that it was opened
  /// by. No step expects of anybody what the one before it may still be telling.
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
    // As editors save: what was open under the name is gone, and the name is another file's.
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
