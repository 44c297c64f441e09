import { afterAll, expect, test } from "bun:test";
import {
  getAdminRpcClient,
  getInsecureHubRpcClient,
  Message as TheirMessage,
  OnChainEvent as TheirOnChainEvent,
} from "@farcaster/hub-nodejs";
import { indexPath, openIndexReader } from "../../src/db/index/database.ts";
import { verifyIndex } from "../../src/db/index/verify/verify.ts";
import { toFarcasterSecs } from "../../src/protocol/time.ts";
import { OnChainEvent } from "../../src/protocol/wire/generated/on-chain.ts";
import { loadCastsByHash } from "../../src/read/hydrate/casts.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import { registerEvent, rentEvent, signerEvent } from "../support/events.ts";
import { liveHashes } from "../support/live-messages.ts";
import { IS_LONG } from "../support/long.ts";
import { makeSigner, makeWallet, signedCast } from "../support/messages.ts";
import { startNode, tempDir } from "../support/program.ts";
import { hashOf } from "../support/social.ts";

const KILLS = IS_LONG ? 12 : 3;
const BATCH = 100;
const FIDS = [1, 2, 3, 4];

const dir = tempDir();
afterAll(() => dir[Symbol.dispose]());

test("after kill -9 during bulk submits, acknowledged messages are stored, none is partly applied, and counts equal a recount", async () => {
  const dataDir = `${dir.path}/data`;
  const start = () => startNode({ command: compiledProgram, dataDir, args: ["--set", "hub.admin=true"] });
  const nowSecs = Math.floor(Date.now() / 1000);
  const acknowledged = new Set<`0x${string}`>();
  const sent = new Set<`0x${string}`>();
  let serial = 0;

  for (let kill = 0; kill < KILLS; kill++) {
    const node = await start();
    if (kill === 0) await register(node.hubAddress, nowSecs);
    const hub = getInsecureHubRpcClient(node.hubAddress);
    // Several bulk calls are in flight when the process dies, after a different number of responses each time.
    const responsesBeforeKill = 1 + kill;
    let responses = 0;
    const died = Promise.withResolvers<void>();
    const stream = async () => {
      for (;;) {
        const batch = Array.from({ length: BATCH }, () => {
          const fid = FIDS[serial++ % FIDS.length] ?? 1;
          const bytes = signedCast(fid, `cast ${serial}`, makeSigner(`kill ${fid}`), {
            timestamp: toFarcasterSecs(nowSecs) - 3600 + (serial % 3600),
          });
          return bytes;
        });
        for (const bytes of batch) sent.add(hashOf(bytes));
        const result = await hub.submitBulkMessages({
          messages: batch.map((bytes) => TheirMessage.decode(bytes)),
        });
        if (result.isErr()) return;
        for (const { message } of result.value.messages)
          if (message) acknowledged.add(`0x${Buffer.from(message.hash).toString("hex")}`);
        if (++responses === responsesBeforeKill) {
          await node.kill();
          died.resolve();
        }
      }
    };
    await Promise.all([stream(), stream(), stream(), died.promise]);
    hub.$.close();
  }

  const last = await start();
  expect(await last.stop()).toBe(0);
  using db = openIndexReader(indexPath(dataDir));
  expect(acknowledged.size).toBeGreaterThanOrEqual(KILLS * BATCH);
  expect(loadCastsByHash(db, [...acknowledged]).length).toBe(acknowledged.size);
  for (const hash of liveHashes(db)) expect(sent.has(`0x${hash}`)).toBe(true);
  expect(verifyIndex(indexPath(dataDir))).toEqual([]);
}, 180_000);

test("after SIGTERM during bulk submits, accepted calls get their response, their messages are stored, and the exit code is 0", async () => {
  const dataDir = `${dir.path}/stopped`;
  const nowSecs = Math.floor(Date.now() / 1000);
  const node = await startNode({ command: compiledProgram, dataDir, args: ["--set", "hub.admin=true"] });
  await register(node.hubAddress, nowSecs);
  const hub = getInsecureHubRpcClient(node.hubAddress);
  const acknowledged = new Set<`0x${string}`>();
  let serial = 0;
  const responded = Promise.withResolvers<void>();
  const stream = async () => {
    for (;;) {
      const messages = Array.from({ length: BATCH }, () => {
        const fid = FIDS[serial++ % FIDS.length] ?? 1;
        const timestamp = toFarcasterSecs(nowSecs) - 3600 + (serial % 3600);
        return TheirMessage.decode(
          signedCast(fid, `cast ${serial}`, makeSigner(`kill ${fid}`), { timestamp }),
        );
      });
      const result = await hub.submitBulkMessages({ messages });
      if (result.isErr()) return;
      // A stopping node responds to whole calls or not at all.
      expect(result.value.messages.every(({ message }) => message !== undefined)).toBe(true);
      for (const { message } of result.value.messages)
        if (message) acknowledged.add(`0x${Buffer.from(message.hash).toString("hex")}`);
      responded.resolve();
    }
  };
  const streams = [stream(), stream(), stream()];
  await responded.promise;
  expect(await node.stop()).toBe(0);
  await Promise.all(streams);
  hub.$.close();
  using db = openIndexReader(indexPath(dataDir));
  expect(loadCastsByHash(db, [...acknowledged]).length).toBe(acknowledged.size);
  expect(verifyIndex(indexPath(dataDir))).toEqual([]);
}, 180_000);

async function register(hubAddress: string, nowSecs: number): Promise<void> {
  const admin = await getAdminRpcClient(hubAddress);
  for (const fid of FIDS) {
    const at = nowSecs - 86_400;
    for (const event of [
      registerEvent(fid, makeWallet(`kill ${fid}`).address, { block: 10 + fid, at }),
      signerEvent(fid, makeSigner(`kill ${fid}`).publicKey, { block: 20 + fid, at }),
      rentEvent(fid, 100, { block: 30 + fid, at }),
    ]) {
      const result = await admin.submitOnChainEvent(
        TheirOnChainEvent.decode(OnChainEvent.encode(event).finish()),
      );
      expect(result.isOk()).toBe(true);
    }
  }
  admin.close();
}
