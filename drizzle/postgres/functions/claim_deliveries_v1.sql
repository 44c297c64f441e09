-- Claims deliveries of several webhooks, a request each (`DeliveryQueue.claim`). The health row of a webhook is the lock of its
-- queue, and is never waited for. Returns, for each webhook that is active, its claimed deliveries and then a row without a
-- delivery, which tells when to claim again.
--
-- `p_at_once` is the most calls of a webhook at once, over all processes. A process keeps its own calls within that, so it
-- may lease any number while no other process has a lease; otherwise a lease counts as a call.
CREATE OR REPLACE FUNCTION claim_deliveries_v1(p_requests jsonb, p_boot uuid, p_slot integer, p_at_once integer)
RETURNS TABLE (
  request integer, seq bigint, message_id text, attempts integer, due_at_ms bigint, body text,
  counted_at_ms bigint, owner_fid bigint, target_url text, compat_prefix text, secrets text,
  dropped integer, next_at_ms bigint
)
LANGUAGE plpgsql
-- A plan that was made while the table was small is used long after it has grown.
SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
  -- The most deliveries that a claim drops, so that the transaction stays short.
  max_dropped CONSTANT integer := 500;
  -- When to come again: while another transaction has the webhook's queue, and while other processes make all of its calls.
  queue_busy_ms CONSTANT integer := 20;
  calls_busy_ms CONSTANT integer := 25;
  r record;
  hook record;
  v_webhook bigint;
  v_behind bigint;
  v_held bigint;
  v_is_free boolean;
  v_calls bigint;
  v_first_call bigint;
  v_allowed bigint;
  v_own bigint;
  v_others bigint;
  v_room bigint;
  v_take bigint;
  v_taken integer;
  v_part bigint;
  v_count bigint;
  v_first_due bigint;
  v_since bigint;
  v_go_on bigint;
  v_dropped integer;
  v_all_dropped bigint := 0;
BEGIN
  FOR r IN
    SELECT q.at, q.webhook_id, q.now_ms, q.lease_ends_at_ms, q.farthest_ms, q.calls, q.part_ms, q.reach_ms, q.max_wait_ms,
      q.max
    FROM ROWS FROM (jsonb_to_recordset(p_requests) AS (
      webhook_id text, now_ms bigint, lease_ends_at_ms bigint, farthest_ms bigint, calls bigint, part_ms bigint,
      reach_ms bigint, max_wait_ms bigint, max bigint
    )) WITH ORDINALITY AS q(webhook_id, now_ms, lease_ends_at_ms, farthest_ms, calls, part_ms, reach_ms, max_wait_ms, max, at)
  LOOP
    SELECT h.webhook, h.behind_since_ms, h.held_until_ms INTO v_webhook, v_behind, v_held FROM webhook_health h
      WHERE h.webhook = (SELECT w.seq FROM webhooks w WHERE w.webhook_id = r.webhook_id)
      FOR NO KEY UPDATE SKIP LOCKED;
    v_is_free := FOUND;
    -- After the lock, so that it is the webhook's current state.
    SELECT w.owner_fid, w.target_url, w.compat_prefix INTO hook FROM webhooks w
      WHERE w.webhook_id = r.webhook_id AND w.active;
    CONTINUE WHEN NOT FOUND;
    request := r.at - 1;
    seq := NULL;
    message_id := NULL;
    attempts := NULL;
    due_at_ms := NULL;
    body := NULL;
    counted_at_ms := NULL;
    owner_fid := hook.owner_fid;
    target_url := hook.target_url;
    compat_prefix := hook.compat_prefix;
    secrets := NULL;
    dropped := 0;
    next_at_ms := NULL;
    IF NOT v_is_free THEN
      next_at_ms := r.now_ms + queue_busy_ms;
      RETURN NEXT;
      CONTINUE;
    END IF;

    -- Scheduled before the clock went back. An attempt in flight keeps its lease; the lease only starts again.
    IF EXISTS (SELECT 1 FROM deliveries d WHERE d.webhook = v_webhook AND d.due_at_ms > r.farthest_ms) THEN
      UPDATE deliveries d SET due_at_ms = CASE WHEN d.lease_ends_at_ms IS NULL THEN r.now_ms ELSE r.lease_ends_at_ms END
        WHERE d.webhook = v_webhook AND d.due_at_ms > r.farthest_ms;
    END IF;

    IF v_held > r.now_ms AND v_held <= r.farthest_ms THEN
      -- The receiver requested this wait, so it does not count as waiting for a turn.
      IF v_behind IS NOT NULL THEN
        UPDATE webhook_health h SET behind_since_ms = NULL WHERE h.webhook = v_webhook;
      END IF;
      IF EXISTS (SELECT 1 FROM deliveries d WHERE d.webhook = v_webhook AND d.due_at_ms IS NOT NULL) THEN
        next_at_ms := v_held;
      END IF;
      RETURN NEXT;
      CONTINUE;
    END IF;

    SELECT coalesce(sum(c.count), 0), min(c.starts_at_ms) INTO v_calls, v_first_call FROM delivery_rates c
      WHERE c.webhook = v_webhook AND c.starts_at_ms > r.now_ms - r.reach_ms;
    v_allowed := greatest(r.calls - v_calls, 0);
    SELECT count(*) FILTER (WHERE d.claimed_by = p_boot), count(*) FILTER (WHERE d.claimed_by <> p_boot)
      INTO v_own, v_others FROM deliveries d WHERE d.webhook = v_webhook AND d.lease_ends_at_ms > r.now_ms;
    v_room := CASE WHEN v_others = 0 THEN r.max ELSE greatest(least(r.max, p_at_once - v_others - v_own), 0) END;
    v_take := least(v_allowed, v_room);
    v_taken := 0;
    IF v_take > 0 THEN
      RETURN QUERY
        WITH leased AS (
          UPDATE deliveries d
          SET due_at_ms = r.lease_ends_at_ms, lease_ends_at_ms = r.lease_ends_at_ms, claimed_by = p_boot
          FROM (
            SELECT f.seq, f.due_at_ms FROM deliveries f WHERE f.webhook = v_webhook AND f.due_at_ms <= r.now_ms
            ORDER BY f.due_at_ms, f.seq LIMIT v_take FOR NO KEY UPDATE SKIP LOCKED
          ) due
          WHERE d.seq = due.seq
          RETURNING d.seq, d.message_id, d.attempts, due.due_at_ms, d.event
        )
        SELECT r.at::integer - 1, l.seq, l.message_id, l.attempts, l.due_at_ms, e.body, NULL::bigint, NULL::bigint, NULL::text,
          NULL::text, NULL::text, NULL::integer, NULL::bigint
        FROM leased l JOIN delivery_events e ON e.seq = l.event ORDER BY l.due_at_ms, l.seq;
      GET DIAGNOSTICS v_taken = ROW_COUNT;
    END IF;
    IF v_taken > 0 THEN
      v_part := r.now_ms - r.now_ms % r.part_ms;
      INSERT INTO delivery_rates AS c (webhook, starts_at_ms, count) VALUES (v_webhook, v_part, v_taken)
        ON CONFLICT (webhook, starts_at_ms) DO UPDATE SET count = c.count + excluded.count
        RETURNING c.count INTO v_count;
      -- One deletion for each new part bounds the number of rows.
      IF v_count = v_taken THEN
        DELETE FROM delivery_rates c WHERE c.webhook = v_webhook AND c.starts_at_ms <= r.now_ms - r.reach_ms;
      END IF;
      counted_at_ms := v_part;
      SELECT coalesce(json_agg(json_build_object('uid', s.uid, 'value', s.value, 'createdAt', s.created_at, 'expiresAt',
          s.expires_at) ORDER BY s.seq), '[]')::text INTO secrets
        FROM secrets s WHERE s.holder = r.webhook_id AND (s.expires_at IS NULL OR s.expires_at > r.now_ms / 1000);
    END IF;

    -- What remains. A wait counts from when a delivery was due or from when its webhook fell behind, whichever is later, so
    -- that inactive time does not count.
    v_dropped := 0;
    SELECT d.due_at_ms INTO v_first_due FROM deliveries d WHERE d.webhook = v_webhook AND d.due_at_ms IS NOT NULL
      ORDER BY d.due_at_ms, d.seq LIMIT 1;
    IF v_first_due IS NULL OR v_first_due > r.now_ms THEN
      IF v_behind IS NOT NULL THEN
        UPDATE webhook_health h SET behind_since_ms = NULL WHERE h.webhook = v_webhook;
      END IF;
      next_at_ms := v_first_due;
    ELSE
      v_since := coalesce(v_behind, r.now_ms);
      IF r.now_ms - v_since >= r.max_wait_ms THEN
        UPDATE deliveries d
          SET state = 'dropped', due_at_ms = NULL, lease_ends_at_ms = NULL, claimed_by = NULL, ended_at = r.now_ms / 1000
          FROM (
            SELECT f.seq FROM deliveries f WHERE f.webhook = v_webhook AND f.due_at_ms <= r.now_ms - r.max_wait_ms
            ORDER BY f.due_at_ms, f.seq LIMIT max_dropped FOR NO KEY UPDATE SKIP LOCKED
          ) overdue
          WHERE d.seq = overdue.seq;
        GET DIAGNOSTICS v_dropped = ROW_COUNT;
      END IF;
      IF v_dropped > 0 OR v_behind IS NULL THEN
        UPDATE webhook_health h
          SET behind_since_ms = v_since, dropped = h.dropped + v_dropped, queued = h.queued - v_dropped
          WHERE h.webhook = v_webhook;
      END IF;
      IF v_dropped > 0 THEN
        v_all_dropped := v_all_dropped + v_dropped;
        SELECT d.due_at_ms INTO v_first_due FROM deliveries d WHERE d.webhook = v_webhook AND d.due_at_ms IS NOT NULL
          ORDER BY d.due_at_ms, d.seq LIMIT 1;
      END IF;
      IF v_first_due IS NOT NULL THEN
        v_go_on := CASE
          WHEN v_allowed <= v_taken THEN coalesce(v_first_call, r.now_ms) + r.reach_ms
          WHEN v_others > 0 AND v_room <= v_taken THEN r.now_ms + calls_busy_ms
          ELSE r.now_ms
        END;
        next_at_ms := greatest(least(v_go_on, greatest(v_first_due, v_since) + r.max_wait_ms), v_first_due);
      END IF;
    END IF;
    dropped := v_dropped;
    RETURN NEXT;
  END LOOP;
  IF v_all_dropped > 0 THEN
    INSERT INTO delivery_totals AS t (state, slot, count)
      VALUES ('dropped', p_slot, v_all_dropped), ('queued', p_slot, -v_all_dropped)
      ON CONFLICT (state, slot) DO UPDATE SET count = t.count + excluded.count;
  END IF;
END
$$;
