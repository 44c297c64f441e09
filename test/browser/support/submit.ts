import { getInsecureHubRpcClient, Message as HubMessage } from "@farcaster/hub-nodejs";
import { toBytes } from "viem";
import { ed25519KeyFromSeed } from "../../../src/protocol/message/build-message.ts";
import { SubmitBulkMessagesRequest } from "../../../src/protocol/wire/generated/hub.ts";
import {
  CastType,
  type DeepPartial,
  Message,
  type MessageData,
  MessageType,
  type UserDataType,
} from "../../../src/protocol/wire/generated/message.ts";
import { keysOfPerson } from "../../support/demo-calls.ts";
import { signMessage, type TestSigner } from "../../support/messages.ts";
import { sharedHub } from "./shared.ts";

const FARCASTER_EPOCH_SECS = 1_609_459_200;

/** A signed message of a person of the demo network. */
export interface DemoMessage {
  readonly bytes: Uint8Array;
  /** `0x` and 40 hex digits. */
  readonly hash: string;
  readonly fid: number;
}

function signerOf(fid: number): TestSigner {
  const key = ed25519KeyFromSeed(toBytes(keysOfPerson(fid).signers[0]?.privateKey ?? "0x"));
  return { privateKey: key.seed, publicKey: key.publicKey, keyObject: key.privateKey };
}

function sign(fid: number, data: DeepPartial<MessageData>, agoSecs: number): DemoMessage {
  const timestamp = Math.floor(Date.now() / 1000) - FARCASTER_EPOCH_SECS - agoSecs;
  const bytes = signMessage({ fid, timestamp, ...data }, signerOf(fid));
  return { bytes, hash: `0x${Buffer.from(Message.decode(bytes).hash).toString("hex")}`, fid };
}

export interface DemoCast {
  readonly text?: string;
  readonly parent?: DemoMessage | string;
  readonly embeds?: readonly string[];
  /** How old it is; later casts are below. */
  readonly agoSecs?: number;
}

/** A cast; `parent` is a cast or a URL. Longer than 1,024 bytes only for people with Pro. */
export function demoCast(
  fid: number,
  { text = "", parent, embeds = [], agoSecs = 0 }: DemoCast,
): DemoMessage {
  const bytes = Buffer.byteLength(text);
  const type =
    bytes > 1024
      ? CastType.CAST_TYPE_TEN_K_CAST
      : bytes > 320
        ? CastType.CAST_TYPE_LONG_CAST
        : CastType.CAST_TYPE_CAST;
  const value = {
    text,
    type,
    embeds: embeds.map((url) => ({ embed: { $case: "url" as const, value: url } })),
    parent:
      parent === undefined
        ? undefined
        : typeof parent === "string"
          ? { $case: "parentUrl" as const, value: parent }
          : {
              $case: "parentCastId" as const,
              value: { fid: parent.fid, hash: Buffer.from(parent.hash.slice(2), "hex") },
            },
  };
  const body = { $case: "castAddBody" as const, value };
  return sign(fid, { type: MessageType.MESSAGE_TYPE_CAST_ADD, body }, agoSecs);
}

/** A field of a profile. */
export function demoUserData(fid: number, type: UserDataType, value: string): DemoMessage {
  const body = { $case: "userDataBody" as const, value: { type, value } };
  return sign(fid, { type: MessageType.MESSAGE_TYPE_USER_DATA_ADD, body }, 0);
}

/** Submits messages; fails unless the node takes each. */
export async function submit(origin: string, messages: readonly DemoMessage[]): Promise<void> {
  const decoded = messages.map(({ bytes }) => Message.decode(bytes));
  const response = await fetch(`${origin}/v1/submitBulkMessages`, {
    method: "POST",
    headers: { "content-type": "application/octet-stream" },
    body: SubmitBulkMessagesRequest.encode({ messages: decoded }).finish() as Uint8Array<ArrayBuffer>,
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`not submitted: ${response.status} ${text}`);
  const { messages: replies = [] } = JSON.parse(text) as { messages?: { messageError?: unknown }[] };
  const refused = replies.find(({ messageError }) => messageError !== undefined);
  if (refused || replies.length !== messages.length)
    throw new Error(`not merged: ${JSON.stringify(refused ?? text)}`);
}

/** Submits messages to the demo node of the process with the official client; fails unless the hub takes each. */
export async function submitOverGrpc(messages: readonly DemoMessage[]): Promise<void> {
  const client = getInsecureHubRpcClient(await sharedHub());
  try {
    for (const { bytes } of messages) {
      const reply = await client.submitMessage(HubMessage.decode(bytes));
      if (reply.isErr()) throw reply.error;
    }
  } finally {
    client.close();
  }
}
