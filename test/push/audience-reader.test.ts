import { afterEach, beforeEach, expect, test } from "bun:test";
import { createAudienceReader } from "../../src/push/audience.ts";
import type { Selection } from "../../src/push/selection.ts";
import type { Audience } from "../../src/push/store/campaigns/campaign-store.ts";
import { insertTokens, type TokenSpec } from "../support/send.ts";
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

function addTokens(tokens: readonly Partial<TokenSpec>[]) {
  const url = "https://a.example/";
  insertTokens(
    state.db,
    tokens.map((token, at) => ({ appId: APP, fid: at + 1, url, token: `t${at}`, ...token })),
  );
}

const read = (audience: Partial<Audience> = {}) =>
  createAudienceReader({
    appId: APP,
    ownerFid: 3,
    audience: { targetFids: [], excludeFids: [], followingFid: null, ...audience },
    tokens: localStores(state.db).tokens,
    selection: all,
  });

/** The tokens of each page by host, at most `max` pages. */
async function pagesBy(audience: Partial<Audience> = {}, max = 500) {
  const reader = await read(audience);
  const found: [host: string, tokens: string[]][] = [];
  for await (const host of reader.hosts())
    for await (const { tokens } of reader.pagesOf(host)) {
      found.push([host, tokens.map(({ details }) => details.token)]);
      if (found.length === max) return found;
    }
  return found;
}

const tokenNames = (count: number) => Array.from({ length: count }, (_, at) => `t${at}`);

test.each([999, 1000, 2001])(
  "%i tokens of a host are read once each, for everyone and for a list",
  async (count) => {
    addTokens(Array.from({ length: count }, () => ({})));
    const everyone = await pagesBy();
    expect(everyone.flatMap(([, tokens]) => tokens)).toEqual(tokenNames(count));
    const listed = await pagesBy({ targetFids: Array.from({ length: count }, (_, at) => count - at) });
    expect(listed.flatMap(([, tokens]) => tokens).sort()).toEqual(tokenNames(count).sort());
    for (const [, tokens] of [...everyone, ...listed]) expect(tokens.length).toBeLessThanOrEqual(1000);
  },
);

test.each([99, 100, 201])("each of %i hosts is read once, with its own tokens", async (count) => {
  const hosts = Array.from({ length: count }, (_, at) => `h${String(at).padStart(3, "0")}.example`);
  addTokens(hosts.map((host) => ({ url: `https://${host}/` })));
  const expected = hosts.map((host, at) => [host, [`t${at}`]]);
  expect(await pagesBy()).toEqual(expected as never);
  const listed = await pagesBy({ targetFids: Array.from({ length: count }, (_, at) => at + 1) });
  expect(listed).toEqual(expected as never);
});

test("someone listed once with two clients of a host is sent to once, also between two pages", async () => {
  const clients = Array.from({ length: 1000 }, () => ({}));
  addTokens([...clients, { fid: 1000, clientFid: 1, token: "second" }, { fid: 1001, token: "t1001" }]);
  const listed = await pagesBy({ targetFids: Array.from({ length: 1001 }, (_, at) => at + 1) });
  expect(listed.flatMap(([, tokens]) => tokens).sort()).toEqual(
    [...tokenNames(1000), "second", "t1001"].sort(),
  );
});

test("a client that someone has enabled elsewhere is left to its own host", async () => {
  addTokens([
    { fid: 1, clientFid: 1, url: "https://a.example/", token: "a1" },
    { fid: 1, clientFid: 2, url: "https://b.example/", token: "b1" },
    { fid: 2, clientFid: 2, url: "https://b.example/", token: "b2" },
  ]);
  const expected = [
    ["a.example", ["a1"]],
    ["b.example", ["b1", "b2"]],
  ];
  expect(await pagesBy({ targetFids: [1, 2] })).toEqual(expected as never);
  expect(await pagesBy()).toEqual(expected as never);
});

test("counts the enabled tokens of everyone or of the listed, and none for a share of them", async () => {
  addTokens([{ fid: 1 }, { fid: 1, clientFid: 1 }, { fid: 2 }, { fid: 3, enabled: false }]);
  const countOf = async (audience: Partial<Audience>) => (await read(audience)).count();
  const share = { scheduleId: "s", from: 0, to: 1 };
  expect([await countOf({}), await countOf({ targetFids: [1, 3] })]).toEqual([3, 2]);
  expect([await countOf({ share }), await countOf({ share, targetFids: [1] })]).toEqual([
    undefined,
    undefined,
  ]);
});
