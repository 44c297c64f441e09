import { afterAll, expect, test } from "bun:test";
import {
  getAdminRpcClient,
  getInsecureHubRpcClient,
  Message as TheirMessage,
  OnChainEvent as TheirOnChainEvent,
} from "@farcaster/hub-nodejs";
import { toFarcasterSecs } from "../../src/protocol/time.ts";
import { OnChainEvent } from "../../src/protocol/wire/generated/on-chain.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import { registerEvent, rentEvent, signerEvent } from "../support/events.ts";
import { IS_LONG } from "../support/long.ts";
import { makeSigner, makeWallet, signedCast } from "../support/messages.ts";
import { type RunningNode, startNode, tempDir } from "../support/program.ts";
import { SseClient, textIn } from "../support/streams.ts";

const KILLS = IS_LONG ? 50 : 2;
const BATCH = 25;
const FIDS = [1, 2, 3];

const dir = tempDir();
afterAll(() => dir[Symbol.dispose]());

/** A client that reads until its stream breaks, and what it has so far. */
class Reader {
  readonly texts: string[] = [];
  readonly #filter: string;
  readonly #transport: "sse" | "websocket";
  #cursor: string | undefined;
  gaps = 0;

  constructor(transport: "sse" | "websocket", filter: string) {
    this.#transport = transport;
    this.#filter = filter;
  }

  async read(url: string): Promise<void> {
    const from = this.#cursor === undefined ? "since=0" : `cursor=${this.#cursor}`;
    const query = `${url}/v2/svc/stream?${this.#filter}&${from}`;
    await (this.#transport === "sse"
      ? this.#readEvents(query)
      : this.#readSocket(query.replace("http", "ws")));
  }

  async #readEvents(url: string): Promise<void> {
    try {
      await using client = await SseClient.open(url);
      for (let frame = await client.next(); frame; frame = await client.next()) {
        if (frame.event === "cast.created") this.texts.push(textIn(frame));
        if (frame.event === "gap") this.gaps += 1;
        this.#cursor = frame.id ?? this.#cursor;
      }
    } catch {
      // The node was killed.
    }
  }

  #readSocket(url: string): Promise<void> {
    return new Promise((resolve) => {
      const socket = new WebSocket(url);
      socket.onmessage = ({ data }) => {
        const frame = JSON.parse(data);
        if (frame.event === "cast.created") this.texts.push(frame.data.data.text);
        if (frame.event === "gap") this.gaps += 1;
        this.#cursor = frame.id ?? this.#cursor;
      };
      socket.onerror = socket.onclose = () => resolve();
    });
  }
}

test(
  "after kill -9, readers of the stream that resume at their cursors get every acknowledged cast once",
  async () => {
    const nowSecs = Math.floor(Date.now() / 1000);
    const acknowledged = new Set<string>();
    let serial = 0;
    const all = [new Reader("sse", "kinds=cast.created"), new Reader("websocket", "kinds=cast.created")];
    const ofOne = new Reader("sse", "kinds=cast.created&author_fids=2");
    const ofText = new Reader("websocket", "kinds=cast.created&text=7$");
    const readers = [...all, ofOne, ofText];
    const castOf = (fid: number, text: string, timestamp: number) =>
      TheirMessage.decode(signedCast(fid, text, makeSigner(`stream ${fid}`), { timestamp }));
    const nextBatch = () =>
      Array.from({ length: BATCH }, () => {
        const fid = FIDS[serial++ % FIDS.length] ?? 1;
        return castOf(fid, `${fid} ${serial}`, toFarcasterSecs(nowSecs) - 300 + (serial % 300));
      });
    /** Every reader's filter has it, and its event is the last one. */
    const LAST = "2 last 7";

    async function run(
      workers: number,
      isEnough: () => boolean,
      end: (node: RunningNode) => Promise<unknown>,
      submits: boolean,
    ) {
      await using node = await startNode({
        command: compiledProgram,
        dataDir: `${dir.path}/data`,
        args: ["--set", "hub.admin=true", "--set", `http.workers=${workers}`],
      });
      if (serial === 0) await register(node.hubAddress, nowSecs);
      const hub = getInsecureHubRpcClient(node.hubAddress);
      const reading = readers.map((reader) => reader.read(node.url));
      const submitting = Array.from({ length: submits ? 2 : 0 }, async () => {
        for (;;) {
          const result = await hub.submitBulkMessages({ messages: nextBatch() });
          if (result.isErr()) return;
          for (const { message } of result.value.messages)
            if (message?.data?.castAddBody) acknowledged.add(message.data.castAddBody.text);
        }
      });
      if (!submits) await hub.submitMessage(castOf(2, LAST, toFarcasterSecs(nowSecs)));
      while (!isEnough()) await Bun.sleep(5);
      await end(node);
      await Promise.all([...submitting, ...reading]);
      hub.close();
    }

    for (let kill = 0; kill < KILLS; kill++) {
      const responses = acknowledged.size + (1 + (kill % 3)) * BATCH;
      const seen = (all[0]?.texts.length ?? 0) + ((kill * 31) % (2 * BATCH));
      const isEnough = () => acknowledged.size >= responses && (all[0]?.texts.length ?? 0) >= seen;
      await run(kill % 2 === 0 ? 4 : 1, isEnough, (node) => node.kill(), true);
    }
    const wanted = {
      one: () => [...acknowledged].filter((text) => text.startsWith("2 ")),
      text: () => [...acknowledged].filter((text) => text.endsWith("7")),
    };
    const has = (reader: Reader, texts: readonly string[]) => {
      const got = new Set(reader.texts);
      return texts.every((text) => got.has(text));
    };
    // Also casts that were not acknowledged are there: all readers get the same ones, and one may have read more of them than another.
    const isComplete = () => {
      const texts = all.flatMap((reader) => reader.texts);
      return (
        readers.every((reader) => has(reader, [LAST])) &&
        all.every((reader) => has(reader, [...acknowledged, ...texts])) &&
        has(ofOne, [...wanted.one(), ...texts.filter((text) => text.startsWith("2 "))]) &&
        has(ofText, [...wanted.text(), ...texts.filter((text) => text.endsWith("7"))])
      );
    };
    await run(4, isComplete, (node) => node.stop(), false);

    for (const reader of readers) {
      expect(reader.gaps).toBe(0);
      expect(new Set(reader.texts).size).toBe(reader.texts.length);
    }
    expect(all[0]?.texts).toEqual(all[1]?.texts ?? []);
    expect(ofOne.texts).toEqual((all[0]?.texts ?? []).filter((text) => text.startsWith("2 ")));
    expect(ofText.texts).toEqual((all[0]?.texts ?? []).filter((text) => text.endsWith("7")));
    expect(acknowledged.size).toBeGreaterThanOrEqual(KILLS * BATCH);
  },
  IS_LONG ? 600_000 : 60_000,
);

async function register(hubAddress: string, nowSecs: number): Promise<void> {
  const admin = await getAdminRpcClient(hubAddress);
  const at = nowSecs - 86_400;
  for (const fid of FIDS)
    for (const event of [
      registerEvent(fid, makeWallet(`stream ${fid}`).address, { block: 10 + fid, at }),
      signerEvent(fid, makeSigner(`stream ${fid}`).publicKey, { block: 20 + fid, at }),
      rentEvent(fid, 100, { block: 30 + fid, at }),
    ]) {
      const result = await admin.submitOnChainEvent(
        TheirOnChainEvent.decode(OnChainEvent.encode(event).finish()),
      );
      expect(result.isOk()).toBe(true);
    }
  admin.close();
}
