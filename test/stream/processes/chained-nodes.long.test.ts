import { afterAll, expect, test } from "bun:test";
import { setTimeout as sleep } from "node:timers/promises";
import {
  getAdminRpcClient,
  getInsecureHubRpcClient,
  Message as TheirMessage,
  OnChainEvent as TheirOnChainEvent,
} from "@farcaster/hub-nodejs";
import { toFarcasterSecs } from "../../../src/protocol/time.ts";
import { OnChainEvent } from "../../../src/protocol/wire/generated/on-chain.ts";
import { compiledProgram } from "../../support/compiled-program.ts";
import { registerEvent, rentEvent, signerEvent } from "../../support/events.ts";
import { IS_LONG } from "../../support/long.ts";
import { makeSigner, makeWallet, signedCast } from "../../support/messages.ts";
import { type RunningNode, startNode, tempDir } from "../../support/program.ts";
import { SseClient, textIn } from "../../support/streams.ts";

const FIDS = [1, 2, 3];
const CASTS = 300;
const BATCH = 10;
/** A reader that moves between nodes reads about this many frames of each. */
const FRAMES_OF_A_NODE = 20;

const dir = tempDir();
afterAll(() => dir[Symbol.dispose]());

function start(name: string, upstream?: RunningNode): Promise<RunningNode> {
  return startNode({
    command: compiledProgram,
    dataDir: `${dir.path}/${name}`,
    args: upstream
      ? ["--set", `upstream.url=http://${upstream.hubAddress}`, "--set", "http.workers=1"]
      : ["--set", "hub.admin=true", "--set", "http.workers=1"],
  });
}

async function untilLive(node: RunningNode): Promise<void> {
  for (;;) {
    const status = (await (await fetch(`${node.url}/status`)).json()) as { upstream: { phase: string } };
    if (status.upstream.phase === "live") return;
    await sleep(20);
  }
}

async function register(node: RunningNode, nowSecs: number): Promise<void> {
  const admin = await getAdminRpcClient(node.hubAddress);
  const at = nowSecs - 86_400;
  for (const fid of FIDS)
    for (const event of [
      registerEvent(fid, makeWallet(`chain ${fid}`).address, { block: 10 + fid, at }),
      signerEvent(fid, makeSigner(`chain ${fid}`).publicKey, { block: 20 + fid, at }),
      rentEvent(fid, 100, { block: 30 + fid, at }),
    ]) {
      const theirs = TheirOnChainEvent.decode(OnChainEvent.encode(event).finish());
      expect((await admin.submitOnChainEvent(theirs)).isOk()).toBe(true);
    }
  admin.close();
}

/** Reads the casts after a cursor, from one node after the other, until it has all of them. A gap ends it. */
async function read(nodes: () => readonly RunningNode[], framesOfANode: number): Promise<string[]> {
  const texts: string[] = [];
  let cursor: string | undefined;
  for (let turn = 0; new Set(texts).size < CASTS; turn++) {
    const all = nodes();
    const node = all[turn % all.length];
    const from = cursor === undefined ? "since=0" : `cursor=${cursor}`;
    try {
      await using client = await SseClient.open(`${node?.url}/v2/svc/stream?kinds=cast.created&${from}`);
      // Too many streams of this address: the ends of the last ones have not arrived yet.
      if (client.response.status === 429) {
        await sleep(20);
        continue;
      }
      if (client.response.status !== 200) return [...texts, `status ${client.response.status}`];
      for (let left = framesOfANode; left > 0 && new Set(texts).size < CASTS; left--) {
        const frame = await client.next();
        if (!frame) break;
        if (frame.event === "gap") return [...texts, "a gap"];
        if (frame.event === "cast.created") texts.push(textIn(frame));
        cursor = frame.id ?? cursor;
      }
    } catch {
      // The node was killed, or is not back yet.
      await sleep(20);
    }
  }
  return texts;
}

test.skipIf(!IS_LONG)(
  "a node that follows a follower streams each event once over its kill, and cursors move between the two",
  async () => {
    const nowSecs = Math.floor(Date.now() / 1000);
    await using first = await start("first");
    await register(first, nowSecs);
    await using second = await start("second", first);
    let third = await start("third", second);
    await Promise.all([untilLive(second), untilLive(third)]);
    const reading = Promise.all([
      read(() => [third], Number.POSITIVE_INFINITY),
      read(() => [third, second], FRAMES_OF_A_NODE),
    ]);

    const written: string[] = [];
    async function write(count: number, through: RunningNode): Promise<void> {
      const hub = getInsecureHubRpcClient(through.hubAddress);
      for (const end = written.length + count; written.length < end; ) {
        const messages = Array.from({ length: BATCH }, (_, n) => {
          const fid = FIDS[n % FIDS.length] ?? 1;
          const text = `cast ${written.length + n}`;
          const timestamp = toFarcasterSecs(nowSecs) - 300 + n;
          return TheirMessage.decode(signedCast(fid, text, makeSigner(`chain ${fid}`), { timestamp }));
        });
        const { messages: results } = (await hub.submitBulkMessages({ messages }))._unsafeUnwrap();
        written.push(...results.flatMap(({ message }) => message?.data?.castAddBody?.text ?? []));
      }
      hub.close();
    }

    // Each hands the messages on to the node that it follows.
    await write(CASTS / 3, third);
    await third.kill();
    await write(CASTS / 3, second);
    third = await start("third", second);
    await write(CASTS / 3, third);
    const [ofThird, ofBoth] = await reading;
    await third.stop();

    expect(ofThird).toEqual(written);
    const firsts = ofBoth.filter((text, at) => ofBoth.indexOf(text) === at);
    expect(firsts.toSorted()).toEqual(written.toSorted());
    // What is repeated is of the blocks of the position of the reader.
    expect(ofBoth.length - firsts.length).toBeLessThan((ofBoth.length / FRAMES_OF_A_NODE) * 2 * BATCH);
  },
  180_000,
);
