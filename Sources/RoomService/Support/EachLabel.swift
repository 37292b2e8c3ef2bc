/// Makes one metric for each value that a label may have.
func eachLabel<Kind, Metric>(_ make: (String) -> Metric) -> [Kind: Metric]
where Kind: CaseIterable & Hashable & RawRepresentable<String> {
    Dictionary(uniqueKeysWithValues: Kind.allCases.map { ($0, make($0.rawValue)) })
}
