package import ArgumentParser

/// The commands of a terminal, for the program to register.
package enum TerminalCommands {
    /// In the order of the help.
    package static var all: [any ParsableCommand.Type] {
        [
            Watch.self, Join.self, Tracks.self, Vote.self, Unvote.self, Add.self, Queue.self, Play.self, Pause.self,
            Skip.self, Nearby.self, Create.self, SignIn.self, SignOut.self,
        ]
    }

    /// The arguments with a minus sign (U+2212) in place of the hyphen of negative numbers.
    ///
    /// The parser takes `-13.4` for options. Only arguments that are degrees are looked at.
    package static func prepared(_ arguments: [String]) -> [String] {
        guard let command = arguments.first, ["nearby", "create"].contains(command) else { return arguments }
        return arguments.indices.map { place in
            let argument = arguments[place]
            let isDegrees = command == "nearby" || arguments[max(0, place - 1)] == "--at"
            guard isDegrees, argument.hasPrefix("-"), let next = argument.utf8.dropFirst().first,
                (0x30...0x39).contains(next) || next == 0x2E
            else { return argument }
            return "\u{2212}" + argument.dropFirst()
        }
    }
}
