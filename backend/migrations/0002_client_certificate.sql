-- The client's own certificate, as PEM text; its key is a secret and stays in memory.
ALTER TABLE connection ADD COLUMN tls_certificate TEXT;
