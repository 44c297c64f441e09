import { expect, test } from "bun:test";
import { indexPath, openIndexWriter } from "../../src/db/index/database.ts";
import { verifyIndex } from "../../src/db/index/verify/verify.ts";
import { accountRecords, startTestNode } from "../support/node.ts";
import { cast } from "../support/records.ts";

test("the writer forgets what it remembers of rows that another connection has written meanwhile", () => {
  using node = startTestNode();
  node.ingestAll([...accountRecords(1), cast(1, "first")]);
  {
    using other = openIndexWriter(indexPath(node.dir));
    other.transaction(() => {
      for (const statement of [
        "UPDATE envelopes SET signer_id = signer_id + 100",
        "UPDATE message_signers SET id = id + 100",
      ])
        other.sqlite.exec(statement);
    });
  }
  expect(node.ingestAll([cast(1, "second")])).toEqual(["ok"]);
  expect(verifyIndex(indexPath(node.dir))).toEqual([]);
});

test("a key of a registration that another connection has removed is as unknown as the fid", () => {
  using node = startTestNode();
  node.ingestAll([...accountRecords(1), cast(1, "first")]);
  {
    using other = openIndexWriter(indexPath(node.dir));
    other.sqlite.exec("DELETE FROM fids WHERE fid = 1");
  }
  expect(node.ingestAll([cast(1, "second")])).toEqual(["bad_request.validation_failure"]);
});
