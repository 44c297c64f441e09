import { expect, test } from "bun:test";
import type { IndexDatabase } from "../../../src/db/index/database.ts";
import { lastHubBlock } from "../../../src/db/index/log/hub-log.ts";
import { blockOfEvent } from "../../../src/protocol/hub-event-id.ts";
import { toFarcasterSecs } from "../../../src/protocol/time.ts";
import { MessageType } from "../../../src/protocol/wire/generated/message.ts";
import { UpstreamPositions } from "../../../src/upstream/positions.ts";
import { ANCHOR_SECS } from "../../demo/records.ts";
import { gaslessKeyMessage, gaslessKeyRemoval } from "../../support/gasless-keys.ts";
import { startTestHub } from "../../support/hub.ts";
import { liveHashes } from "../../support/live-messages.ts";
import { type LoggedNode, startLoggedNode } from "../../support/logged-node.ts";
import { DEFAULT_TIMESTAMP, makeSigner, signedCast, signMessage } from "../../support/messages.ts";
import { mixedRecords } from "../../support/mixed-records.ts";
import { accountRecords, accountSigner } from "../../support/node.ts";
import { hashOf, linkMessage } from "../../support/social.ts";
import { followLogged } from "../../support/upstream/follow-logged.ts";
import { dumpFollowed } from "../../support/upstream/followed.ts";

/** Farcaster seconds at the end of the demo network. */
const AT = toFarcasterSecs(ANCHOR_SECS) - 1000;

const message = (bytes: Uint8Array) => ({ kind: "message" as const, bytes });
const cast = (fid: number, n: number) =>
  message(signedCast(fid, `cast ${n}`, accountSigner(fid), { timestamp: DEFAULT_TIMESTAMP + n }));

function logOf(db: IndexDatabase, fromId: number): string {
  return db.sqlite
    .query<Record<string, unknown>, [number]>(
      "SELECT shard, id, type, fid, hex(body) AS body FROM hub_events WHERE id >= ? ORDER BY id",
    )
    .all(fromId)
    .map((row) => Object.values(row).join(" "))
    .join("\n");
}

/** Limits and use of the stores of every fid, as readers get them. */
async function storageOf(db: IndexDatabase, { clock }: LoggedNode): Promise<unknown[]> {
  await using hub = await startTestHub(db, { clock });
  const fids = (await hub.client.getFids({ shardId: 1 }))._unsafeUnwrap().fids;
  const limits = await Promise.all(fids.map((fid) => hub.client.getCurrentStorageLimitsByFid({ fid })));
  const proofs = limits.flatMap((one) =>
    one._unsafeUnwrap().limits.filter(({ name, used }) => name === "USERNAME_PROOFS" && used > 0),
  );
  expect(proofs.length).toBeGreaterThan(0);
  return limits.map((one) => one._unsafeUnwrap());
}

test("a node that follows a node of its own ends with its state, its event ids, and the keys of its users", async () => {
  await using node = await startLoggedNode();
  node.clock.setSecs(ANCHOR_SECS);
  node.merge(...mixedRecords({ fids: 4, perType: 5 }));
  node.merge(...accountRecords(9001), ...accountRecords(9002), cast(9001, 1));
  await using follower = followLogged(node);
  await follower.caughtUp();
  const firstLive = (lastHubBlock(node.db, 1) ?? 0) + 1;
  for (let n = 2; n < 30; n++) node.merge(cast(9001 + (n % 2), n));
  const key = makeSigner("a gasless key");
  expect(
    node.merge(
      message(
        gaslessKeyMessage({ fid: 9001, signer: key, requestFid: 9002, ttlSecs: 86_400, nonce: 1, at: AT }),
      ),
    ),
  ).toEqual(["ok"]);
  const signed = signedCast(9001, "by a gasless key", key, { timestamp: AT + 40 });
  expect(node.merge(message(signed))).toEqual(["ok"]);
  await follower.caughtUp();
  expect(dumpFollowed(follower.db)).toBe(dumpFollowed(node.db));
  expect(follower.db.sqlite.query("SELECT count(*) AS n FROM gasless_keys").get()).toEqual({ n: 1 });
  expect(await storageOf(follower.db, node)).toEqual(await storageOf(node.db, node));
  const fromId = firstLive * 2 ** 14;
  expect(logOf(follower.db, fromId)).toBe(logOf(node.db, fromId));
  expect(
    node.merge(message(gaslessKeyRemoval({ fid: 9001, signer: key, nonce: 2, by: "itself", at: AT + 60 }))),
  ).toEqual(["ok"]);
  await follower.caughtUp();
  expect(follower.db.sqlite.query("SELECT count(*) AS n FROM gasless_keys").get()).toEqual({ n: 0 });
  expect(follower.faults).toEqual([]);
});

test("a link that a compact state removes in the commit that merged it is removed from the node that follows, too", async () => {
  await using node = await startLoggedNode();
  node.merge(
    ...accountRecords(9001),
    message(linkMessage(9001, "follow", 1, { at: DEFAULT_TIMESTAMP - 20 })),
  );
  await using follower = followLogged(node);
  await follower.caughtUp();
  const state = signMessage(
    {
      type: MessageType.MESSAGE_TYPE_LINK_COMPACT_STATE,
      fid: 9001,
      body: { $case: "linkCompactStateBody", value: { type: "follow", targetFids: [2] } },
    },
    accountSigner(9001),
  );
  const links = [
    linkMessage(9001, "follow", 2, { at: DEFAULT_TIMESTAMP - 10 }),
    linkMessage(9001, "follow", 3, { at: DEFAULT_TIMESTAMP - 10 }),
    linkMessage(9001, "follow", 4, { at: DEFAULT_TIMESTAMP - 10, remove: true }),
  ];
  expect(node.merge(...[...links, state].map(message))).toEqual(["ok", "ok", "ok", "ok"]);
  await follower.caughtUp();
  const kept = [links[0], state].map((bytes) => hashOf(bytes ?? state).slice(2)).sort();
  expect(liveHashes(node.db).sort()).toEqual(kept);
  expect(liveHashes(follower.db).sort()).toEqual(kept);
  expect(dumpFollowed(follower.db)).toBe(dumpFollowed(node.db));
  expect(follower.faults).toEqual([]);
});

test("a node whose log is empty can be followed from its first block on", async () => {
  await using node = await startLoggedNode();
  await using follower = followLogged(node);
  while (follower.faults.length === 0 && new UpstreamPositions(follower.db).stage === undefined)
    await Bun.sleep(5);
  node.merge(...accountRecords(9001), cast(9001, 1));
  await follower.caughtUp();
  expect(blockOfEvent(1 + (lastHubBlock(node.db, 1) ?? 0) * 2 ** 14)).toBe(lastHubBlock(follower.db, 1) ?? 0);
  expect(dumpFollowed(follower.db)).toBe(dumpFollowed(node.db));
  expect(follower.faults).toEqual([]);
});
