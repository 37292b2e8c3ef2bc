/// The place that the page's files come from.
package enum WebSource: Sendable {
    /// There is no page.
    case none
    /// The files that were compiled into the program.
    case embedded
    /// A folder, read for each request: for those who change the page.
    case folder(WebFolder)
}
