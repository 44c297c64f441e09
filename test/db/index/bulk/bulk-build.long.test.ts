import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type BulkBuildOptions, openBulkBuild } from "../../../../src/db/index/bulk/open-bulk-build.ts";
import { packMessages } from "../../../../src/db/index/bulk/packed-messages.ts";
import type { IndexDatabase } from "../../../../src/db/index/database.ts";
import { splitEncoded } from "../../../../src/db/index/messages/split.ts";
import { verifyIndex } from "../../../../src/db/index/verify/verify.ts";
import { seededRandom } from "../../../../src/demo/random.ts";
import { createIngestEngine } from "../../../../src/ingest/engine.ts";
import { encodeMessage, type SignedMessage } from "../../../../src/protocol/message/signed-message.ts";
import { FarcasterNetwork } from "../../../../src/protocol/wire/generated/message.ts";
import { ManualClock } from "../../../support/clock.ts";
import { contentDifferences, indexContent } from "../../../support/index-content.ts";
import { IS_LONG } from "../../../support/long.ts";
import { DEFAULT_NOW_SECS } from "../../../support/messages.ts";
import { temporaryIndex } from "../../../support/temporary-index.ts";
import { wildMessages } from "../../../support/wild-network.ts";

const NETWORK = FarcasterNetwork.FARCASTER_NETWORK_MAINNET;

/** Writes messages row by row, each decided by the rules of the protocol. */
function writeRowByRow(db: IndexDatabase, messages: readonly SignedMessage[]): void {
  const onFault = (cause: unknown) => {
    throw cause;
  };
  const engine = createIngestEngine({
    db,
    network: NETWORK,
    clock: new ManualClock(DEFAULT_NOW_SECS),
    onFault,
  });
  const ops = messages.map(
    (message) => ({ kind: "merge", message: encodeMessage(message), deleted: [], happenedAt: 0 }) as const,
  );
  for (let at = 0; at < ops.length; at += 50)
    engine.applyRelayed({ ops: ops.slice(at, at + 50), positions: [] });
}

/** Returns the number of steps of each stage but the first. */
function buildInBulk(
  db: IndexDatabase,
  messages: readonly SignedMessage[],
  rows: BulkBuildOptions = { rowsPerStep: 20, rowsPerSort: 30 },
): ReadonlyMap<string, number> {
  const bulk = openBulkBuild(db, rows);
  for (let at = 0; at < messages.length; at += 100) {
    const split = messages.slice(at, at + 100).map((one) => splitEncoded(encodeMessage(one), NETWORK));
    bulk.append([packMessages(split)]);
  }
  const steps = new Map<string, number>();
  for (let next = bulk.step(); next; next = bulk.step())
    steps.set(next.stage, (steps.get(next.stage) ?? 0) + 1);
  return steps;
}

describe("bulk build", () => {
  test("yields the index that the live writer yields, whatever the order of the messages", () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: 0, max: 400 }), (seed, count) => {
        const messages = wildMessages(`${seed}`, count);
        using live = temporaryIndex();
        using built = temporaryIndex();
        writeRowByRow(live.db, messages);
        buildInBulk(built.db, seededRandom(`order ${seed}`).shuffled(messages));
        expect(contentDifferences(indexContent(live.db), indexContent(built.db))).toEqual([]);
      }),
      { numRuns: IS_LONG ? 300 : 10, includeErrorInReport: true },
    );
  });

  test("divides its largest sorts and its deletions into transactions of a bounded number of rows", () => {
    const messages = wildMessages("sorts", 400);
    const divided = [
      "map of hashes",
      "threads",
      "reactions",
      "links",
      "counts of casts",
      "embeds and mentions",
      "notifications",
      "follows",
      "dropped messages",
    ];
    const stepsWith = (rows: BulkBuildOptions) => {
      using built = temporaryIndex();
      const steps = buildInBulk(built.db, messages, rows);
      return divided.map((stage) => steps.get(stage) ?? 0);
    };
    const whole = stepsWith({});
    const inParts = stepsWith({ rowsPerStep: 5, rowsPerSort: 40 });
    // Reactions and links are settled in a step of their own; dropped messages are found in one, and sorted rows are sorted in one.
    expect(whole).toEqual([1, 2, 2, 2, 2, 4, 4, 3, 2]);
    for (const [at, steps] of inParts.entries()) expect(steps).toBeGreaterThan(whole[at] ?? 0);
  });

  test("passes the verification of the index", () => {
    using built = temporaryIndex();
    buildInBulk(built.db, wildMessages("verified", 600));
    expect(verifyIndex(built.path)).toEqual([]);
  });

  test("continues row by row: messages that arrive after it find every row that they concern", () => {
    const messages = wildMessages("continued", 500);
    using live = temporaryIndex();
    using built = temporaryIndex();
    writeRowByRow(live.db, messages);
    buildInBulk(built.db, messages.slice(0, 300));
    writeRowByRow(built.db, messages.slice(300));
    expect(contentDifferences(indexContent(live.db), indexContent(built.db))).toEqual([]);
  });
});
