import { Client, credentials } from "@grpc/grpc-js";
import { Message } from "../src/protocol/wire/generated/message.ts";
import { makeWallet } from "../test/support/messages.ts";
import { fromSources, startNode, tempDir } from "../test/support/program.ts";
import { signedHeaders } from "../test/support/signing.ts";
import type { Figure } from "./main.ts";
import { median } from "./start.ts";
import { callAll, makeMessages, registerAll, unixNowSecs } from "./submits.ts";

const ROUNDS = 5;
const MESSAGES = 1_000;
const AT_ONCE = 32;
const OWNER_FID = 1;
const BASELINE = "SubmitMessage, unary";

/**
 * Measures signed messages over HTTP, each answered when it is on disk, in turns with unary SubmitMessage over gRPC, on a node that
 * follows none: with an API key, and with an idempotency key, which is stored before and settled after the message.
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
    ],
  });
  const client = new Client(node.hubAddress, credentials.createInsecure());
  const nowSecs = unixNowSecs();
  await registerAll(client, nowSecs);
  const key = await createKey(node.url, nowSecs, ["write"]);
  const publish = async (messages: readonly Message[], idem?: string) => {
    let next = 0;
    const send = async () => {
      for (let at = next++; at < messages.length; at = next++) {
        const response = await fetch(`${node.url}/v2/farcaster/message/`, {
          method: "POST",
          headers: {
            "x-api-key": key,
            "content-type": "application/octet-stream",
            ...(idem === undefined ? {} : { "idempotency-key": `${idem} ${at}` }),
          },
          body: Buffer.from(Message.encode(messages[at] as Message).finish()),
        });
        if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
        await response.arrayBuffer();
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, send));
  };
  const ways: Readonly<Record<string, (messages: readonly Message[], run: string) => Promise<void>>> = {
    [BASELINE]: (messages) =>
      callAll(client, {
        method: "/HubService/SubmitMessage",
        requests: messages.map((message) => Buffer.from(Message.encode(message).finish())),
        atOnce: AT_ONCE,
      }),
    "POST /message": (messages) => publish(messages),
    "POST /message with Idempotency-Key": (messages, run) => publish(messages, run),
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

/** Creates an API key of fid 1, which `registerAll` has registered. */
export async function createKey(url: string, nowSecs: number, scopes: readonly string[]): Promise<string> {
  const body = JSON.stringify({ name: "bench", scopes });
  const headers = await signedHeaders({
    method: "POST",
    path: "/api_key",
    body,
    fid: OWNER_FID,
    signedAt: nowSecs,
    wallet: makeWallet(`bench ${OWNER_FID}`),
  });
  const response = await fetch(`${url}/v2/svc/api_key`, { method: "POST", headers, body });
  const { secret } = (await response.json()) as { secret?: string };
  if (!secret) throw new Error(`no API key: ${response.status}`);
  return secret;
}
