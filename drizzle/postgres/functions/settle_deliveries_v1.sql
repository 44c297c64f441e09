-- Settles deliveries in order (`DeliveryQueue.settle`). A settlement without its lease changes nothing. Returns those
-- settlements that call for the deactivation of their webhook, with the version of the webhook that they saw: the caller takes
-- the change lock, looks again and deactivates. `failures` is the length of the run of failures; null for a receiver that
-- is gone.
CREATE OR REPLACE FUNCTION settle_deliveries_v1(
  p_settlements jsonb, p_boot uuid, p_slot integer, p_now_secs bigint, p_failures integer, p_run_secs bigint
)
RETURNS TABLE (settlement integer, webhook_id text, version bigint, failures bigint)
LANGUAGE plpgsql
-- A plan that was made while the table was small is used long after it has grown.
SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
  r record;
  v_failures bigint;
  v_since bigint;
  v_delivered bigint := 0;
  v_failed bigint := 0;
BEGIN
  PERFORM 1 FROM webhook_health h
    WHERE h.webhook = ANY (ARRAY(
      SELECT d.webhook FROM jsonb_to_recordset(p_settlements) AS s(seq bigint) JOIN deliveries d ON d.seq = s.seq
    ))
    ORDER BY h.webhook FOR NO KEY UPDATE;
  FOR r IN
    WITH given AS MATERIALIZED (
      SELECT DISTINCT ON (s.seq, s.lease_ends_at_ms) s.seq, s.lease_ends_at_ms, s.verdict, s.state, s.due_at_ms, s.hold_until_ms,
        s.ended_at_secs, s.at_ms, s.status, s.error, s.duration_ms, s.duration_class, s.counted_at_secs, s.answer, s.at
      FROM ROWS FROM (jsonb_to_recordset(p_settlements) AS (
        seq bigint, lease_ends_at_ms bigint, verdict text, state text, due_at_ms bigint, hold_until_ms bigint,
        ended_at_secs bigint, at_ms bigint, status integer, error text, duration_ms bigint, duration_class integer,
        counted_at_secs bigint, answer text
      )) WITH ORDINALITY AS s(
        seq, lease_ends_at_ms, verdict, state, due_at_ms, hold_until_ms, ended_at_secs, at_ms, status, error, duration_ms,
        duration_class, counted_at_secs, answer, at
      )
      ORDER BY s.seq, s.lease_ends_at_ms, s.at
    ), settled AS (
      UPDATE deliveries d
      SET state = g.state, attempts = d.attempts + 1, due_at_ms = g.due_at_ms, lease_ends_at_ms = NULL, claimed_by = NULL,
        ended_at = CASE WHEN g.due_at_ms IS NULL THEN g.ended_at_secs END
      FROM given g
      WHERE d.seq = g.seq AND d.lease_ends_at_ms = g.lease_ends_at_ms AND d.claimed_by = p_boot
      RETURNING d.seq, d.webhook, g.verdict, g.hold_until_ms, g.ended_at_secs, g.at_ms, g.status, g.error, g.duration_ms,
        g.duration_class, g.counted_at_secs, g.answer, g.at
    ), logged AS (
      INSERT INTO delivery_attempts (delivery, at_ms, status, error, duration_ms, answer)
      SELECT l.seq, l.at_ms, l.status, l.error, l.duration_ms, l.answer FROM settled l ORDER BY l.at
    ), counted AS (
      INSERT INTO attempt_stats AS a (webhook, starts_at, duration_class, attempts, delivered, failed)
      SELECT c.webhook, c.counted_at_secs, c.duration_class, count(*), count(*) FILTER (WHERE c.verdict = 'delivered'),
        count(*) FILTER (WHERE c.verdict IN ('failed', 'gone'))
      FROM settled c GROUP BY c.webhook, c.counted_at_secs, c.duration_class
      ORDER BY c.webhook, c.counted_at_secs, c.duration_class
      ON CONFLICT (webhook, starts_at, duration_class) DO UPDATE
        SET attempts = a.attempts + excluded.attempts, delivered = a.delivered + excluded.delivered,
          failed = a.failed + excluded.failed
    ), numbered AS (
      -- Successes in a row of one webhook share the update of its health.
      SELECT n.webhook, n.verdict, n.hold_until_ms, n.ended_at_secs, n.at,
        count(*) FILTER (WHERE n.verdict <> 'delivered') OVER (PARTITION BY n.webhook ORDER BY n.at) AS run
      FROM settled n
    )
    SELECT o.webhook, o.verdict, min(o.at) AS at, count(*) AS deliveries, max(o.ended_at_secs) AS ended_at_secs,
      max(o.hold_until_ms) AS hold_until_ms
    FROM numbered o GROUP BY o.webhook, o.run, o.verdict ORDER BY min(o.at)
  LOOP
    IF r.verdict = 'delivered' THEN
      UPDATE webhook_health h
        SET queued = h.queued - r.deliveries, last_success_at = r.ended_at_secs, consecutive_failures = 0,
          failing_since = NULL
        WHERE h.webhook = r.webhook;
      v_delivered := v_delivered + r.deliveries;
    ELSIF r.verdict = 'retry' THEN
      UPDATE webhook_health h
        SET last_failure_at = r.ended_at_secs, held_until_ms = coalesce(r.hold_until_ms, h.held_until_ms)
        WHERE h.webhook = r.webhook;
    ELSE
      UPDATE webhook_health h
        SET queued = h.queued - 1, last_failure_at = r.ended_at_secs, consecutive_failures = h.consecutive_failures + 1,
          failing_since = coalesce(h.failing_since, r.ended_at_secs),
          held_until_ms = coalesce(r.hold_until_ms, h.held_until_ms)
        WHERE h.webhook = r.webhook
        RETURNING h.consecutive_failures, h.failing_since INTO v_failures, v_since;
      v_failed := v_failed + 1;
      -- A jump of a node's clock does not lengthen a run of failures.
      IF r.verdict = 'gone' OR (v_failures >= p_failures AND least(r.ended_at_secs, p_now_secs) - v_since >= p_run_secs)
      THEN
        SELECT w.webhook_id, c.version INTO webhook_id, version FROM webhooks w
          JOIN webhook_changes c ON c.webhook_id = w.webhook_id WHERE w.seq = r.webhook AND w.active;
        IF FOUND THEN
          settlement := r.at - 1;
          failures := CASE WHEN r.verdict = 'gone' THEN NULL ELSE v_failures END;
          RETURN NEXT;
        END IF;
      END IF;
    END IF;
  END LOOP;
  IF v_delivered + v_failed > 0 THEN
    INSERT INTO delivery_totals AS t (state, slot, count)
      VALUES ('delivered', p_slot, v_delivered), ('failed', p_slot, v_failed),
        ('queued', p_slot, -(v_delivered + v_failed))
      ON CONFLICT (state, slot) DO UPDATE SET count = t.count + excluded.count;
  END IF;
END
$$;
