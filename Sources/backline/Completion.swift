import ArgumentParser

/// `backline completion`: what a shell needs to complete commands, options and rooms.
struct Completion: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completion",
        abstract: "Print the script with which a shell completes this program's command lines.",
        discussion: """
            Load it where the shell starts:

              bash  in ~/.bashrc:   source <(backline completion bash)
              zsh   once:           backline completion zsh > "${fpath[1]}/_backline"
              fish  once:           backline completion fish > ~/.config/fish/completions/backline.fish

            Codes of rooms are completed from those that were used last; no server is asked.
            """)

    enum Shell: String, ExpressibleByArgument, CaseIterable {
        case bash, zsh, fish
    }

    @Argument(help: "bash, zsh or fish.")
    var shell: Shell

    func run() {
        let completed: CompletionShell =
            switch shell {
            case .bash: .bash
            case .zsh: .zsh
            case .fish: .fish
            }
        Console.print(Backline.completionScript(for: completed))
    }
}
