import { Client, credentials } from "@grpc/grpc-js";
import { Message } from "../src/protocol/wire/generated/message.ts";
import { makeSigner, makeWallet } from "../test/support/messages.ts";
import { fromSources, startNode, tempDir } from "../test/support/program.ts";
import { signedHeaders } from "../test/support/signing.ts";
import type { Figure } from "./main.ts";
import { median } from "./start.ts";
import { callAll, FIDS, makeMessages, registerAll, unixNowSecs } from "./submits.ts";

const ROUNDS = 5;
const MESSAGES = 1_000;
const AT_ONCE = 32;
const OWNER_FID = 1;
const BASELINE = "SubmitMessage, unary";

/**
 * Measures signed messages over HTTP, each with a response once it is on disk, alternately with unary SubmitMessage over
 * gRPC, on a node that follows no other: with an API key, and with an idempotency key, which is stored before and settled
 * after the message. Then it measures the same casts as sent by `publishCast` of the SDK, signed by managed signers.
 */
export async function benchWrites(): Promise<Figure[]> {
  using dir = tempDir();
  await using node = await startNode({
    command: fromSources,
    dataDir: `${dir.path}/data`,
    args: [
      ...["--set", "hub.admin=true", "--set", "http.workers=1"],
      ...["--set", "api_keys.writes_per_minute=1000000", "--set", "api_keys.units_per_minute=1000000000"],
      ...["--set", "writes.fid_messages_per_hour=1000000"],
      ...["--set", `signers.encryption_key=${"5a".repeat(32)}`],
    ],
  });
  const client = new Client(node.hubAddress, credentials.createInsecure());
  const nowSecs = unixNowSecs();
  await registerAll(client, nowSecs);
  const key = await createKey(node.url, nowSecs, ["write"]);
  const signers = await importSigners(node.url, nowSecs);
  /** Sends a request for each message, `AT_ONCE` of them concurrently. */
  const postAll = async (messages: readonly Message[], requestOf: (at: number) => Post) => {
    let next = 0;
    const send = async () => {
      for (let at = next++; at < messages.length; at = next++) {
        const { path, headers, body } = requestOf(at);
        const response = await fetch(`${node.url}/v2/farcaster${path}`, {
          method: "POST",
          headers: { "x-api-key": key, ...headers },
          body,
        });
        if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
        await response.arrayBuffer();
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, send));
  };
  const publish = (messages: readonly Message[], idem?: string) =>
    postAll(messages, (at) => ({
      path: "/message/",
      headers: {
        "content-type": "application/octet-stream",
        ...(idem === undefined ? {} : { "idempotency-key": `${idem} ${at}` }),
      },
      body: Buffer.from(Message.encode(messages[at] as Message).finish()),
    }));
  const publishCasts = (messages: readonly Message[], run: string) =>
    postAll(messages, (at) => {
      const text = `Message ${at} of ${run}, with about as many words in it as people put into one on a usual day.`;
      return {
        path: "/cast/",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ signer_uuid: signers[at % FIDS], text }),
      };
    });
  const ways: Readonly<Record<string, (messages: readonly Message[], run: string) => Promise<void>>> = {
    [BASELINE]: (messages) =>
      callAll(client, {
        method: "/HubService/SubmitMessage",
        requests: messages.map((message) => Buffer.from(Message.encode(message).finish())),
        atOnce: AT_ONCE,
      }),
    "POST /message": (messages) => publish(messages),
    "POST /message with Idempotency-Key": (messages, run) => publish(messages, run),
    publishCast: publishCasts,
  };
  const rates: Record<string, number[]> = {};
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [name, send] of Object.entries(ways)) {
      const run = `${name} ${round}`;
      const messages = makeMessages(run, nowSecs - 100_000 + 100 * round, MESSAGES);
      const startedMs = performance.now();
      await send(messages, run);
      const rate = (MESSAGES / (performance.now() - startedMs)) * 1000;
      // The first round warms up.
      if (round > 0) rates[name] = [...(rates[name] ?? []), rate];
    }
  }
  client.close();
  const baseline = median(rates[BASELINE] ?? []);
  return Object.entries(rates).map(([name, all]) => {
    const value = median(all);
    const ratio = name === BASELINE ? undefined : { of: BASELINE, value: value / baseline };
    return { what: name, value, unit: "messages/s", ratio };
  });
}

interface Post {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer<ArrayBuffer>;
}

/** Imports the keys of all fids as managed signers of fid 1. Returns them in the order of the fids. */
async function importSigners(url: string, nowSecs: number): Promise<string[]> {
  const signers: string[] = [];
  for (let fid = 1; fid <= FIDS; fid++) {
    const private_key = `0x${Buffer.from(makeSigner(`bench ${fid}`).privateKey).toString("hex")}`;
    const body = { private_key, fid };
    const response = (await postAsOwner(url, nowSecs, "/managed_signer/import", body)) as {
      signer: { signer_uuid: string };
    };
    signers.push(response.signer.signer_uuid);
  }
  return signers;
}

/** Creates an API key of fid 1, which `registerAll` has registered. */
export async function createKey(url: string, nowSecs: number, scopes: readonly string[]): Promise<string> {
  const { secret } = (await postAsOwner(url, nowSecs, "/api_key", { name: "bench", scopes })) as {
    secret: string;
  };
  return secret;
}

async function postAsOwner(url: string, nowSecs: number, path: string, fields: object): Promise<unknown> {
  const body = JSON.stringify(fields);
  const headers = await signedHeaders({
    method: "POST",
    path,
    body,
    fid: OWNER_FID,
    signedAt: nowSecs,
    wallet: makeWallet(`bench ${OWNER_FID}`),
  });
  const response = await fetch(`${url}/v2/svc${path}`, { method: "POST", headers, body });
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
}
