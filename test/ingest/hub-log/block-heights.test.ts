import { afterEach, beforeEach, expect, test } from "bun:test";
import { type IndexDatabase, openIndexInMemory } from "../../../src/db/index/database.ts";
import { openBlockHeights } from "../../../src/ingest/hub-log/own-hub-log.ts";
import { ManualClock } from "../../support/clock.ts";
import { DEFAULT_NOW_SECS } from "../../support/messages.ts";
import { openStateFile } from "../../support/state-file.ts";
import { localStores } from "../../support/state-stores.ts";

let db: IndexDatabase;
let state: ReturnType<typeof openStateFile>;
beforeEach(() => {
  db = openIndexInMemory();
  state = openStateFile();
});
afterEach(() => {
  db[Symbol.dispose]();
  state[Symbol.dispose]();
});

const clock = new ManualClock(DEFAULT_NOW_SECS);
const open = () =>
  openBlockHeights({
    db,
    nodeId: "node",
    store: localStores(state.db, { clock }).nodeLogs,
    clock,
    isNumbering: true,
    heightsPerReservation: 4,
    onFault: (cause) => {
      throw cause;
    },
  });

test("the heights that a transaction takes follow each other, and are taken again after a roll-back", async () => {
  const heights = await open();
  const first = heights.take();
  expect([heights.take(), heights.take()]).toEqual([first + 1, first + 2]);
  expect(heights.available).toBe(1);
  heights.giveBack();
  expect([heights.take(), heights.take()]).toEqual([first, first + 1]);
  heights.keep();
  expect([heights.take(), heights.take()]).toEqual([first + 2, first + 3]);
  expect(() => heights.take()).toThrow("no block height is reserved");
});

test("more heights are reserved once half of them are used, and one reservation runs at a time", async () => {
  const heights = await open();
  heights.take();
  heights.keep();
  await heights.reserveMore();
  expect(heights.available).toBe(3);
  heights.take();
  heights.keep();
  await Promise.all([heights.reserveMore(), heights.reserveMore()]);
  expect(heights.available).toBe(4);
});
