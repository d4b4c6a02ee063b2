// The version of the package. The file VERSION has it for the scripts; tidy compares the two.
let version = "0.1.0"
