// Purpose: numbers as people read them.

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

  /// A number of things: "1 file", "12,345 files".
  public static func count(_ number: some BinaryInteger, _ thing: String) -> String {
    count(number) + " " + thing + (number == 1 ? "" : "s")
  }

  /// Decimal places without Foundation: 1.500.
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

  /// Seconds with three places, or more of them below a hundredth.
  public static func seconds(_ value: Double) -> String {
    decimal(value, places: value < 0.01 ? 5 : 3) + " s"
  }

  /// Milliseconds with two places.
  public static func milliseconds(_ nanoseconds: UInt64) -> String {
    decimal(Double(nanoseconds) / 1e6, places: 2) + " ms"
  }

  /// A time in the unit that suits it, with three digits: 850 ns, 12.3 µs, 1.23 ms, 1.23 s.
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

  /// Bytes in decimal units, as file managers and disks count them.
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
