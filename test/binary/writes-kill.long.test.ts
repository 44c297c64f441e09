import { afterAll, expect, test } from "bun:test";
import { createKeyring } from "../../src/demo/keys.ts";
import { seededRandom } from "../../src/demo/random.ts";
import { clientFidsOf } from "../../src/demo/roster.ts";
import { buildMessage } from "../../src/protocol/message/build-message.ts";
import { encodeMessage } from "../../src/protocol/message/signed-message.ts";
import { toFarcasterSecs } from "../../src/protocol/time.ts";
import { FarcasterNetwork, MessageData, MessageType } from "../../src/protocol/wire/generated/message.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import { importSignerOfPerson } from "../support/demo-calls.ts";
import { IS_LONG } from "../support/long.ts";
import { until } from "../support/manual-time.ts";
import { type RunningNode, startNode, tempDir } from "../support/program.ts";
import { signedHeaders } from "../support/signing.ts";

/** Kills of the node and of the upstream, in turns at random. */
const KILLS = 200;
const WRITERS = 50;
const MAX_MS_BETWEEN_KILLS = 1_500;
const SEED = process.env.WRITES_KILL_SEED ?? "writes";
const OWNER_FID = 3;

const dir = tempDir();
afterAll(() => dir[Symbol.dispose]());
const keyring = createKeyring();

interface Write {
  /** Its author and text, which no other write has. */
  readonly fid: number;
  readonly text: string;
  readonly path: string;
  readonly contentType: string;
  readonly body: string | Buffer<ArrayBuffer>;
  readonly idem: string;
  /** The first response that is not about another attempt; undefined without one. */
  status?: number;
  /** Every response with 2xx, which must be equal. */
  readonly bodies: Set<string>;
}

const PEOPLE = Array.from({ length: 40 }, (_, n) => 3 + n);

/** A cast of a person of the demo network: signed by them, or as `publishCast` sends it to the managed signer of theirs. */
function newWrite(serial: number, signers: ReadonlyMap<number, string>): Write {
  const fid = PEOPLE[serial % PEOPLE.length] ?? 0;
  const text = `write ${serial}`;
  const write = { fid, text, idem: text, bodies: new Set<string>() };
  // In turns for each person.
  if (Math.floor(serial / PEOPLE.length) % 2 === 0) {
    const body = JSON.stringify({ signer_uuid: signers.get(fid), text });
    return { ...write, path: "/cast/", contentType: "application/json", body };
  }
  const data = MessageData.fromPartial({
    type: MessageType.MESSAGE_TYPE_CAST_ADD,
    fid,
    timestamp: toFarcasterSecs(Math.floor(Date.now() / 1000)),
    network: FarcasterNetwork.FARCASTER_NETWORK_MAINNET,
    body: { $case: "castAddBody", value: { text } },
  });
  const message = buildMessage(data, keyring.signer(fid, clientFidsOf(fid)[0] ?? 0));
  const body = Buffer.from(encodeMessage(message));
  return { ...write, path: "/message/", contentType: "application/octet-stream", body };
}

/** How often each text is there, of all people. */
async function textsOn(url: string): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const fid of PEOPLE) {
    for (let token: string | undefined; token !== ""; ) {
      const from = token === undefined ? "" : `&pageToken=${token}`;
      const response = await fetch(`${url}/v1/castsByFid?fid=${fid}&pageSize=1000${from}`);
      // biome-ignore lint/suspicious/noExplicitAny: messages in the JSON of hubs
      const page = (await response.json()) as any;
      for (const { data } of page.messages)
        if (data.castAddBody) counts.set(data.castAddBody.text, (counts.get(data.castAddBody.text) ?? 0) + 1);
      token = page.nextPageToken;
    }
  }
  return counts;
}

async function createKey(url: string): Promise<string> {
  const body = JSON.stringify({ name: "kill", scopes: ["write"] });
  const headers = await signedHeaders({
    method: "POST",
    path: "/api_key",
    body,
    fid: OWNER_FID,
    signedAt: Math.floor(Date.now() / 1000),
    wallet: keyring.custody(OWNER_FID),
  });
  const response = await fetch(`${url}/v2/svc/api_key`, { method: "POST", headers, body });
  const { secret } = (await response.json()) as { secret?: string };
  if (!secret) throw new Error(`no key: ${response.status}`);
  return secret;
}

// Starts of three programs take too long for the suite, which restarts the writes in `test/writes/service.test.ts`.
test.skipIf(!IS_LONG)(
  "after kill -9 of the node and of its upstream, every 2xx is there once, and nothing that was refused",
  async () => {
    const random = seededRandom(SEED);
    const upstreamDir = `${dir.path}/upstream`;
    const nodeDir = `${dir.path}/node`;
    const startUpstream = (port?: string) =>
      startNode({
        command: compiledProgram,
        dataDir: upstreamDir,
        args: port === undefined ? [] : ["--set", `hub.port=${port}`],
        demo: true,
      });
    let upstream: RunningNode = await startUpstream();
    const hubPort = upstream.hubAddress.split(":").at(-1) ?? "";
    const settings = ["--set", `upstream.url=http://127.0.0.1:${hubPort}`];
    const limits = [
      ...["--set", "writes.confirm_timeout_ms=500", "--set", "api_keys.writes_per_minute=1000000"],
      ...["--set", "writes.fid_messages_per_hour=1000000"],
      ...["--set", "api_keys.units_per_minute=1000000000", "--set", "api_keys.burst_units=1000000000"],
      ...["--set", `signers.encryption_key=${"5a".repeat(32)}`],
    ];
    const startFollower = () =>
      startNode({ command: compiledProgram, dataDir: nodeDir, args: [...settings, ...limits] });
    let node: RunningNode = await startFollower();
    const isReady = async () => (await fetch(`${node.url}/ready`).catch(() => undefined))?.status === 200;
    await until(isReady);
    const key = await createKey(node.url);
    const signers = new Map<number, string>();
    for (const user of PEOPLE)
      signers.set(user, await importSignerOfPerson(node, { user, owner: OWNER_FID }));

    const writes: Write[] = [];
    let isDone = false;
    /** Repeats a write until it has a response of its own. */
    async function carryThrough(write: Write): Promise<void> {
      for (;;) {
        const response = await fetch(`${node.url}/v2/farcaster${write.path}`, {
          method: "POST",
          headers: { "x-api-key": key, "content-type": write.contentType, "idempotency-key": write.idem },
          body: write.body,
        }).catch(() => undefined);
        const body = await response?.text().catch(() => undefined);
        if (response && body !== undefined && response.headers.get("x-error-code") !== "in_progress") {
          write.status = response.status;
          if (response.ok) write.bodies.add(body);
          return;
        }
        await Bun.sleep(50);
      }
    }
    const writers = Array.from({ length: WRITERS }, async () => {
      while (!isDone) {
        const write = newWrite(writes.length, signers);
        writes.push(write);
        await carryThrough(write);
        // What got a response gets the same one again.
        if (write.status === 200 && random.below(4) === 0) await carryThrough(write);
        if (write.status === 503) await Bun.sleep(100);
      }
    });
    for (let kill = 0; kill < KILLS; kill++) {
      await Bun.sleep(random.below(MAX_MS_BETWEEN_KILLS));
      if (kill % 2 === 0) {
        await node.kill();
        node = await startFollower();
      } else {
        await upstream.kill();
        upstream = await startUpstream(hubPort);
      }
    }
    isDone = true;
    await Promise.all(writers);

    const queued = async () => {
      const response = await fetch(`${node.url}/status`).catch(() => undefined);
      const status = (await response?.json()) as { writes?: { queued: number } } | undefined;
      return status?.writes?.queued;
    };
    await until(async () => {
      await Bun.sleep(100);
      return (await queued()) === 0;
    });
    const there = await textsOn(upstream.url);
    const byStatus: Record<string, number> = {};
    const wrong: unknown[] = [];
    for (const write of writes) {
      const { status = 0, bodies, text, path } = write;
      byStatus[status] = (byStatus[status] ?? 0) + 1;
      const isSuccess = status === 200 || status === 202;
      const times = there.get(text) ?? 0;
      if (times !== (isSuccess ? 1 : 0) || bodies.size > 1)
        wrong.push({ path, status, times, bodies: [...bodies] });
    }
    expect(wrong).toEqual([]);
    expect(byStatus[200] ?? 0).toBeGreaterThan(WRITERS);
    expect(Object.keys(byStatus).filter((status) => !["200", "202", "503"].includes(status))).toEqual([]);
    console.log("writes by status", byStatus);
    expect(await node.stop()).toBe(0);
    expect(await upstream.stop()).toBe(0);
  },
  1_200_000,
);
