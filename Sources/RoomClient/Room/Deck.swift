/// placeholder
@MainActor public final class Deck {
    func roomHasChanged() {}
    func ended(_ error: ClientError) {}
}
