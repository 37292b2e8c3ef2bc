package import CoreMetrics

extension PrometheusRegistry: MetricsFactory {
    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        guard case .counter(let series) = series(.counter, label, dimensions) else {
            return NOOPMetricsHandler.instance
        }
        return series
    }

    package func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        guard case .floatingPointCounter(let series) = series(.floatingPointCounter, label, dimensions) else {
            return NOOPMetricsHandler.instance
        }
        return series
    }

    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        guard case .gauge(let series) = series(.gauge, label, dimensions) else { return NOOPMetricsHandler.instance }
        return series
    }

    package func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        switch series(aggregate ? .sizes : .gauge, label, dimensions) {
        case .gauge(let series): series
        case .histogram(let series): series
        case .counter, .floatingPointCounter, nil: NOOPMetricsHandler.instance
        }
    }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        guard case .histogram(let series) = series(.times, label, dimensions) else {
            return NOOPMetricsHandler.instance
        }
        return series
    }

    // Several objects may share a series, and only one of them is destroyed: all series stay.
    package func destroyCounter(_ handler: any CounterHandler) {}
    package func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    package func destroyMeter(_ handler: any MeterHandler) {}
    package func destroyRecorder(_ handler: any RecorderHandler) {}
    package func destroyTimer(_ handler: any TimerHandler) {}
}
