-- One hold of two seats that nobody else wants: pair number turn of this client, spread
-- over all shows by a stride that shares no factor with the 500,000 pairs.
\set turn :turn + 1
\set pair ((:turn * 64 + :client_id) * 7919) % 500000
\set show :pair / 20000
\set left (:pair % 20000) * 2
BEGIN;
SELECT count(*) FILTER (WHERE expires_at < now()) = 2 AS free
FROM (SELECT expires_at FROM seats WHERE show_id = :show AND seat IN (:left, :left + 1) ORDER BY seat FOR UPDATE) wanted \gset
\if :free
INSERT INTO holds (show_id, buyer_id, seats, expires_at)
VALUES (:show, :client_id, ARRAY[:left, :left + 1], now() + interval '600 seconds') RETURNING hold_id \gset
UPDATE seats SET hold_id = :hold_id, expires_at = now() + interval '605 seconds'
WHERE show_id = :show AND seat IN (:left, :left + 1);
\endif
COMMIT;
