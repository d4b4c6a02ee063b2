// Runs the models: see scripts/dev model.

let command = Command(CommandLine.arguments.dropFirst())
exit(command.run() ? 0 : 1)
