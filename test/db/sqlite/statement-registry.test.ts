import { expect, test } from "bun:test";
import { withFixedPlan } from "../../../src/db/sqlite/statement-registry.ts";

test("each parameter gets a unary plus, and quoted question marks stay", () => {
  expect(withFixedPlan("SELECT a FROM t WHERE b = ?1 AND (c, d) < (?2, -?3) ORDER BY a LIMIT ?")).toBe(
    "SELECT a FROM t WHERE b = +?1 AND (c, d) < (+?2, -+?3) ORDER BY a LIMIT +?",
  );
  expect(withFixedPlan(`SELECT '?1 it''s ?', "a?" FROM t WHERE a = ?`)).toBe(
    `SELECT '?1 it''s ?', "a?" FROM t WHERE a = +?`,
  );
  expect(withFixedPlan("SELECT 1")).toBe("SELECT 1");
});
