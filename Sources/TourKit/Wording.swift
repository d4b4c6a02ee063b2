// Purpose: formats numbers for people.

public enum Wording {
  /// A whole number with commas: 12,345.
  public static func count(_ number: some BinaryInteger) -> String {
    var text = ""
    for (index, digit) in String(number).reversed().enumerated() {
      if index > 0 && index.isMultiple(of: 3) && digit != "-" { text.append(",") }
      text.append(digit)
    }
    return String(text.reversed())
  }

  /// A count with its noun: "1 file", "12,345 files".
  public static func count(_ number: some BinaryInteger, _ thing: String) -> String {
    count(number) + " " + thing + (number == 1 ? "" : "s")
  }

  /// A decimal number, without Foundation: 1.500.
  public static func decimal(_ value: Double, places: Int) -> String {
    guard value.isFinite, abs(value) < 1e12 else { return "\(value)" }
    let scale = (0..<places).reduce(1) { power, _ in power * 10 }
    let scaled = Int((value * Double(scale)).rounded())
    let sign = scaled < 0 ? "-" : ""
    let (whole, fraction) = scaled.magnitude.quotientAndRemainder(dividingBy: UInt(scale))
    if places == 0 { return sign + String(whole) }
    let digits = String(fraction)
    return sign + String(whole) + "." + String(repeating: "0", count: places - digits.count)
      + digits
  }

  /// A duration in seconds with three decimal places, or five below 0.01 s.
  public static func seconds(_ value: Double) -> String {
    decimal(value, places: value < 0.01 ? 5 : 3) + " s"
  }

  /// A duration in milliseconds with two decimal places.
  public static func milliseconds(_ nanoseconds: UInt64) -> String {
    decimal(Double(nanoseconds) / 1e6, places: 2) + " ms"
  }

  /// A duration in a suitable unit, with three digits: 850 ns, 12.3 µs, 1.23 ms, 1.23 s.
  public static func duration(_ nanoseconds: UInt64) -> String {
    var value = Double(nanoseconds)
    for unit in ["ns", "µs", "ms"] {
      if value < 999.5 {
        let places = unit == "ns" || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2
        return decimal(value, places: places) + " " + unit
      }
      value /= 1000
    }
    return decimal(value, places: 2) + " s"
  }

  /// A size in decimal units, as file managers print it.
  public static func bytes(_ count: some BinaryInteger) -> String {
    bytes(Double(count))
  }

  public static func bytes(_ count: Double) -> String {
    var value = count
    for unit in ["B", "kB", "MB", "GB"] {
      if value < 999.5 {
        return decimal(value, places: unit == "B" || value >= 99.95 ? 0 : 1) + " " + unit
      }
      value /= 1000
    }
    return decimal(value, places: 1) + " TB"
  }

  public static func left(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  public static func right(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }
}
