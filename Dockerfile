# Sheaf as an image: built from source, then one file in a small runtime that runs as nobody in particular.
#
#   docker build -t sheaf .
#   docker run --rm --read-only --tmpfs /tmp --network host -v sheaf-data:/data sheaf
#
# Today's only mode is the local one: one person, on the machine that Sheaf runs on. It listens on loopback and refuses any other
# address, so `-p 7432:7432` reaches nothing and `--network host` (Linux) is the way in. The log shows the address to open. A mode
# with users and TLS, for which a container is the usual home, is still to come; nothing here pretends to be it.

FROM node:20-bookworm-slim AS node

FROM rust:1.95-slim-bookworm AS build
COPY --from=node /usr/local/bin/node /usr/local/bin/node
COPY --from=node /usr/local/lib/node_modules/npm /usr/local/lib/node_modules/npm
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
WORKDIR /src
COPY . .
RUN cargo xtask dist

FROM debian:bookworm-slim
RUN useradd --system --uid 10001 --home-dir /data --no-create-home sheaf && install -d -o sheaf -g sheaf -m 0700 /data
COPY --from=build /src/dist/sheaf /src/dist/libduckdb.s[o] /usr/local/bin/
USER 10001
VOLUME /data
ENTRYPOINT ["sheaf"]
CMD ["serve", "--listen", "127.0.0.1:7432", "--data", "/data", "--no-open"]
