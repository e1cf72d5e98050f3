-- Fennimoor, a shop that does not exist. Money is in integer cents: SQLite has no decimal type, and a REAL would not be exact.

CREATE TABLE countries (
    code        TEXT PRIMARY KEY CHECK (length(code) = 2),
    name        TEXT NOT NULL,
    local_name  TEXT NOT NULL,
    currency    TEXT NOT NULL CHECK (length(currency) = 3),
    vat_percent REAL
) WITHOUT ROWID;

CREATE TABLE languages (
    code          TEXT PRIMARY KEY,
    name          TEXT NOT NULL,
    own_name      TEXT NOT NULL,
    script        TEXT NOT NULL,
    right_to_left BOOLEAN NOT NULL DEFAULT 0
) WITHOUT ROWID;

CREATE TABLE suppliers (
    id           INTEGER PRIMARY KEY,
    name         TEXT NOT NULL UNIQUE,
    country_code TEXT NOT NULL REFERENCES countries,
    contact      JSON,
    since        DATE NOT NULL,
    rating       REAL
);

CREATE TABLE categories (
    id        INTEGER PRIMARY KEY,
    parent_id INTEGER REFERENCES categories (id),
    name      TEXT NOT NULL,
    slug      TEXT NOT NULL UNIQUE
);

CREATE TABLE products (
    id              INTEGER PRIMARY KEY,
    sku             TEXT NOT NULL UNIQUE,
    name            TEXT NOT NULL,
    category_id     INTEGER NOT NULL REFERENCES categories (id),
    supplier_id     INTEGER NOT NULL REFERENCES suppliers (id),
    price_cents     INTEGER NOT NULL CHECK (price_cents > 0),
    price           TEXT GENERATED ALWAYS AS (printf('%d.%02d', price_cents / 100, price_cents % 100)) VIRTUAL,
    weight_grams    INTEGER,
    attributes      JSON,
    picture         BLOB,
    added_on        DATE NOT NULL,
    discontinued_on DATE
);

CREATE TABLE product_translations (
    product_id    INTEGER NOT NULL REFERENCES products (id) ON DELETE CASCADE,
    language_code TEXT NOT NULL REFERENCES languages (code),
    name          TEXT NOT NULL,
    description   TEXT,
    PRIMARY KEY (product_id, language_code)
) WITHOUT ROWID;

CREATE TABLE warehouses (
    id           INTEGER PRIMARY KEY,
    name         TEXT NOT NULL UNIQUE,
    country_code TEXT NOT NULL REFERENCES countries,
    latitude     REAL NOT NULL,
    longitude    REAL NOT NULL
);

CREATE TABLE stock (
    warehouse_id  INTEGER NOT NULL REFERENCES warehouses (id),
    product_id    INTEGER NOT NULL REFERENCES products (id) ON DELETE CASCADE,
    quantity      INTEGER NOT NULL DEFAULT 0,
    reorder_level INTEGER,
    counted_on    DATE,
    PRIMARY KEY (warehouse_id, product_id)
) WITHOUT ROWID;

CREATE TABLE employees (
    id           INTEGER PRIMARY KEY,
    manager_id   INTEGER REFERENCES employees (id),
    warehouse_id INTEGER REFERENCES warehouses (id),
    name         TEXT NOT NULL,
    title        TEXT NOT NULL,
    hired_on     DATE NOT NULL,
    left_on      DATE,
    salary_cents INTEGER NOT NULL,
    badge        BLOB
);

CREATE TABLE customers (
    id                 INTEGER PRIMARY KEY,
    email              TEXT NOT NULL UNIQUE,
    name               TEXT NOT NULL,
    country_code       TEXT NOT NULL REFERENCES countries,
    language_code      TEXT REFERENCES languages (code),
    born_on            DATE,
    joined_at          TIMESTAMP NOT NULL,
    newsletter         BOOLEAN NOT NULL DEFAULT 0,
    credit_limit_cents INTEGER,
    preferences        JSON
);

CREATE TABLE addresses (
    id           INTEGER PRIMARY KEY,
    customer_id  INTEGER NOT NULL REFERENCES customers (id) ON DELETE CASCADE,
    kind         TEXT NOT NULL CHECK (kind IN ('home', 'work', 'other')),
    street       TEXT NOT NULL,
    postcode     TEXT,
    city         TEXT NOT NULL,
    country_code TEXT NOT NULL REFERENCES countries
);

CREATE TABLE orders (
    id          INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL REFERENCES customers (id),
    address_id  INTEGER NOT NULL REFERENCES addresses (id),
    employee_id INTEGER REFERENCES employees (id),
    status      TEXT NOT NULL CHECK (status IN ('new', 'paid', 'shipped', 'delivered', 'returned', 'cancelled')),
    ordered_at  TIMESTAMP NOT NULL,
    shipped_at  TIMESTAMP,
    note        TEXT
);

CREATE TABLE order_lines (
    order_id         INTEGER NOT NULL REFERENCES orders (id) ON DELETE CASCADE,
    line_no          INTEGER NOT NULL,
    product_id       INTEGER NOT NULL REFERENCES products (id),
    quantity         INTEGER NOT NULL CHECK (quantity > 0),
    unit_price_cents INTEGER NOT NULL,
    discount_percent REAL NOT NULL DEFAULT 0.0,
    PRIMARY KEY (order_id, line_no)
) WITHOUT ROWID;

CREATE TABLE payments (
    id           INTEGER PRIMARY KEY,
    order_id     INTEGER NOT NULL REFERENCES orders (id),
    method       TEXT NOT NULL CHECK (method IN ('card', 'transfer', 'voucher', 'cash')),
    amount_cents INTEGER NOT NULL,
    paid_at      TIMESTAMP NOT NULL,
    reference    TEXT
);

CREATE TABLE reviews (
    id          INTEGER PRIMARY KEY,
    product_id  INTEGER NOT NULL REFERENCES products (id) ON DELETE CASCADE,
    customer_id INTEGER NOT NULL REFERENCES customers (id),
    rating      INTEGER NOT NULL CHECK (rating BETWEEN 1 AND 5),
    body        TEXT,
    written_at  TIMESTAMP NOT NULL
);

CREATE TABLE price_changes (
    id         INTEGER PRIMARY KEY,
    product_id INTEGER NOT NULL REFERENCES products (id) ON DELETE CASCADE,
    old_cents  INTEGER NOT NULL,
    new_cents  INTEGER NOT NULL,
    changed_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP
);

-- A column of any type: each value keeps its own.
CREATE TABLE settings (
    name  TEXT PRIMARY KEY,
    value ANY
) STRICT, WITHOUT ROWID;

CREATE TABLE page_views (
    id          INTEGER PRIMARY KEY,
    viewed_at   TIMESTAMP NOT NULL,
    visitor     TEXT NOT NULL,
    customer_id INTEGER REFERENCES customers (id),
    product_id  INTEGER REFERENCES products (id),
    path        TEXT NOT NULL,
    device      TEXT,
    duration_ms INTEGER NOT NULL,
    scrolled    REAL
);
