-- Saved connections, without their secrets: those stay in memory until there is a vault.
CREATE TABLE connection (
    id         TEXT    NOT NULL PRIMARY KEY,
    name       TEXT    NOT NULL,
    engine     TEXT    NOT NULL,
    path       TEXT,
    host       TEXT,
    port       INTEGER CHECK (port BETWEEN 1 AND 65535),
    database   TEXT,
    user       TEXT,
    tls_mode   TEXT,
    tls_ca     TEXT,
    read_only  INTEGER NOT NULL CHECK (read_only IN (0, 1)),
    color      INTEGER CHECK (color BETWEEN 0 AND 7),
    created_at INTEGER NOT NULL
) STRICT;

-- Signed-in browsers, by the SHA-256 of their bearers. Times are seconds since 1970.
CREATE TABLE sign_in (
    bearer_sha256 BLOB    NOT NULL PRIMARY KEY CHECK (length(bearer_sha256) = 32),
    created_at    INTEGER NOT NULL,
    used_at       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
