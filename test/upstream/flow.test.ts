import { describe, expect, test } from "bun:test";
import type { RelayedBatch, RelayedOp } from "../../src/ingest/relayed-op.ts";
import { ChainGate } from "../../src/upstream/blocks/chain-blocks.ts";
import { inBatches, OpBatcher } from "../../src/upstream/blocks/op-batcher.ts";
import { SpoolBatcher } from "../../src/upstream/fill/spool-batcher.ts";

const filled = (fid: number): RelayedOp => ({ kind: "fidComplete", fid, happenedAt: 0 });
const fidsOf = ({ ops }: RelayedBatch) => ops.map((op) => (op.kind === "fidComplete" ? op.fid : 0));

/** A writer whose batches wait until a test releases them. */
function heldWriter() {
  const batches: { fids: number[]; done: () => void; fail: () => void }[] = [];
  let arrived = Promise.withResolvers<void>();
  return {
    batches,
    arrival: () => arrived.promise,
    buildStep: async () => undefined,
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
  test("are written one after another, in the order of the operations", async () => {
    const writer = heldWriter();
    const batcher = new OpBatcher(writer);
    for (let fid = 1; fid <= 2500; fid++) await batcher.add([filled(fid)], []);
    const drained = batcher.flush();
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

  test("add waits while too many operations are queued", async () => {
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

  test("nothing is written after a batch that failed", async () => {
    const writer = heldWriter();
    const batcher = new OpBatcher(writer);
    await batcher.add([filled(1)], []);
    await writer.arrival();
    await batcher.add([filled(2)], []);
    writer.batches[0]?.fail();
    expect(batcher.flush()).rejects.toThrow("disk full");
    await Promise.allSettled([batcher.flush()]);
    expect(batcher.add([filled(3)], [])).rejects.toThrow("disk full");
    expect(writer.batches.length).toBe(1);
  });
});

describe("batches of the bulk build", () => {
  test("leave an fid with too many messages for later, and hold nothing of it", async () => {
    const batches: RelayedBatch[] = [];
    const batcher = new SpoolBatcher(
      {
        buildStep: async () => undefined,
        apply: async (batch) => {
          batches.push(batch);
        },
      },
      100,
    );
    const pack = { count: 1, bytes: new Uint8Array(60) };
    const large = batcher.ofFid(1);
    const small = batcher.ofFid(2);
    await large([], [], [pack]);
    expect(large([], [], [pack])).rejects.toThrow("too many messages");
    await small([filled(2)], [], [pack]);
    await batcher.flush();
    expect([1, 2].filter((fid) => batcher.isLater(fid))).toEqual([1]);
    expect(batches.flatMap(fidsOf)).toEqual([2]);
    expect(batches.flatMap(({ spooled = [] }) => spooled)).toEqual([pack]);
  });
});

describe("inBatches", () => {
  async function* endless() {
    for (let item = 1; ; item++) yield item;
  }

  test("yields the items that arrived while the consumer was busy together, up to the limit", async () => {
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
      // The consumer is busy for some turns of the event loop.
      for (let turn = 0; turn < 50; turn++) await Promise.resolve();
    }
    expect(batches.flat()).toEqual(Array.from({ length: batches.flat().length }, (_, at) => at + 1));
    expect(batches[1]?.length).toBe(10);
    expect(ended).toBe(1);
  });

  test("yields the items before an error of the source, then throws it", async () => {
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

  test("a consumer that stops ends a source that waits forever", async () => {
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

describe("ChainGate", () => {
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

  test("opens when shard 0 has been applied up to the event", async () => {
    const gate = new ChainGate(new AbortController().signal);
    const state = passing(gate, 5);
    gate.advanceTo(4);
    gate.pollEnded();
    await turns();
    expect(state.passed).toBe(false);
    gate.advanceTo(5);
    await turns();
    expect(state.passed).toBe(true);
  });

  test("opens after a whole poll of shard 0 that did not bring the event; a poll already running does not count", async () => {
    const gate = new ChainGate(new AbortController().signal);
    const state = passing(gate, 5);
    gate.pollEnded();
    await turns();
    expect(state.passed).toBe(false);
    gate.pollEnded();
    await turns();
    expect(state.passed).toBe(true);
  });

  test("a waiting block ends the delay before the next poll", async () => {
    const gate = new ChainGate(new AbortController().signal);
    const pause = gate.waitToPoll(3_600_000);
    void gate.waitFor(5);
    await pause;
    await gate.waitToPoll(3_600_000);
  });

  test("opens and stops delaying polls when following ends", async () => {
    const ending = new AbortController();
    const gate = new ChainGate(ending.signal);
    const [state, pause] = [passing(gate, 5), gate.waitToPoll(3_600_000)];
    ending.abort();
    await pause;
    await turns();
    expect(state.passed).toBe(true);
  });
});
