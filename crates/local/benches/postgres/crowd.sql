-- Everybody wants two of the same eight seats. A hold of two seconds is claimable five
-- seconds after it lapsed, as in Onsale.
\set left random(0, 6)
BEGIN;
SELECT count(*) FILTER (WHERE expires_at < now()) = 2 AS free
FROM (SELECT expires_at FROM seats WHERE show_id = 25 AND seat IN (:left, :left + 1) ORDER BY seat FOR UPDATE) wanted \gset
\if :free
INSERT INTO holds (show_id, buyer_id, seats, expires_at)
VALUES (25, :client_id, ARRAY[:left, :left + 1], now() + interval '2 seconds') RETURNING hold_id \gset
UPDATE seats SET hold_id = :hold_id, expires_at = now() + interval '7 seconds'
WHERE show_id = 25 AND seat IN (:left, :left + 1);
\endif
COMMIT;
