import { expect, test } from "bun:test";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { openIndexWriter } from "../../../src/db/index/database.ts";
import { allMessages } from "../../../src/db/index/messages/live-messages.ts";
import { splitMessage } from "../../../src/db/index/messages/split.ts";
import { project, retractLost } from "../../../src/db/index/project/project.ts";
import { seededRandom } from "../../../src/demo/random.ts";
import { findStored } from "../../../src/ingest/merge/find-stored.ts";
import { FarcasterNetwork } from "../../../src/protocol/wire/generated/message.ts";
import { demoIndex } from "../../support/demo-index.ts";
import { contentDifferences, indexContent } from "../../support/index-content.ts";

import { tempDir } from "../../support/program.ts";

const NETWORK = FarcasterNetwork.FARCASTER_NETWORK_MAINNET;
const LOST_AT_ONCE = 10;
const ROUNDS = 8;

test("messages whose rows the disk lost are stored again with all that is derived of them: replies, mentions, quotes, counts, words", async () => {
  using dir = tempDir();
  const path = join(dir.path, "index.db");
  copyFileSync((await demoIndex()).path, path);
  using db = openIndexWriter(path);
  const random = seededRandom("lost rows");
  const before = indexContent(db);
  const messages = [...allMessages(db, NETWORK)].map((live) => ({ ...live.decode(), place: live }));
  const tables = new Set<string>();
  for (let round = 0; round < ROUNDS; round++) {
    const lost = new Set(Array.from({ length: LOST_AT_ONCE }, () => random.pick(messages)));
    for (const { place } of lost) {
      const row = findStored(db, NETWORK, place)?.row;
      if (!row) throw new Error("a message is missing");
      tables.add(row.table);
      if (row.table === "messages") db.sqlite.run("DELETE FROM messages WHERE id = ?", [row.id]);
      else {
        db.sqlite.run(`DELETE FROM ${row.table} WHERE envelope_id = ?`, [row.envelopeId]);
        db.sqlite.run("DELETE FROM envelopes WHERE id = ?", [row.envelopeId]);
      }
    }
    db.transaction(() => {
      for (const message of lost) {
        const split = splitMessage(message, NETWORK);
        retractLost(db, split, message.data);
        project(db, split, message.data);
      }
    });
  }
  expect([...tables].sort()).toEqual(["casts", "links", "messages", "reactions", "user_data"]);
  expect(contentDifferences(before, indexContent(db))).toEqual([]);
});
