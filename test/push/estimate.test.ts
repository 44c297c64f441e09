import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { estimateSend } from "../../src/push/estimate.ts";
import type { Selection } from "../../src/push/selection.ts";
import { insertTokens } from "../support/send.ts";
import { openStateFile } from "../support/state-file.ts";
import { localStores } from "../support/state-stores.ts";

const APP = "app";
const all: Selection = () => async (tokens) => ({
  tokens,
  notAttempted: { excluded: 0, not_following: 0, not_in_segment: 0 },
});

let state: ReturnType<typeof openStateFile>;
beforeEach(() => {
  state = openStateFile();
});
afterEach(() => state[Symbol.dispose]());

/** Tokens by fid, client and host; those of fids that are not enabled are `off`. */
function addTokens(
  tokens: readonly (readonly [fid: number, clientFid: number, host?: string])[],
  off?: number,
) {
  insertTokens(
    state.db,
    tokens.map(([fid, clientFid, host = "c.example"]) => ({
      ...{ appId: APP, fid, clientFid, url: `https://${host}/`, token: `${fid} ${clientFid} ${host}` },
      enabled: fid !== off,
    })),
  );
}

function estimate(targetFids: readonly number[] = []) {
  const { tokens, campaigns } = localStores(state.db);
  const audience = { targetFids, excludeFids: [], followingFid: null };
  const never = new AbortController().signal;
  const app = { appId: APP, ownerFid: 3 };
  return estimateSend({ tokens, campaigns, selection: all }, app, { audience, uuid: undefined }, never);
}

const upTo = (count: number) => Array.from({ length: count }, (_, at) => at + 1);

describe.each([1999, 2000, 4001])("of %i tokens", (count) => {
  test("counts each token and user once, for everyone and for a list", async () => {
    // The last user of the first page has a second token, which is on the next one.
    addTokens([...upTo(count - 1).map((fid) => [fid, 1] as const), [Math.min(count - 1, 2000), 2]], 7);
    const expected = { tokens: count - 1, fids: count - 2 };
    expect(await estimate()).toMatchObject(expected);
    expect(await estimate(upTo(count).reverse())).toMatchObject(expected);
  });
});

test("the clients with the most tokens come first, and of equal ones the one with the lower fid", async () => {
  addTokens([
    [1, 30],
    [2, 20],
    [3, 10],
    [4, 40],
    [5, 40],
    [6, 10, "d.example"],
    [7, 10, "d.example"],
  ]);
  const { clients } = await estimate();
  expect(clients.map(({ clientFid, host, tokens }) => [tokens, clientFid, host])).toEqual([
    [2, 10, "d.example"],
    [2, 40, "c.example"],
    [1, 10, "c.example"],
    [1, 20, "c.example"],
    [1, 30, "c.example"],
  ]);
});

test("other work of the thread gets a turn between its pages", async () => {
  addTokens(upTo(6000).map((fid) => [fid, 1] as const));
  let turns = 0;
  let isOver = false;
  const work = () => {
    turns += 1;
    if (!isOver) setImmediate(work);
  };
  setImmediate(work);
  await estimate();
  isOver = true;
  expect(turns).toBeGreaterThanOrEqual(3);
});
