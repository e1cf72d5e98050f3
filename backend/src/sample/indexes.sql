CREATE INDEX products_by_category ON products (category_id);
CREATE INDEX customers_by_country ON customers (country_code, joined_at);
CREATE INDEX addresses_by_customer ON addresses (customer_id);
CREATE INDEX orders_by_customer ON orders (customer_id, ordered_at);
CREATE INDEX orders_open ON orders (ordered_at) WHERE status IN ('new', 'paid');
CREATE INDEX order_lines_by_product ON order_lines (product_id);
CREATE INDEX payments_by_order ON payments (order_id);
CREATE INDEX reviews_by_product ON reviews (product_id, rating);
CREATE INDEX page_views_by_customer ON page_views (customer_id) WHERE customer_id IS NOT NULL;

CREATE VIEW order_totals AS
SELECT o.id AS order_id, o.customer_id, o.status, o.ordered_at, count(*) AS lines, sum(l.quantity) AS pieces,
       sum(CAST(round(l.quantity * l.unit_price_cents * (100 - l.discount_percent) / 100) AS INTEGER)) AS total_cents
FROM orders o JOIN order_lines l ON l.order_id = o.id
GROUP BY o.id;

CREATE VIEW best_sellers AS
SELECT p.id, p.name, c.name AS category, p.price, sum(l.quantity) AS sold,
       (SELECT round(avg(r.rating), 2) FROM reviews r WHERE r.product_id = p.id) AS rating
FROM products p JOIN categories c ON c.id = p.category_id JOIN order_lines l ON l.product_id = p.id
GROUP BY p.id
ORDER BY sold DESC, p.id;

CREATE VIEW low_stock AS
SELECT w.name AS warehouse, p.name AS product, s.quantity, s.reorder_level
FROM stock s JOIN warehouses w ON w.id = s.warehouse_id JOIN products p ON p.id = s.product_id
WHERE s.quantity < s.reorder_level;

CREATE TRIGGER products_keep_price_changes AFTER UPDATE OF price_cents ON products
WHEN old.price_cents <> new.price_cents
BEGIN
    INSERT INTO price_changes (product_id, old_cents, new_cents) VALUES (old.id, old.price_cents, new.price_cents);
END;
