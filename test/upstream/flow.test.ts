import { describe, expect, test } from "bun:test";
import type { RelayedBatch, RelayedOp } from "../../src/ingest/relay.ts";
import { ChainGate } from "../../src/upstream/chain-gate.ts";
import { inBatches } from "../../src/upstream/in-batches.ts";
import { OpBatcher } from "../../src/upstream/op-batcher.ts";

const filled = (fid: number): RelayedOp => ({ kind: "fidComplete", fid, happenedAt: 0 });
const fidsOf = ({ ops }: RelayedBatch) => ops.map((op) => (op.kind === "fidComplete" ? op.fid : 0));

/** A writer whose batches wait until a test lets them through. */
function heldWriter() {
  const batches: { fids: number[]; done: () => void; fail: () => void }[] = [];
  let arrived = Promise.withResolvers<void>();
  return {
    batches,
    arrival: () => arrived.promise,
    apply(batch: RelayedBatch) {
      const written = Promise.withResolvers<void>();
      batches.push({
        fids: fidsOf(batch),
        done: written.resolve,
        fail: () => written.reject(new Error("disk full")),
      });
      arrived.resolve();
      arrived = Promise.withResolvers();
      return written.promise;
    },
  };
}

describe("batches of operations", () => {
  test("are written one after another, in the order in which the operations came", async () => {
    const writer = heldWriter();
    const batcher = new OpBatcher(writer);
    for (let fid = 1; fid <= 2500; fid++) await batcher.add([filled(fid)], []);
    const drained = batcher.drained();
    for (let at = 0; at < 3; at++) {
      if (writer.batches.length === at) await writer.arrival();
      expect(writer.batches.length).toBe(at + 1);
      writer.batches[at]?.done();
    }
    await drained;
    expect(writer.batches.flatMap(({ fids }) => fids)).toEqual(
      Array.from({ length: 2500 }, (_, at) => at + 1),
    );
  });

  test("whoever brings too many waits until some are written", async () => {
    const writer = heldWriter();
    const batcher = new OpBatcher(writer);
    let hasRoom = false;
    const many = Array.from({ length: 5500 }, (_, at) => filled(at));
    const adding = batcher.add(many, []).then(() => {
      hasRoom = true;
    });
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    expect(writer.batches.map(({ fids }) => fids.length)).toEqual([1000]);
    expect(hasRoom).toBe(false);
    writer.batches[0]?.done();
    await adding;
  });

  test("behind one that could not be written nothing is written any more", async () => {
    const writer = heldWriter();
    const batcher = new OpBatcher(writer);
    await batcher.add([filled(1)], []);
    await writer.arrival();
    await batcher.add([filled(2)], []);
    writer.batches[0]?.fail();
    expect(batcher.drained()).rejects.toThrow("disk full");
    await Promise.allSettled([batcher.drained()]);
    expect(batcher.add([filled(3)], [])).rejects.toThrow("disk full");
    expect(writer.batches.length).toBe(1);
  });
});

describe("items in batches", () => {
  async function* endless() {
    for (let item = 1; ; item++) yield item;
  }

  test("what came in while the reader was busy comes at once, and no more than may wait", async () => {
    let ended = 0;
    const batches: number[][] = [];
    for await (const batch of inBatches(
      endless(),
      () => 1,
      10,
      () => ended++,
    )) {
      batches.push(batch);
      if (batches.length === 3) break;
      // The reader is busy for some turns of the event loop.
      for (let turn = 0; turn < 50; turn++) await Promise.resolve();
    }
    expect(batches.flat()).toEqual(Array.from({ length: batches.flat().length }, (_, at) => at + 1));
    expect(batches[1]?.length).toBe(10);
    expect(ended).toBe(1);
  });

  test("a source that fails gives what came before, then its fault", async () => {
    async function* failing() {
      yield 1;
      yield 2;
      throw new Error("cut");
    }
    const items: number[] = [];
    const reading = (async () => {
      for await (const batch of inBatches(
        failing(),
        () => 1,
        10,
        () => {},
      ))
        items.push(...batch);
    })();
    expect(reading).rejects.toThrow("cut");
    await Promise.allSettled([reading]);
    expect(items).toEqual([1, 2]);
  });

  test("a reader that stops ends a source that waits for what never comes", async () => {
    const cut = Promise.withResolvers<void>();
    async function* silent() {
      yield 1;
      await cut.promise;
    }
    for await (const batch of inBatches(
      silent(),
      () => 1,
      10,
      () => cut.resolve(),
    )) {
      expect(batch).toEqual([1]);
      break;
    }
  });
});

describe("the gate of the data shards", () => {
  const turns = async () => {
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  };
  const passing = (gate: ChainGate, seqnum: number) => {
    const state = { passed: false };
    void gate.waitFor(seqnum).then(() => {
      state.passed = true;
    });
    return state;
  };

  test("opens when shard 0 has been applied so far", async () => {
    const gate = new ChainGate(new AbortController().signal);
    const state = passing(gate, 5);
    gate.reach(4);
    gate.looked();
    await turns();
    expect(state.passed).toBe(false);
    gate.reach(5);
    await turns();
    expect(state.passed).toBe(true);
  });

  test("opens when a whole look at shard 0, not one that was under way, brought nothing", async () => {
    const gate = new ChainGate(new AbortController().signal);
    const state = passing(gate, 5);
    gate.looked();
    await turns();
    expect(state.passed).toBe(false);
    gate.looked();
    await turns();
    expect(state.passed).toBe(true);
  });

  test("somebody who waits ends the pause before the next look", async () => {
    const gate = new ChainGate(new AbortController().signal);
    const pause = gate.pause(3_600_000);
    void gate.waitFor(5);
    await pause;
    await gate.pause(3_600_000);
  });

  test("opens, and pauses no more, when following ends", async () => {
    const ending = new AbortController();
    const gate = new ChainGate(ending.signal);
    const [state, pause] = [passing(gate, 5), gate.pause(3_600_000)];
    ending.abort();
    await pause;
    await turns();
    expect(state.passed).toBe(true);
  });
});
