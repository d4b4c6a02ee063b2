// What a board shows, for all files of this module and for its users.
@_exported import GrandCentralBoard
