FROM swift:6.3-bookworm AS build
RUN apt-get update \
 && apt-get install -y --no-install-recommends libssl-dev libpq-dev libsqlite3-dev zlib1g-dev pkg-config \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
RUN --mount=type=cache,target=/src/.build \
    swift build -c release --product backline --static-swift-stdlib \
 && install -s "$(swift build -c release --static-swift-stdlib --show-bin-path)/backline" /usr/local/bin/backline

FROM debian:bookworm-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates curl openssl libssl3 libpq5 libsqlite3-0 libstdc++6 zlib1g \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --uid 10001 --user-group --home-dir /data --shell /usr/sbin/nologin backline \
 && install -d -o backline -g backline -m 0700 /data
COPY --from=build /usr/local/bin/backline /usr/local/bin/backline
USER backline
WORKDIR /data
# Holds the embedded store if no database is configured, and the development certificate if no other one is.
VOLUME /data
EXPOSE 8443
# Variables, so that those of whoever runs it take their place: a flag would win over them.
ENV BACKLINE_HOST=0.0.0.0 BACKLINE_DATA=/data
# Checks only that the process lives: first with TLS, and if that fails, without (--plain). The certificate is not
# verified. Set BACKLINE_PORT if the port is not 8443.
HEALTHCHECK --interval=5s --timeout=3s --start-period=30s --retries=3 \
    CMD ask() { curl --fail --silent --insecure --max-time 1 --output /dev/null "$1://127.0.0.1:$port/healthz"; }; \
        case "${BACKLINE_PORT:-x}" in *[!0-9]*) port=8443 ;; *) port=$BACKLINE_PORT ;; esac; \
        ask https || ask http
ENTRYPOINT ["backline"]
CMD ["serve"]
