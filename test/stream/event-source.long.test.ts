import { describe, expect, test } from "bun:test";
import { EventSource } from "eventsource";
import { eventsAfter, markAllPublished } from "../../src/db/index/log/outbox.ts";
import { createLogRetention } from "../../src/ingest/thread/log-retention.ts";
import { toFarcasterSecs } from "../../src/protocol/time.ts";
import { nowSecs } from "../../src/runtime/clock.ts";
import { HAS_BROWSER, sharedBrowser } from "../browser/support/shared.ts";
import { type CuttingProxy, startCuttingProxy } from "../support/cutting-proxy.ts";
import { rentEvent } from "../support/events.ts";
import { IS_LONG } from "../support/long.ts";
import { signedCast } from "../support/messages.ts";
import { accountSigner } from "../support/node.ts";
import { startTestStreams, type TestStreams } from "../support/streams.ts";

const CUTS = IS_LONG ? 30 : 2;
const CUT_EVERY_MS = IS_LONG ? 20_000 : 250;
const CAST_EVERY_MS = IS_LONG ? 200 : 10;
/** Casts between two that the narrow filter matches: a minute of the long form. */
const RARE = 300;
const RETENTION_SECS = 3600;
const TIMEOUT_MS = IS_LONG ? 900_000 : 60_000;
const AUTHOR = 2;

/** The text of a cast, or the name of a frame of the stream itself. */
type Seen = string;

/** An EventSource and what it has got so far. */
interface Client extends AsyncDisposable {
  seen(): Promise<readonly Seen[]>;
  /** 2 for one that has given up. */
  readyState(): Promise<number>;
}

const filters = {
  all: "kinds=cast.created",
  "of an author": `kinds=cast.created&author_fids=${AUTHOR}`,
  narrow: "kinds=cast.created&text=rare",
};
type Filter = keyof typeof filters;
const pathOf = (filter: Filter) => `/v2/svc/stream?${filters[filter]}`;

async function openPackage(proxy: CuttingProxy, filter: Filter): Promise<Client> {
  const source = new EventSource(proxy.url + pathOf(filter));
  const seen: Seen[] = [];
  for (const name of ["hello", "gap"]) source.addEventListener(name, () => seen.push(name));
  source.addEventListener("cast.created", ({ data }) => seen.push(JSON.parse(data).data.text));
  return {
    seen: async () => seen,
    readyState: async () => source.readyState,
    [Symbol.asyncDispose]: async () => source.close(),
  };
}

async function openInBrowser(proxy: CuttingProxy, filter: Filter): Promise<Client> {
  const page = await (await sharedBrowser()).newPage();
  await page.goto(`${proxy.url}/health`);
  await page.evaluate(`
    globalThis.seen = [];
    globalThis.source = new EventSource(${JSON.stringify(pathOf(filter))});
    for (const name of ["hello", "gap"]) source.addEventListener(name, () => seen.push(name));
    source.addEventListener("cast.created", ({ data }) => seen.push(JSON.parse(data).data.text));`);
  return {
    seen: () => page.evaluate<Seen[]>("seen"),
    readyState: () => page.evaluate<number>("source.readyState"),
    [Symbol.asyncDispose]: () => page.close(),
  };
}

let serial = 0;
/** Merges a cast; each `RARE`th is one that the narrow filter matches. */
function cast(bench: TestStreams): void {
  const n = serial++;
  const fid = 1 + (n % 3);
  const text = n % RARE === RARE / 2 ? `${n} of ${fid}, rare` : `${n} of ${fid}`;
  const timestamp = toFarcasterSecs(nowSecs(bench.node.clock)) - 10;
  expect(bench.node.ingestMessage(signedCast(fid, text, accountSigner(fid), { timestamp }))).toBe("ok");
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await Bun.sleep(10);
}

const isEvent = (seen: Seen) => seen.includes(" of ");

/** The clients wait for 3 seconds before they connect again; in the short form less. */
const soon = (bytes: Buffer) => {
  const at = IS_LONG ? -1 : bytes.indexOf("retry: 3000\n");
  if (at >= 0) bytes.write("retry: 0050\n", at);
  return bytes;
};

describe.each([
  ["the package eventsource", openPackage, false],
  ["a browser's EventSource", openInBrowser, !HAS_BROWSER],
] as const)("%s behind a proxy that cuts", (_, open, isSkipped) => {
  test.skipIf(isSkipped)(
    "gets each matching event once, and a gap after a cut that is longer than retention",
    async () => {
      serial = 0;
      await using bench = startTestStreams(
        IS_LONG ? {} : { deps: { timings: { keepAliveMs: 100, stallMs: 10_000 }, tickMs: 20 } },
      );
      for (const fid of [1, 2, 3]) bench.node.ingestEvent(rentEvent(fid, 100, { block: 500_000 + fid }));
      await using proxy = await startCuttingProxy(bench.http.port, soon);
      await using all = await open(proxy, "all");
      await using ofAuthor = await open(proxy, "of an author");
      await using narrow = await open(proxy, "narrow");
      const clients = [all, ofAuthor, narrow];
      const matching = [/ of /, / of 2/, /rare/];
      const expected = (from: number) => {
        const texts = Array.from({ length: serial - from }, (_, at) => {
          const n = from + at;
          return n % RARE === RARE / 2 ? `${n} of ${1 + (n % 3)}, rare` : `${n} of ${1 + (n % 3)}`;
        });
        return matching.map((pattern) => texts.filter((text) => pattern.test(text)));
      };
      const hellos = (count: number) =>
        until(async () => {
          const seen = await Promise.all(clients.map((client) => client.seen()));
          return seen.every((one) => one.filter((text) => text === "hello").length >= count);
        });

      await hellos(1);
      // So that the short form has a rare one, too.
      while (!IS_LONG && serial < RARE) cast(bench);
      const paths = Object.keys(filters).map((one) => pathOf(one as Filter));
      /** Cursors move in silence, so also a narrow filter does not resume from far back. */
      const eachHasMoved = () =>
        paths.every((path) => {
          const ids = proxy.lastEventIds.get(path) ?? [];
          return new Set(ids).size > (IS_LONG ? ids.length / 2 : 1);
        });
      // On a busy machine a cut may come before the node has sent the next cursor, or the client has read it: further ones come later.
      for (let at = 0; at < CUTS || !eachHasMoved(); at++) {
        const cutAtMs = performance.now() + CUT_EVERY_MS * Math.max(1, at + 2 - CUTS);
        do {
          cast(bench);
          await Bun.sleep(CAST_EVERY_MS);
        } while (performance.now() < cutAtMs);
        proxy.cut();
        await hellos(at + 2);
      }
      await until(async () => {
        const seen = await Promise.all(clients.map((client) => client.seen()));
        return expected(0).every((texts, at) => texts.every((text) => seen[at]?.includes(text)));
      });
      for (const [at, client] of clients.entries())
        expect((await client.seen()).filter(isEvent)).toEqual(expected(0)[at] ?? []);

      proxy.setDown(true);
      for (let n = 0; n < 20; n++) cast(bench);
      const lost = serial;
      const { db, clock } = bench.node;
      clock.advanceSecs(RETENTION_SECS + 1);
      markAllPublished(db);
      const secs = { outboxSecs: RETENTION_SECS, hubLogSecs: RETENTION_SECS };
      const retention = createLogRetention({ db, clock, ...secs });
      while (eventsAfter(db, 0, 1).length > 0) retention.sweep();
      proxy.setDown(false);
      await until(async () => {
        const seen = await Promise.all(clients.map((client) => client.seen()));
        return seen.every((one) => one.includes("gap"));
      });
      while (serial < lost + RARE) cast(bench);
      await until(async () => {
        const seen = await Promise.all(clients.map((client) => client.seen()));
        return expected(lost).every((texts, at) => texts.every((text) => seen[at]?.includes(text)));
      });
      for (const [at, client] of clients.entries()) {
        const seen = await client.seen();
        expect(seen.filter((text) => text === "gap")).toHaveLength(1);
        expect(seen.slice(seen.indexOf("gap")).filter(isEvent)).toEqual(expected(lost)[at] ?? []);
        expect(await client.readyState()).not.toBe(2);
      }
    },
    TIMEOUT_MS,
  );
});
