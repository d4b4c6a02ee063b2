// What the examples in the comments of public declarations use: the parts of a program around them.
// scripts/dev snippets compiles the examples with this file.
import Glibc
import GrandCentral

let library = "library"
let pages = [1, 2, 3]
let rows = [1, 2, 3]
let header = DispatchData.empty
let body = DispatchData.empty
let data = DispatchData.empty
let socket: Int32 = 0
let listening: Int32 = 0
let child: Int32 = 0
let queue = DispatchQueue(label: "com.example.queue")
let database = DispatchQueue(label: "com.example.database")
let parser = Parser()
let server = Server()

struct Parser: Sendable { func feed(_ data: DispatchData) {} }
struct Server: Sendable { func stop() {} }

func index(_ library: String) {}
func showResults() {}
func render(_ page: Int) {}
func show(_ pages: [Int]) {}
func send(_ bytes: UnsafeBufferPointer<UInt8>) {}
func serve(_ client: Int32) {}
func importAll() async {}
func answer(to line: String) -> DispatchData { .empty }
