-- Keeps the partitions of `delivery_attempts`: one for each day (UTC) from today to three days ahead, none that ended before
-- `p_keep_from_ms`. Returns the number of dropped partitions; null when a transaction held the table for too long, so that the
-- rest has to be done later.
CREATE OR REPLACE FUNCTION maintain_delivery_attempts_v1(p_now_ms bigint, p_keep_from_ms bigint)
RETURNS integer
LANGUAGE plpgsql
SET lock_timeout = '500ms'
AS $$
DECLARE
  day_ms CONSTANT bigint := 86400000;
  first_day CONSTANT date := '1970-01-01';
  v_day integer;
  v_name text;
  v_dropped integer := 0;
BEGIN
  FOR v_day IN (p_now_ms / day_ms)::integer .. (p_now_ms / day_ms)::integer + 3 LOOP
    v_name := 'delivery_attempts_' || to_char(first_day + v_day, 'YYYYMMDD');
    CONTINUE WHEN to_regclass(v_name) IS NOT NULL;
    -- The default partition has rows of that day, from a time without maintenance, and so gets the whole day. Looked up, because
    -- an attempt would scan and lock it each time.
    CONTINUE WHEN EXISTS (SELECT 1 FROM delivery_attempts_default a
      WHERE a.at_ms >= v_day * day_ms AND a.at_ms < (v_day + 1) * day_ms);
    BEGIN
      EXECUTE format('CREATE TABLE %I PARTITION OF delivery_attempts FOR VALUES FROM (%s) TO (%s)', v_name,
        v_day * day_ms, (v_day + 1) * day_ms);
    EXCEPTION
      -- Such a row, or another node's partition, has come meanwhile.
      WHEN check_violation OR duplicate_table OR unique_violation THEN NULL;
    END;
  END LOOP;
  FOR v_name IN
    SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = to_regclass('delivery_attempts') AND c.relname ~ '^delivery_attempts_[0-9]{8}$'
      AND (to_date(right(c.relname, 8), 'YYYYMMDD') - first_day + 1) * day_ms <= p_keep_from_ms
  LOOP
    EXECUTE format('DROP TABLE %I', v_name);
    v_dropped := v_dropped + 1;
  END LOOP;
  RETURN v_dropped;
EXCEPTION
  WHEN lock_not_available THEN RETURN NULL;
END
$$;
