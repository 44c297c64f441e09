import { expect, test } from "bun:test";
import { openBulkBuild } from "../../src/db/index/bulk/open-bulk-build.ts";
import { putPosition } from "../../src/db/index/positions.ts";
import { createBuildCheck, Stage, stagePosition } from "../../src/upstream/positions.ts";
import { temporaryIndex } from "../support/temporary-index.ts";

test("the index is unavailable from the first spooled message until it is built, and never again", () => {
  using index = temporaryIndex();
  const check = createBuildCheck(index.db);
  const reason = "the index is being filled from the upstream";
  expect(check()).toBeUndefined();
  const bulk = openBulkBuild(index.db);
  expect(check()).toBe(reason);
  let steps = 0;
  for (; bulk.step(); steps++) expect(check()).toBe(reason);
  expect(steps).toBeGreaterThan(10);
  expect(check()).toBeUndefined();
  const { key, position } = stagePosition(Stage.Applying);
  putPosition(index.db, key, position);
  expect(check()).toBeUndefined();
});
