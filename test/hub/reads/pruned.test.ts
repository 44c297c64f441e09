import { expect, test } from "bun:test";
import { indexPath } from "../../../src/db/index/database.ts";
import { startTestHub } from "../../support/hub.ts";
import { DEFAULT_TIMESTAMP } from "../../support/messages.ts";
import { accountRecords, startTestNode } from "../../support/node.ts";
import { cast, hashBytes, uncast } from "../../support/records.ts";

/** Casts that one storage unit of 2025 holds. */
const CASTS_PER_UNIT = 100;

test("a cast that storage pruned is in no read; a removed one shows its remove in GetAllCastMessagesByFid", async () => {
  using node = startTestNode();
  node.ingestAll(accountRecords(1));
  const casts = Array.from({ length: CASTS_PER_UNIT }, (_, n) => cast(1, `cast ${n}`, DEFAULT_TIMESTAMP + n));
  node.merge(casts);
  await using hub = await startTestHub(indexPath(node.dir), { clock: node.clock });
  const { client } = hub;
  const [pruned = cast(1, ""), removed = cast(1, "")] = casts;
  const remove = uncast(1, removed, DEFAULT_TIMESTAMP + 500);
  node.merge([cast(1, "one too many", DEFAULT_TIMESTAMP + 400), remove]);
  for (const record of [pruned, removed]) {
    const found = await client.getCast({ fid: 1, hash: hashBytes(record) });
    expect(found._unsafeUnwrapErr().errCode).toBe("not_found");
  }
  const hashesOf = (messages: readonly { hash: Uint8Array }[]) =>
    messages.map(({ hash }) => Buffer.from(hash).toString("hex"));
  const adds = hashesOf((await client.getCastsByFid({ fid: 1 }))._unsafeUnwrap().messages);
  const all = hashesOf((await client.getAllCastMessagesByFid({ fid: 1 }))._unsafeUnwrap().messages);
  const hashOf = (record: typeof pruned) => hashBytes(record).toString("hex");
  for (const list of [adds, all]) {
    expect(list).not.toContain(hashOf(pruned));
    expect(list).not.toContain(hashOf(removed));
  }
  expect(adds.length).toBe(CASTS_PER_UNIT - 1);
  expect(all).toEqual([...adds, hashOf(remove)]);
});
