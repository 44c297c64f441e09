import { describe, expect, test } from "bun:test";
import { verifyIndex } from "../../../src/db/index/verify/verify.ts";
import { DEMO_REGISTRAR, followUriOf } from "../../../src/protocol/channels/follow-uri.ts";
import { oddMessages } from "../../support/odd-messages.ts";
import { likeUrl } from "../../support/records.ts";
import { startTestWriter } from "../../support/writer.ts";

describe("verifyIndex", () => {
  test.each([
    [
      "a row of envelopes is missing",
      "DELETE FROM envelopes WHERE id = (SELECT max(id) FROM envelopes)",
      "envelopes",
    ],
    ["a signer is missing", "DELETE FROM message_signers WHERE id = 1", "message_signers"],
    [
      "the data of an envelope are unreadable",
      "UPDATE envelopes SET data = zeroblob(9) WHERE data IS NOT NULL",
      "casts",
    ],
    ["the data of a message are unreadable", "UPDATE messages SET data = zeroblob(9)", "messages"],
    [
      "a row has the envelope of a message of another table",
      `UPDATE links SET envelope_id = (SELECT r.envelope_id FROM reactions r JOIN envelopes e ON e.id = r.envelope_id
         WHERE e.data IS NOT NULL LIMIT 1)`,
      "links",
    ],
    [
      "an on-chain event has the log index of another",
      "UPDATE on_chain_events SET log_index = log_index + 1000 WHERE type = 3",
      "on_chain_events",
    ],
    [
      "an on-chain event has another block time",
      "UPDATE on_chain_events SET block_timestamp = block_timestamp + 1",
      "on_chain_events",
    ],
    [
      "a person lacks words",
      "INSERT OR REPLACE INTO people_fts (rowid, words) SELECT min(fid), 'other' FROM user_data WHERE type = 2",
      "people_fts",
    ],
    [
      "the bytes of an on-chain event are unreadable",
      "UPDATE on_chain_events SET bytes = x'ff' WHERE type = 3",
      "on_chain_events",
    ],
  ])("names the table when %s", async (_name, sql, table) => {
    using writer = await startTestWriter(7);
    await writer.submit(...oddMessages(7).map((bytes) => ({ kind: "message" as const, bytes })));
    expect(verifyIndex(writer.db.file)).toEqual([]);
    expect(writer.db.sqlite.run(sql).changes).toBeGreaterThan(0);
    expect(verifyIndex(writer.db.file).map((difference) => difference.table)).toContain(table);
  });

  test("finds nothing in an index with likes of URLs that may be follows of channels", async () => {
    using writer = await startTestWriter(7);
    const url = followUriOf(DEMO_REGISTRAR, new Uint8Array(32).fill(1)) ?? "";
    await writer.submit(...[url, "eip155:1/erc721:0x00/1"].map((liked) => likeUrl(7, liked)));
    expect(verifyIndex(writer.db.file)).toEqual([]);
  });
});
