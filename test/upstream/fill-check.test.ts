import { expect, test } from "bun:test";
import type { IndexDatabase } from "../../src/db/index/database.ts";
import { createFillCheck, FILLED_POSITION, Stage, stagePosition } from "../../src/upstream/positions.ts";
import { temporaryIndex } from "../support/temporary-index.ts";

function put(db: IndexDatabase, { key, position }: { key: string; position: number }): void {
  db.sqlite.run("INSERT OR REPLACE INTO positions (key, position) VALUES (?, ?)", [key, position]);
}

test("an index is filled from its first backfill on, and stays so in later ones and after a restart", () => {
  using index = temporaryIndex();
  const { db } = index;
  const isFilled = createFillCheck(db);
  expect(isFilled()).toBe(false);
  for (const stage of [Stage.Listing, Stage.Filling]) {
    put(db, stagePosition(stage));
    expect(isFilled()).toBe(false);
  }
  for (const position of [stagePosition(Stage.Applying), FILLED_POSITION]) put(db, position);
  expect(isFilled()).toBe(true);
  put(db, stagePosition(Stage.Listing));
  expect(isFilled()).toBe(true);
  expect(createFillCheck(db)()).toBe(true);
});

test("an index of a version without the mark is filled while it applies blocks", () => {
  using index = temporaryIndex();
  put(index.db, stagePosition(Stage.Applying));
  expect(createFillCheck(index.db)()).toBe(true);
});
