// Runs the models: see scripts/model.sh.

let command = Command(CommandLine.arguments.dropFirst())
exit(command.run() ? 0 : 1)
