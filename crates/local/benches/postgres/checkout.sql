-- One order of two seats that nobody else wants, in one local transaction: the seats are locked
-- and sold, the order and its two tickets are written. Nobody is paid, nothing is signed.
\set turn :turn + 1
\set pair ((:turn * 64 + :client_id) * 7919) % 500000
\set show :pair / 20000
\set left (:pair % 20000) * 2
BEGIN;
SELECT count(*) FILTER (WHERE expires_at < now()) = 2 AS free
FROM (SELECT expires_at FROM seats WHERE show_id = :show AND seat IN (:left, :left + 1) ORDER BY seat FOR UPDATE) wanted \gset
\if :free
INSERT INTO orders (show_id, buyer_id, total, status)
VALUES (:show, :client_id, 10000, 'confirmed') RETURNING order_id \gset
INSERT INTO tickets (order_id, show_id, seat) VALUES (:order_id, :show, :left), (:order_id, :show, :left + 1);
UPDATE seats SET hold_id = :order_id, expires_at = 'infinity'
WHERE show_id = :show AND seat IN (:left, :left + 1);
\endif
COMMIT;
