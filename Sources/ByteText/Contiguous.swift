// Arrays and strings have a `span` on Linux, and on Apple's platforms from version 26 of their systems on. A
// `ContiguousArray` has one everywhere.

extension [UInt8] {
    #if canImport(Darwin)
        /// The same bytes, for their `span`; they are not copied, unless the array came from Objective-C.
        package var contiguous: ContiguousArray<UInt8> { ContiguousArray(self) }
    #else
        /// The same bytes, for their `span`.
        @inlinable package var contiguous: [UInt8] { self }
    #endif
}

extension String.UTF8View {
    #if canImport(Darwin)
        /// A copy of the bytes, for its `span`.
        package var contiguous: ContiguousArray<UInt8> { ContiguousArray(self) }
    #else
        /// The same bytes, for their `span`.
        @inlinable package var contiguous: String.UTF8View { self }
    #endif
}
