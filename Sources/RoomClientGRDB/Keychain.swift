// Built on Apple's platforms only, where nothing of this project is tested.
#if canImport(Security)
    import Foundation
    import Security

    /// The tokens of stores in the Keychain, as generic passwords of this device.
    ///
    /// A token can be read after the device was first unlocked, so that an app may connect in the background. It does not
    /// go to other devices, neither through iCloud nor through a backup.
    struct Keychain: TokenVault {
        private static let service = "Backline.RoomClient"

        func keep(_ token: String, under name: String) throws(StoreFault) -> Bool {
            let values: [String: Any] = [
                kSecValueData as String: Data(token.utf8),
                kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            ]
            // Changed where it exists: between a deletion and an addition there would be none.
            var status = SecItemUpdate(Self.item(name) as CFDictionary, values as CFDictionary)
            if status == errSecItemNotFound {
                status = SecItemAdd(Self.item(name).merging(values) { $1 } as CFDictionary, nil)
            }
            // A program for macOS without an entitlement has no Keychain of its own.
            if status == errSecMissingEntitlement { return false }
            guard status == errSecSuccess else { throw Self.fault("the token cannot be kept", status) }
            return true
        }

        func token(under name: String) throws(StoreFault) -> String? {
            var query = Self.item(name)
            query[kSecReturnData as String] = true
            query[kSecMatchLimit as String] = kSecMatchLimitOne
            var result: CFTypeRef?
            // The call fills the reference before it returns.
            let status = unsafe SecItemCopyMatching(query as CFDictionary, &result)
            if status == errSecItemNotFound { return nil }
            guard status == errSecSuccess, let data = result as? Data else {
                throw Self.fault("the token cannot be read", status)
            }
            return String(decoding: data, as: UTF8.self)
        }

        func forget(_ name: String) throws(StoreFault) {
            let status = SecItemDelete(Self.item(name) as CFDictionary)
            guard [errSecSuccess, errSecItemNotFound, errSecMissingEntitlement].contains(status) else {
                throw Self.fault("the token cannot be forgotten", status)
            }
        }

        private static func item(_ name: String) -> [String: Any] {
            [
                kSecClass as String: kSecClassGenericPassword,
                kSecAttrService as String: service,
                kSecAttrAccount as String: name,
                // On macOS too, where other programs could ask for items of the older kind.
                kSecUseDataProtectionKeychain as String: true,
            ]
        }

        private static func fault(_ what: String, _ status: OSStatus) -> StoreFault {
            let text = SecCopyErrorMessageString(status, nil) as String? ?? "unknown error"
            return StoreFault(.unreachable, "\(what) in the Keychain: \(text) (\(status))")
        }
    }
#endif
