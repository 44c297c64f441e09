import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { openBulkBuild } from "../../../../src/db/index/bulk/open-bulk-build.ts";
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

function buildInBulk(db: IndexDatabase, messages: readonly SignedMessage[]): void {
  const bulk = openBulkBuild(db, { rowsPerStep: 20 });
  for (let at = 0; at < messages.length; at += 100) {
    const split = messages.slice(at, at + 100).map((one) => splitEncoded(encodeMessage(one), NETWORK));
    bulk.append([packMessages(split)]);
  }
  while (bulk.step()) {}
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
