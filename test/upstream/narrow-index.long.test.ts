import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { getPosition } from "../../src/db/index/positions.ts";
import { narrowIndex } from "../../src/upstream/fill/narrow-index.ts";
import { contentDifferences, indexContent } from "../support/index-content.ts";
import { IS_LONG } from "../support/long.ts";
import { Chain } from "../support/upstream/chain.ts";
import { FollowedIndex } from "../support/upstream/followed-index.ts";
import { UpstreamNode } from "../support/upstream/node.ts";
import { makeScript } from "../support/upstream/script.ts";
import { UpstreamServer } from "../support/upstream/server.ts";
import { Watch } from "../support/upstream/watch.ts";

/** An index whose scope was narrowed, beside one that was filled with the narrow scope. */

// Longer than an index waits for a follower without progress, so that it reports the reason.
setDefaultTimeout(IS_LONG ? 200_000 : 120_000);

const HISTORY = 90;
/** The number of blocks that a fill applies again: they must not mention anybody that no live message mentions. */
const QUIET = 62;
const LATER = 40;
/** The tables that say how the index was filled, not what it holds. */
const OF_FILLING = new Set(["positions", "envelopes"]);
const SEEDS = IS_LONG ? Array.from({ length: 20 }, (_, at) => `narrow ${at}`) : ["narrow 0"];

class Network implements AsyncDisposable {
  readonly watch = new Watch();
  readonly #chain = new Chain();
  readonly #node;
  readonly #server;
  readonly #indexes: FollowedIndex[] = [];

  constructor(seed: string) {
    const rest = () => {
      const { endsAt } = this.#chain;
      for (let sec = 1; sec <= QUIET; sec++) this.#chain.add({ at: endsAt + sec, actions: [] });
    };
    for (const [n, { at, actions }] of makeScript(seed, HISTORY + LATER).entries()) {
      if (n === HISTORY) rest();
      this.#chain.add({ at: n < HISTORY ? at : at + QUIET, actions });
    }
    rest();
    this.#node = new UpstreamNode(this.#chain);
    this.#node.produce(HISTORY + QUIET);
    this.#server = new UpstreamServer(this.#node, {
      faults: this.watch,
      onCall: () => {
        for (const index of this.#indexes) index.wake();
      },
    });
  }

  async index(fids?: ReadonlySet<number>): Promise<FollowedIndex> {
    if (this.#indexes.length === 0) await this.#server.start();
    const index = new FollowedIndex({
      node: this.#node,
      url: this.#server.url,
      nowSecs: this.#chain.endsAt + 10,
      ...(fids ? { fids } : {}),
      stallMs: 3000,
    });
    this.#indexes.push(index);
    index.start();
    await index.caughtUp();
    return index;
  }

  get hiddenNames(): string[] {
    return this.#chain.reference.hiddenNames();
  }

  goesOn(): void {
    this.#node.produce(this.#chain.ticks.length);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const index of this.#indexes) await index.stop();
    this.#server.stop();
    for (const { db } of this.#indexes) db[Symbol.dispose]();
  }
}

/** The content without the names that a fill cannot find. */
function content({ hiddenNames }: Network, { db, fids }: FollowedIndex): Map<string, string[]> {
  const tables = indexContent(db);
  for (const table of OF_FILLING) tables.delete(table);
  const proofs = tables.get("username_proofs") ?? [];
  tables.set(
    "username_proofs",
    proofs.filter((row) => !hiddenNames.includes(JSON.parse(row).name)),
  );
  if (!fids) return tables;
  const mentioned = db.sqlite
    .query<{ fid: number }, []>("SELECT fid FROM upstream_mentioned ORDER BY fid")
    .all();
  tables.set(
    "upstream_mentioned",
    mentioned.map(({ fid }) => String(fid)),
  );
  return tables;
}

/**
 * The content without the names that have left the scope. A transfer to an fid out of scope, or to none, is stored where the name is still shown when it arrives: not if the fid that had it was read meanwhile, because it was mentioned for the first time.
 */
function contentInScope(network: Network, index: FollowedIndex): Map<string, string[]> {
  const tables = content(network, index);
  const mentioned = tables.get("upstream_mentioned")?.map(Number) ?? [];
  const scope = new Set([...(index.fids ?? []), ...mentioned]);
  const proofs = tables.get("username_proofs") ?? [];
  tables.set(
    "username_proofs",
    proofs.filter((row) => scope.has(JSON.parse(row).fid)),
  );
  return tables;
}

const registered = ({ db }: FollowedIndex) =>
  db.sqlite
    .query<{ fid: number }, []>("SELECT fid FROM fids ORDER BY fid")
    .all()
    .map(({ fid }) => fid);

async function narrow(
  index: FollowedIndex,
  fids: ReadonlySet<number>,
  signal = new AbortController().signal,
) {
  const report = await narrowIndex({ db: index.db, engine: index.engine, followed: fids, signal });
  while (index.db.repoints.areAny(index.db)) index.engine.repointMore();
  index.fids = fids;
  return report;
}

describe.each(SEEDS)("%s", (seed) => {
  test("an index whose scope was narrowed twice equals a fresh fill, and continues at its positions", async () => {
    await using network = new Network(seed);
    const index = await network.index();
    const all = registered(index);
    const wide = new Set(all.filter((_, at) => at % 3 !== 2));
    const few = new Set([...wide].filter((_, at) => at % 2 === 0));
    await index.stop();
    expect((await narrow(index, wide)).isComplete).toBe(true);
    const freshWide = await network.index(wide);
    expect(contentDifferences(content(network, freshWide), content(network, index))).toEqual([]);
    const narrowed = await narrow(index, few);
    expect(narrowed).toMatchObject({ isComplete: true });
    expect(narrowed.removedRecords).toBeGreaterThan(0);
    const fresh = await network.index(few);
    expect(contentDifferences(content(network, fresh), content(network, index))).toEqual([]);
    expect(await narrow(index, few)).toEqual({ removedRecords: 0, isComplete: true });

    // It does not read its fids again: the journal of its first fill stays the last one.
    const start = getPosition(index.db, "upstream 1 start");
    index.start();
    network.goesOn();
    await Promise.all([index.caughtUp(), fresh.caughtUp()]);
    expect(index.faults).toEqual([]);
    expect(getPosition(index.db, "upstream 1 start")).toBe(start);
    expect(contentDifferences(contentInScope(network, fresh), contentInScope(network, index))).toEqual([]);
  });

  test("a narrowing that was interrupted is completed by the next one, and by a follower with any scope", async () => {
    await using network = new Network(`${seed}, interrupted`);
    const index = await network.index();
    const all = registered(index);
    const few = new Set(all.filter((_, at) => at % 4 === 0));
    await index.stop();
    const interrupt = async (after: number) => {
      let commits = 0;
      const stopping = new AbortController();
      const engine = {
        applyRelayed: (batch: Parameters<typeof index.engine.applyRelayed>[0]) => {
          index.engine.applyRelayed(batch);
          // As a signal of the system, which the event loop has to come to.
          if (++commits === after) setImmediate(() => stopping.abort(new Error("stopped")));
        },
      };
      const { signal } = stopping;
      const narrowing = narrowIndex({ db: index.db, engine, followed: few, signal });
      await expect(narrowing).rejects.toThrow("stopped");
      expect(commits).toBe(after);
    };
    await interrupt(2);
    // With the earlier scope: what was removed is read again.
    index.start();
    network.goesOn();
    await index.caughtUp();
    const everything = await network.index();
    expect(contentDifferences(content(network, everything), content(network, index))).toEqual([]);
    await index.stop();
    await interrupt(2);
    expect((await narrow(index, few)).isComplete).toBe(true);
    const fresh = await network.index(few);
    expect(contentDifferences(content(network, fresh), content(network, index))).toEqual([]);
  });
});
