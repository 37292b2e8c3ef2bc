/// Where the token is, if not in the store's file.
protocol TokenVault: Sendable {
    /// Keeps a token under a name, in place of an earlier one; false if the program may not use the vault.
    func keep(_ token: String, under name: String) throws(StoreFault) -> Bool
    /// The token of a name; nil if there is none.
    func token(under name: String) throws(StoreFault) -> String?
    /// Forgets the token of a name, if there is one.
    func forget(_ name: String) throws(StoreFault)
}

extension DatabaseStore {
    /// The Keychain on Apple's platforms; none elsewhere, where the token is in the file.
    static var systemVault: (any TokenVault)? {
        #if canImport(Security)
            Keychain()
        #else
            nil
        #endif
    }
}
