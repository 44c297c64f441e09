import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createCustodies, custodySweep } from "../../src/auth/owners/custody-store.ts";
import { createOwners } from "../../src/auth/owners/owners.ts";
import { readerStateDb } from "../../src/db/state/sqlite-state-db.ts";
import { startSingleNode } from "../../src/db/state/state-db.ts";
import { openWriterOf } from "../../src/node/state/open-writer.ts";
import { ManualClock } from "../support/clock.ts";
import { registerEvent, transferEvent } from "../support/events.ts";
import { DEFAULT_NOW_SECS, makeWallet } from "../support/messages.ts";
import { startTestNode, type TestNode } from "../support/node.ts";
import { openStateFile } from "../support/state-file.ts";

/** Nodes over one state, each of which trusts the node that it follows. One of those lies. */

const FID = 3;
const [owner, thief, buyer] = ["owner", "thief", "buyer"].map((name) => makeWallet(name).address) as [
  Uint8Array,
  Uint8Array,
  Uint8Array,
];
const READY_LAG_SECS = 30;

const DAY_SECS = 86_400;

const clock = new ManualClock(DEFAULT_NOW_SECS);
let stack: DisposableStack;
beforeEach(() => {
  clock.setSecs(DEFAULT_NOW_SECS);
  stack = new DisposableStack();
});
afterEach(() => stack.dispose());

interface Member {
  readonly node: TestNode;
  /** Reports whether the node accepts a request that an address signs. */
  accepts(address: Uint8Array): Promise<boolean>;
  /** Deletes what has expired, as maintenance does. */
  sweep(): Promise<unknown>;
}

/** Nodes with the registration of the fid, by their `upstream.ready_lag_secs`. */
function cluster(...readyLagSecs: readonly number[]): Member[] {
  const { db } = stack.use(openStateFile());
  return readyLagSecs.map((lagSecs, at) => {
    const writer = openWriterOf(db, {
      limits: { maxQueued: 1 },
      clock,
      monotonicMs: () => clock.nowMs(),
      node: startSingleNode(`node-${at}`),
    });
    const node = stack.use(startTestNode());
    node.ingestEvent(registerEvent(FID, owner, { block: 1 }));
    const stateDb = readerStateDb(db, writer.call.bind(writer));
    const custodies = createCustodies(stateDb, { clock, readyLagSecs: lagSecs });
    const owners = createOwners({ db: node.db, custodies });
    return {
      node,
      async accepts(address) {
        const custody = await owners.custodyOf(FID, address);
        return custody?.toHex() === address.toHex() && owners.recordAct(FID, address);
      },
      sweep: () => custodySweep(stateDb).step(100),
    };
  });
}

const inventedSale = (block: number) => transferEvent(FID, owner, thief, { block });

describe("a transfer that one followed node has invented", () => {
  test.each([
    ["", 2],
    [", at a place in the future", 900_000_000],
  ])("counts at the other nodes only for as long as their indexes may lack it%s", async (_name, block) => {
    const [liar, honest] = cluster(READY_LAG_SECS, READY_LAG_SECS) as [Member, Member];
    liar.node.ingestEvent(inventedSale(block));
    expect(await liar.accepts(thief)).toBe(true);
    expect(await honest.accepts(owner)).toBe(false);
    expect(await honest.accepts(thief)).toBe(true);
    clock.advanceSecs(READY_LAG_SECS + 600);
    expect(await honest.accepts(thief)).toBe(false);
    expect(await honest.accepts(owner)).toBe(true);
  });

  test("gives the thief no more time when the thief acts again", async () => {
    const [liar, honest] = cluster(READY_LAG_SECS, READY_LAG_SECS) as [Member, Member];
    liar.node.ingestEvent(inventedSale(2));
    for (let act = 0; act < 10; act++) {
      expect(await liar.accepts(thief)).toBe(true);
      clock.advanceSecs(100);
    }
    expect(await honest.accepts(owner)).toBe(true);
  });

  test.each([
    ["acts again", 0],
    ["acts by a further invented transfer each time", 1],
  ])("blocks the true owner only once, although the thief %s after the owner", async (_name, further) => {
    const [liar, honest] = cluster(READY_LAG_SECS, READY_LAG_SECS) as [Member, Member];
    liar.node.ingestEvent(inventedSale(2));
    expect(await liar.accepts(thief)).toBe(true);
    clock.advanceSecs(READY_LAG_SECS + 600);
    expect(await honest.accepts(owner)).toBe(true);
    for (let round = 1; round <= 5; round++) {
      if (further) liar.node.ingestEvent(transferEvent(FID, thief, thief, { block: 2 + round }));
      expect(await liar.accepts(thief)).toBe(true);
      expect(await honest.accepts(thief)).toBe(false);
      expect(await honest.accepts(owner)).toBe(true);
      clock.advanceSecs(READY_LAG_SECS + 600);
    }
  });

  test("blocks the true owner only once, for as long as the owner acts at least once a day", async () => {
    const [liar, honest] = cluster(READY_LAG_SECS, READY_LAG_SECS) as [Member, Member];
    liar.node.ingestEvent(inventedSale(2));
    expect(await liar.accepts(thief)).toBe(true);
    clock.advanceSecs(READY_LAG_SECS + 600);
    expect(await honest.accepts(owner)).toBe(true);
    for (let day = 1; day <= 8; day++) {
      clock.advanceSecs(DAY_SECS);
      await honest.sweep();
      if (day % 2 === 0) {
        liar.node.ingestEvent(transferEvent(FID, thief, thief, { block: 2 + day }));
        expect(await liar.accepts(thief)).toBe(true);
      }
      expect(await honest.accepts(owner)).toBe(true);
    }
  });

  test("blocks the true owner for the time of its first act, although further ones follow before its end", async () => {
    const [liar, honest] = cluster(READY_LAG_SECS, READY_LAG_SECS) as [Member, Member];
    for (let block = 2; block < 40; block++) {
      liar.node.ingestEvent(transferEvent(FID, owner, thief, { block }));
      expect(await liar.accepts(thief)).toBe(true);
      expect(await honest.accepts(owner)).toBe((block - 2) * 100 > READY_LAG_SECS + 300);
      clock.advanceSecs(100);
    }
  });

  test("does not hide a later sale that another node knows, although its node invents further ones", async () => {
    const [liar, honest, lagging] = cluster(READY_LAG_SECS, READY_LAG_SECS, READY_LAG_SECS) as [
      Member,
      Member,
      Member,
    ];
    liar.node.ingestEvent(inventedSale(2));
    expect(await liar.accepts(thief)).toBe(true);
    clock.advanceSecs(READY_LAG_SECS + 600);
    expect(await honest.accepts(owner)).toBe(true);
    honest.node.ingestEvent(transferEvent(FID, owner, buyer, { block: 5 }));
    expect(await honest.accepts(buyer)).toBe(true);
    liar.node.ingestEvent(transferEvent(FID, thief, thief, { block: 900_000_000 }));
    expect(await liar.accepts(thief)).toBe(true);
    expect(await lagging.accepts(owner)).toBe(false);
    expect(await lagging.accepts(buyer)).toBe(true);
    expect(await honest.accepts(buyer)).toBe(true);
  });

  test("blocks the true owner only once, although its node first contradicts the honest one", async () => {
    const [liar, honest] = cluster(READY_LAG_SECS, READY_LAG_SECS) as [Member, Member];
    const registration = registerEvent(FID, owner, { block: 1 });
    liar.node.relay([{ kind: "removeOnChainEvent", ref: registration, happenedAt: 0 }]);
    liar.node.ingestEvent(registerEvent(FID, thief, { block: 0 }));
    expect(await honest.accepts(owner)).toBe(true);
    clock.advanceSecs(READY_LAG_SECS + 600);
    expect(await liar.accepts(thief)).toBe(true);
    liar.node.ingestEvent(transferEvent(FID, thief, thief, { block: 2 }));
    expect(await liar.accepts(thief)).toBe(true);
    expect(await honest.accepts(owner)).toBe(false);
    clock.advanceSecs(READY_LAG_SECS + 600);
    for (let round = 1; round <= 5; round++) {
      expect(await honest.accepts(owner)).toBe(true);
      liar.node.ingestEvent(transferEvent(FID, thief, thief, { block: 2 + round }));
      expect(await liar.accepts(thief)).toBe(true);
      expect(await honest.accepts(thief)).toBe(false);
      clock.advanceSecs(100);
    }
  });

  test("is forgotten minutes after it was removed from the index", async () => {
    const [liar, honest] = cluster(READY_LAG_SECS, READY_LAG_SECS) as [Member, Member];
    const sale = inventedSale(2);
    liar.node.ingestEvent(sale);
    expect(await liar.accepts(thief)).toBe(true);
    liar.node.relay([{ kind: "removeOnChainEvent", ref: sale, happenedAt: 0 }]);
    clock.advanceSecs(READY_LAG_SECS + 600);
    for (const node of [liar, honest]) {
      expect(await node.accepts(thief)).toBe(false);
      expect(await node.accepts(owner)).toBe(true);
    }
  });

  test("does not keep nodes that lag from learning of a later sale", async () => {
    const [liar, honest, lagging] = cluster(READY_LAG_SECS, READY_LAG_SECS, READY_LAG_SECS) as [
      Member,
      Member,
      Member,
    ];
    liar.node.ingestEvent(inventedSale(900_000_000));
    expect(await liar.accepts(thief)).toBe(true);
    clock.advanceSecs(READY_LAG_SECS + 600);
    honest.node.ingestEvent(transferEvent(FID, owner, buyer, { block: 5 }));
    expect(await honest.accepts(buyer)).toBe(true);
    expect(await lagging.accepts(owner)).toBe(false);
    expect(await lagging.accepts(buyer)).toBe(true);
  });
});

test("a real sale counts at a node that may lag for a day for a day, also after the act of another owner", async () => {
  const [current, lagging] = cluster(READY_LAG_SECS, DAY_SECS) as [Member, Member];
  const sale = transferEvent(FID, owner, buyer, { block: 2 });
  current.node.ingestEvent(sale);
  expect(await current.accepts(buyer)).toBe(true);
  clock.advanceSecs(DAY_SECS - 100);
  expect(await lagging.accepts(owner)).toBe(false);
  expect(await lagging.accepts(buyer)).toBe(true);
  lagging.node.ingestEvent(sale);
  current.node.ingestEvent(transferEvent(FID, buyer, owner, { block: 3 }));
  expect(await current.accepts(owner)).toBe(true);
  expect(await lagging.accepts(buyer)).toBe(false);
  expect(await lagging.accepts(owner)).toBe(true);
});

test("a node from which a real sale is withheld does not block the new owner elsewhere", async () => {
  const [current, withheld] = cluster(READY_LAG_SECS, READY_LAG_SECS) as [Member, Member];
  current.node.ingestEvent(transferEvent(FID, owner, buyer, { block: 2 }));
  for (let round = 0; round < 5; round++) {
    expect(await current.accepts(buyer)).toBe(true);
    clock.advanceSecs(READY_LAG_SECS + 600);
    expect(await withheld.accepts(owner)).toBe(true);
    expect(await current.accepts(owner)).toBe(false);
  }
});
