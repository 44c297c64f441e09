import type { Client } from "@grpc/grpc-js";
import { toFarcasterSecs } from "../src/protocol/time.ts";
import { SubmitBulkMessagesRequest, SubmitBulkMessagesResponse } from "../src/protocol/wire/generated/hub.ts";
import { Message } from "../src/protocol/wire/generated/message.ts";
import { OnChainEvent } from "../src/protocol/wire/generated/on-chain.ts";
import { registerEvent, rentEvent, signerEvent } from "../test/support/events.ts";
import { makeSigner, makeWallet, signedCast } from "../test/support/messages.ts";

export const FIDS = 100;
export const MESSAGES_PER_CALL = 500;
const CALLS_AT_ONCE = 4;

export function unixNowSecs(): number {
  return Math.floor(Date.now() / 1000);
}

/** Makes messages with consecutive timestamps in seconds, starting at `startSecs` (Unix). */
export function makeMessages(run: string, startSecs: number, count: number): Message[] {
  return Array.from({ length: count }, (_, n) => {
    const fid = 1 + (n % FIDS);
    const text = `Message ${n} of ${run}, with about as many words in it as people put into one on a usual day.`;
    const timestamp = toFarcasterSecs(startSecs) + Math.floor(n / FIDS);
    return Message.decode(signedCast(fid, text, makeSigner(`bench ${fid}`), { timestamp }));
  });
}

/** Returns the messages as bulk requests. */
export function bulkRequests(messages: readonly Message[]): Buffer[] {
  const requests: Buffer[] = [];
  for (let at = 0; at < messages.length; at += MESSAGES_PER_CALL) {
    const slice = messages.slice(at, at + MESSAGES_PER_CALL);
    requests.push(Buffer.from(SubmitBulkMessagesRequest.encode({ messages: slice }).finish()));
  }
  return requests;
}

/**
 * Submits bulk requests, several at a time. Fails on the first message that is refused for an unexpected reason. Returns how
 * many were merged.
 */
export async function submitAll(
  client: Client,
  requests: Buffer[],
  expected: readonly string[] = [],
): Promise<number> {
  let merged = 0;
  const send = async () => {
    for (let request = requests.pop(); request; request = requests.pop()) {
      const bulkResponse = SubmitBulkMessagesResponse.decode(
        await call(client, "/HubService/SubmitBulkMessages", request),
      );
      for (const { response } of bulkResponse.messages) {
        if (response?.$case === "message") merged += 1;
        else if (!expected.includes(response?.value.errCode ?? ""))
          throw new Error(`a message was refused: ${JSON.stringify(response)}`);
      }
    }
  };
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, send));
  return merged;
}

interface Calls {
  readonly method: string;
  readonly requests: readonly Buffer[];
  readonly atOnce: number;
}

/** Makes unary calls, `atOnce` of them concurrently. Fails on the first refused call. */
export async function callAll(client: Client, { method, requests, atOnce }: Calls): Promise<void> {
  let next = 0;
  const send = async () => {
    for (let request = requests[next++]; request; request = requests[next++])
      await call(client, method, request);
  };
  await Promise.all(Array.from({ length: atOnce }, send));
}

/** Registers the fids of the messages. */
export async function registerAll(client: Client, nowSecs: number): Promise<void> {
  const at = nowSecs - 200_000;
  for (let fid = 1; fid <= FIDS; fid++) {
    for (const event of [
      registerEvent(fid, makeWallet(`bench ${fid}`).address, { block: 1000 + fid, at }),
      signerEvent(fid, makeSigner(`bench ${fid}`).publicKey, { block: 2000 + fid, at }),
      rentEvent(fid, 100, { block: 3000 + fid, at }),
    ])
      await call(
        client,
        "/AdminService/SubmitOnChainEvent",
        Buffer.from(OnChainEvent.encode(event).finish()),
      );
  }
}

function call(client: Client, method: string, request: Buffer): Promise<Buffer> {
  const asBuffer = (bytes: Buffer) => bytes;
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(method, asBuffer, asBuffer, request, (cause, response) => {
      if (cause || !response) reject(cause ?? new Error("no response"));
      else resolve(response);
    });
  });
}
