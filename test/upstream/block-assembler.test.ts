import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { HubEventType } from "../../src/protocol/wire/generated/hub.ts";
import type { FollowedEvent } from "../../src/protocol/wire/generated/upstream.ts";
import {
  BlockAssembler,
  OpenBlock,
  type ShardBlock,
} from "../../src/upstream/calls/decode/block-assembler.ts";

const MERGE = HubEventType.HUB_EVENT_TYPE_MERGE_MESSAGE;
const PRUNE = HubEventType.HUB_EVENT_TYPE_PRUNE_MESSAGE;
const FAILURE = HubEventType.HUB_EVENT_TYPE_MERGE_FAILURE;

function event(type: HubEventType, id: number, text = String(id)): FollowedEvent {
  const message = Buffer.from(text);
  return {
    type,
    id,
    body:
      type === MERGE
        ? { $case: "merge", value: { message, deletedMessages: [] } }
        : { $case: "prune", value: { message } },
  };
}

/** A block as a node sends it: the confirming event is first and announces the others. */
function block(number: number, types: readonly HubEventType[], keys = 0): FollowedEvent[] {
  const eventCountsByType: Record<number, number> = { [HubEventType.HUB_EVENT_TYPE_BLOCK_CONFIRMED]: 1 };
  for (const type of types) eventCountsByType[type] = (eventCountsByType[type] ?? 0) + 1;
  if (keys > 0) eventCountsByType[MERGE] = (eventCountsByType[MERGE] ?? 0) + keys;
  const confirmed: FollowedEvent = {
    type: HubEventType.HUB_EVENT_TYPE_BLOCK_CONFIRMED,
    id: number * 2 ** 14,
    body: {
      $case: "blockConfirmed",
      value: {
        blockNumber: number,
        shardIndex: 1,
        timestamp: 1000 + number,
        blockHash: new Uint8Array(),
        totalEvents: 1 + types.length + keys,
        eventCountsByType,
        maxBlockEventSeqnum: 7,
      },
    },
  };
  return [
    confirmed,
    ...types.flatMap((type, at) => (type === FAILURE ? [] : [event(type, number * 2 ** 14 + at + 1)])),
    ...Array.from({ length: keys }, (_, at) => event(MERGE, 0, `key ${number} ${at}`)),
  ];
}

const idsOf = ({ number, events }: ShardBlock) => [number, ...events.map(({ id }) => id)];

/** The blocks that an assembler returns for a stream, if each requested block is read from the log. */
function assemble(
  stream: readonly FollowedEvent[],
  log: readonly FollowedEvent[][],
  first: number,
): number[][] {
  const assembler = new BlockAssembler(first);
  const blocks: number[][] = [];
  for (const one of stream) {
    const missingTo = assembler.push(one);
    if (missingTo !== undefined) {
      for (let number = assembler.next; number <= missingTo; number++) {
        const events = log[number - first] ?? [];
        blocks.push([number, ...events.slice(1).flatMap(({ id }) => (id > 0 ? [id] : []))]);
        assembler.skipTo(number);
      }
    }
    for (let done = assembler.take(); done; done = assembler.take()) blocks.push(idsOf(done));
  }
  return blocks;
}

const FIRST = 5;
const types = fc.array(fc.constantFrom(MERGE, PRUNE, FAILURE), { maxLength: 4 });

describe("blocks of a stream", () => {
  test("are returned once, complete and in order, even if the stream omits or repeats events or starts within a block", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(types, fc.nat(2)), { minLength: 1, maxLength: 6 }),
        fc.array(fc.tuple(fc.nat(99), fc.constantFrom("drop", "repeat"))),
        fc.nat(9),
        (made, faults, skipped) => {
          const log = made.map(([kinds, keys], at) => block(FIRST + at, kinds, keys));
          const faultAt = new Map<number, string>(faults);
          const stream = log
            .flat()
            .slice(skipped)
            .flatMap((one, at) => {
              const fault = faultAt.get(at);
              return fault === "drop" ? [] : fault === "repeat" ? [one, one] : [one];
            });
          // A last block without events shows that the blocks before it have ended.
          const end = block(FIRST + log.length, []);
          const whole = [...log, end].map((events, at) => [
            FIRST + at,
            ...events.slice(1).flatMap(({ id }) => (id > 0 ? [id] : [])),
          ]);
          expect(assemble([...stream, ...end], log, FIRST)).toEqual(whole);
        },
      ),
    );
  });

  test("a block is returned with its last event, not with the next block", () => {
    const assembler = new BlockAssembler(FIRST);
    const events = block(FIRST, [MERGE, PRUNE]);
    expect(events.map((one) => [assembler.push(one), assembler.take()?.number])).toEqual([
      [undefined, undefined],
      [undefined, undefined],
      [undefined, FIRST],
    ]);
  });

  test("a key event of the next block never hides a lost merge of the block before", () => {
    const log = [block(FIRST, [MERGE, MERGE]), block(FIRST + 1, [MERGE], 1)];
    const [before, after] = log as [FollowedEvent[], FollowedEvent[]];
    const keyEvent = after.at(-1) as FollowedEvent;
    // Lost in a row: the last merge of a block, and the announcement and the merge of the next one.
    const stream = [...before.slice(0, -1), keyEvent, ...block(FIRST + 2, [])];
    expect(assemble(stream, log, FIRST)).toEqual([
      [FIRST, FIRST * 2 ** 14 + 1, FIRST * 2 ** 14 + 2],
      [FIRST + 1, (FIRST + 1) * 2 ** 14 + 1],
      [FIRST + 2],
    ]);
  });

  test("a block that ends with a key event is complete with the announcement of the next", () => {
    const assembler = new BlockAssembler(FIRST);
    const events = [...block(FIRST, [MERGE], 1), ...block(FIRST + 1, [])];
    const taken = events.map((one) => {
      expect(assembler.push(one)).toBeUndefined();
      const numbers: number[] = [];
      for (let done = assembler.take(); done; done = assembler.take()) numbers.push(done.number);
      return numbers;
    });
    expect(taken).toEqual([[], [], [], [FIRST, FIRST + 1]]);
  });

  test("blocks before the first requested one are skipped", () => {
    expect(assemble([...block(3, [MERGE]), ...block(FIRST, [PRUNE])], [], FIRST)).toEqual([
      [FIRST, FIRST * 2 ** 14 + 1],
    ]);
  });

  test("a block has its time and the event of shard 0 that it depends on", () => {
    const assembler = new BlockAssembler(FIRST);
    for (const one of block(FIRST, [])) assembler.push(one);
    expect(assembler.take()).toMatchObject({ number: FIRST, timestamp: 1000 + FIRST, seqnum: 7, events: [] });
  });
});

describe("missingMerges", () => {
  const missing = (events: readonly FollowedEvent[]) => {
    const open = new OpenBlock(FIRST);
    for (const one of events) open.add(one);
    return open.missingMerges();
  };

  test("returns undefined before the counts are announced", () => {
    expect(missing(block(FIRST, [MERGE]).slice(1))).toBeUndefined();
  });

  test("counts missing merges, which key operations may explain", () => {
    expect(missing(block(FIRST, [MERGE, PRUNE]))).toBe(0);
    expect(missing(block(FIRST, [MERGE, PRUNE], 2).filter(({ id }) => id > 0))).toBe(2);
  });

  test("counts an event without an id once, even if it is repeated", () => {
    const events = block(FIRST, [MERGE], 2);
    const [one] = events.filter(({ id }) => id === 0);
    expect(missing([...events.filter(({ id }) => id > 0), ...(one ? [one, one] : [])])).toBe(1);
  });

  test("returns undefined if another event is missing or surplus", () => {
    expect(missing(block(FIRST, [MERGE, PRUNE]).filter(({ type }) => type !== PRUNE))).toBeUndefined();
    expect(missing([...block(FIRST, [MERGE]), event(MERGE, FIRST * 2 ** 14 + 9)])).toBeUndefined();
  });

  test("uses the announced total if there are no counts by type", () => {
    const withoutTypes = block(FIRST, [MERGE, PRUNE]).map((one) =>
      one.body?.$case === "blockConfirmed"
        ? { ...one, body: { ...one.body, value: { ...one.body.value, eventCountsByType: {} } } }
        : one,
    );
    expect(missing(withoutTypes)).toBe(0);
    expect(missing(withoutTypes.slice(0, -1))).toBeUndefined();
  });
});
