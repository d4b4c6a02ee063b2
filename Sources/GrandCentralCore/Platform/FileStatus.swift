// Room: Platform/FileStatus. The part of fstat(2) that file system sources compare.

struct FileStatus: Equatable, Sendable {
  var device: UInt64
  var inode: UInt64
  var isDirectory: Bool
  var links: UInt64
  var size: Int64
  /// Kind and permissions.
  var mode: UInt32
  var user: UInt32
  var group: UInt32
  var modified: Moment
  /// When anything of the file last changed, its inode included.
  var changed: Moment

  struct Moment: Equatable, Sendable {
    var seconds: Int
    var nanoseconds: Int
  }

  /// The file, whatever its name.
  struct Identity: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64
  }
  var identity: Identity { Identity(device: device, inode: inode) }

  func isSameFile(as other: FileStatus) -> Bool { identity == other.identity }

  enum Answer: Equatable {
    case status(FileStatus)
    /// EBADF: no such descriptor.
    case closed
    /// The file system does not answer, which NFS may do: fstat(2).
    case unknown
  }

  static func of(_ descriptor: Int32) -> Answer {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return errno == EBADF ? .closed : .unknown }
    return .status(
      FileStatus(
        device: UInt64(status.st_dev), inode: UInt64(status.st_ino),
        isDirectory: status.st_mode & S_IFMT == S_IFDIR, links: UInt64(status.st_nlink),
        size: Int64(status.st_size), mode: status.st_mode, user: status.st_uid,
        group: status.st_gid,
        modified: Moment(seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec),
        changed: Moment(seconds: status.st_ctim.tv_sec, nanoseconds: status.st_ctim.tv_nsec)))
  }
}
