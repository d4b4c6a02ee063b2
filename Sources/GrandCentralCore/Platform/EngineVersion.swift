// Room: Platform/EngineVersion. The version of the package. The file VERSION has it for the
// scripts; tidy compares the two.

package enum EngineVersion {
  package static var text: String { "0.1.0" }
}
