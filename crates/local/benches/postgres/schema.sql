-- The peer: a seats table as most ticket shops have it, one row a seat.
-- Shows 0 to 24 are 40,000 seats each, so that a run never meets a seat twice; show 25 is
-- the crowd's.
CREATE TABLE seats (
    show_id integer NOT NULL,
    seat integer NOT NULL,
    hold_id bigint,
    expires_at timestamptz NOT NULL DEFAULT '-infinity',
    PRIMARY KEY (show_id, seat)
);
CREATE TABLE holds (
    hold_id bigserial PRIMARY KEY,
    show_id integer NOT NULL,
    buyer_id integer NOT NULL,
    seats integer[] NOT NULL,
    expires_at timestamptz NOT NULL
);
CREATE TABLE orders (
    order_id bigserial PRIMARY KEY,
    show_id integer NOT NULL,
    buyer_id integer NOT NULL,
    total integer NOT NULL,
    status text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ON orders (buyer_id, created_at);
CREATE TABLE tickets (
    ticket_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    order_id bigint NOT NULL REFERENCES orders,
    show_id integer NOT NULL,
    seat integer NOT NULL
);
INSERT INTO seats (show_id, seat)
SELECT show_id, seat FROM generate_series(0, 24) AS show_id, generate_series(0, 39999) AS seat;
INSERT INTO seats (show_id, seat) SELECT 25, seat FROM generate_series(0, 7) AS seat;
VACUUM ANALYZE seats;
CHECKPOINT;
