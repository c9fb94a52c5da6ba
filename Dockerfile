# syntax=docker/dockerfile:1
# Both programs in one small image. compose.yaml says which one runs.

FROM rust:1.95-slim-bookworm AS build
WORKDIR /src
COPY . .
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/src/target \
    cargo build --release --locked --package hookledger-ingest --package hookledger-worker \
    && mkdir /out \
    && cp target/release/hookledger-ingest target/release/hookledger-worker /out/

FROM debian:bookworm-slim
# Sinks are called over TLS, verified against the system's certificates.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /out/ /usr/local/bin/
# Nobody's user: the programs write no files and need no privilege.
USER 10001:10001
# ./hookledger.toml is looked for here, unless HOOKLEDGER_CONFIG names another.
WORKDIR /etc/hookledger
# Both finish or give back what they hold; ingest needs up to 26 s for it, the worker up to 22.
STOPSIGNAL SIGTERM
# Webhooks, ingest's health and metrics, the worker's health, metrics and API.
EXPOSE 8080 8081 9090
CMD ["hookledger-ingest"]
