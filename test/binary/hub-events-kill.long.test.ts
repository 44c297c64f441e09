import { afterAll, expect, test } from "bun:test";
import {
  type ClientReadableStream,
  getAdminRpcClient,
  getInsecureHubRpcClient,
  type HubEvent,
  type Metadata,
  Message as TheirMessage,
  OnChainEvent as TheirOnChainEvent,
} from "@farcaster/hub-nodejs";
import { indexPath } from "../../src/db/index/database.ts";
import { verifyIndex } from "../../src/db/index/verify/verify.ts";
import { blockOfEvent } from "../../src/protocol/hub-event-id.ts";
import { toFarcasterSecs } from "../../src/protocol/time.ts";
import { OnChainEvent } from "../../src/protocol/wire/generated/on-chain.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import { registerEvent, rentEvent, signerEvent } from "../support/events.ts";
import { IS_LONG } from "../support/long.ts";
import { makeSigner, makeWallet, signedCast } from "../support/messages.ts";
import { type RunningNode, startNode, tempDir } from "../support/program.ts";

const KILLS = IS_LONG ? 50 : 2;
const BATCH = 50;
const FIDS = [1, 2, 3];
const CONFIRMED = 11;

const dir = tempDir();
afterAll(() => dir[Symbol.dispose]());

test(
  "after kill -9, a subscriber that resumes at its last id gets every acknowledged message, and whole blocks without a gap",
  async () => {
    const dataDir = `${dir.path}/data`;
    const nowSecs = Math.floor(Date.now() / 1000);
    const acknowledged = new Set<string>();
    const events: HubEvent[] = [];
    let serial = 0;
    const nextBatch = () =>
      Array.from({ length: BATCH }, () => {
        const fid = FIDS[serial++ % FIDS.length] ?? 1;
        const timestamp = toFarcasterSecs(nowSecs) - 3600 + (serial % 3600);
        return signedCast(fid, `cast ${serial}`, makeSigner(`hub events ${fid}`), { timestamp });
      });

    /** Runs the node until `isEnough`, and follows its events from the last one that arrived before. */
    async function run({ submitters, isEnough, end }: Run): Promise<void> {
      await using node = await startNode({
        command: compiledProgram,
        dataDir,
        args: ["--set", "hub.admin=true"],
      });
      if (events.length === 0) await register(node.hubAddress, nowSecs);
      const hub = getInsecureHubRpcClient(node.hubAddress);
      const resumedId = events.at(-1)?.id;
      const stream = (
        await hub.subscribe({ eventTypes: [], fromId: resumedId ?? 0, shardIndex: 1 })
      )._unsafeUnwrap() as ClientReadableStream<HubEvent>;
      const opened = Promise.withResolvers<Metadata>();
      const enough = Promise.withResolvers<void>();
      const ended = Promise.withResolvers<void>();
      let first: HubEvent | undefined;
      stream.on("metadata", opened.resolve);
      stream.on("data", (event: HubEvent) => {
        // Only the resumed event arrives twice.
        if (first !== undefined || resumedId === undefined) events.push(event);
        first ??= event;
        opened.promise.then((metadata) => {
          if (isEnough(metadata)) enough.resolve();
        });
      });
      stream.on("error", () => ended.resolve());
      stream.on("end", () => ended.resolve());
      const submitting = Array.from({ length: submitters }, async () => {
        for (;;) {
          const messages = nextBatch().map((bytes) => TheirMessage.decode(bytes));
          const result = await hub.submitBulkMessages({ messages });
          if (result.isErr()) return;
          for (const { message } of result.value.messages) if (message) acknowledged.add(hex(message.hash));
        }
      });
      await enough.promise;
      await end(node);
      await Promise.all([...submitting, ended.promise]);
      hub.close();
      expect((await opened.promise).get("x-events-missing")).toEqual([]);
      if (resumedId !== undefined) expect(first?.id).toBe(resumedId);
    }

    for (let kill = 0; kill < KILLS; kill++) {
      // Other numbers of events and of responses each time, so that the process dies at other points of its work.
      const enoughEvents = events.length + ((kill * 97) % (4 * BATCH));
      const enoughResponses = acknowledged.size + (1 + (kill % 3)) * BATCH;
      await run({
        submitters: 3,
        isEnough: () => events.length > enoughEvents && acknowledged.size >= enoughResponses,
        end: (node) => node.kill(),
      });
    }
    await run({
      submitters: 0,
      isEnough: (metadata) => `1=${events.at(-1)?.id}` === `${metadata.get("x-head-event-id")[0]}`,
      end: (node) => node.stop(),
    });

    const ids = events.map(({ id }) => id);
    expect(ids.every((id, at) => at === 0 || id > (ids[at - 1] ?? 0))).toBe(true);
    const merged = new Set(
      events.flatMap(({ mergeMessageBody: merge }) => (merge?.message ? [hex(merge.message.hash)] : [])),
    );
    expect([...acknowledged].filter((hash) => !merged.has(hash))).toEqual([]);
    expect(acknowledged.size).toBeGreaterThanOrEqual(KILLS * BATCH);
    expectWholeBlocks(events);
    expect(verifyIndex(indexPath(dataDir))).toEqual([]);
  },
  IS_LONG ? 600_000 : 120_000,
);

interface Run {
  readonly submitters: number;
  /** Called after each event with the metadata of the stream. */
  readonly isEnough: (metadata: Metadata) => boolean;
  readonly end: (node: RunningNode) => Promise<unknown>;
}

function hex(hash: Uint8Array): string {
  return Buffer.from(hash).toString("hex");
}

/** Checks that heights have no gap, and that each block has the events that its confirmation counts. */
function expectWholeBlocks(events: readonly HubEvent[]): void {
  const blocks = [...Map.groupBy(events, ({ id }) => blockOfEvent(id))];
  for (const [at, [height, [confirmation, ...others]]] of blocks.entries()) {
    if (at > 0) expect(height).toBe((blocks[at - 1]?.[0] ?? 0) + 1);
    expect(Number(confirmation?.type)).toBe(CONFIRMED);
    expect(others.length + 1).toBe(confirmation?.blockConfirmedBody?.totalEvents ?? 0);
  }
}

async function register(hubAddress: string, nowSecs: number): Promise<void> {
  const admin = await getAdminRpcClient(hubAddress);
  const at = nowSecs - 86_400;
  for (const fid of FIDS)
    for (const event of [
      registerEvent(fid, makeWallet(`hub events ${fid}`).address, { block: 10 + fid, at }),
      signerEvent(fid, makeSigner(`hub events ${fid}`).publicKey, { block: 20 + fid, at }),
      rentEvent(fid, 100, { block: 30 + fid, at }),
    ]) {
      const result = await admin.submitOnChainEvent(
        TheirOnChainEvent.decode(OnChainEvent.encode(event).finish()),
      );
      expect(result.isOk()).toBe(true);
    }
  admin.close();
}
