import { expect } from "bun:test";
import {
  type CastAddBody,
  type DeepPartial,
  MessageType,
  ReactionType,
  type UserDataType,
} from "../../src/protocol/wire/generated/message.ts";
import { DEFAULT_TIMESTAMP, signMessage } from "./messages.ts";
import { accountRecords, accountSigner, type TestNode } from "./node.ts";
import { hashOf, linkMessage, reactionMessage } from "./social.ts";

export type Hash = `0x${string}`;

/** A cast; `at` is in seconds after the start of the graph. */
export interface Posted {
  readonly fid: number;
  readonly at: number;
  readonly hash: Hash;
}

/**
 * A network that is written message by message, each through validation and merge. Times are seconds after its start.
 */
export interface Graph {
  readonly node: TestNode;
  account(fid: number): void;
  post(fid: number, at: number, value: DeepPartial<CastAddBody>): Posted;
  reply(fid: number, at: number, parent: Posted, text?: string): Posted;
  quote(fid: number, at: number, quoted: Posted): Posted;
  remove(cast: Posted): void;
  like(fid: number, at: number, cast: Posted): void;
  recast(fid: number, at: number, cast: Posted): void;
  link(fid: number, type: "follow" | "block" | "mute", targetFid: number, at?: number): void;
  userData(fid: number, type: UserDataType, value: string): void;
}

/** Early enough before the node's time for a day of messages. */
const START = DEFAULT_TIMESTAMP - 86_400;

/** Returns the unix time of a second of the graph. */
export function unixSecsAt(at: number): number {
  return 1_609_459_200 + START + at;
}

export function bytesOf(hash: Hash): Buffer {
  return Buffer.from(hash.slice(2), "hex");
}

export function createGraph(node: TestNode): Graph {
  const take = (message: Uint8Array) => expect(node.ingestMessage(message)).toBe("ok");
  const post = (fid: number, at: number, value: DeepPartial<CastAddBody>): Posted => {
    const body = { $case: "castAddBody", value } as const;
    const data = { type: MessageType.MESSAGE_TYPE_CAST_ADD, fid, timestamp: START + at, body };
    const message = signMessage(data, accountSigner(fid));
    take(message);
    return { fid, at, hash: hashOf(message) };
  };
  const react = (type: ReactionType) => (fid: number, at: number, cast: Posted) =>
    take(reactionMessage(fid, type, cast, { at: START + at }));
  const castId = ({ fid, hash }: Posted) => ({ fid, hash: bytesOf(hash) });
  return {
    node,
    account: (fid) => expect(new Set(node.ingestAll(accountRecords(fid)))).toEqual(new Set(["ok"])),
    post,
    reply: (fid, at, parent, text = `reply ${fid} ${at}`) =>
      post(fid, at, { text, parent: { $case: "parentCastId", value: castId(parent) } }),
    quote: (fid, at, quoted) =>
      post(fid, at, {
        text: `quote ${fid} ${at}`,
        embeds: [{ embed: { $case: "castId", value: castId(quoted) } }],
      }),
    remove({ fid, at, hash }) {
      const body = { $case: "castRemoveBody", value: { targetHash: bytesOf(hash) } } as const;
      const timestamp = START + at + 1;
      const data = { type: MessageType.MESSAGE_TYPE_CAST_REMOVE, fid, timestamp, body };
      take(signMessage(data, accountSigner(fid)));
    },
    like: react(ReactionType.REACTION_TYPE_LIKE),
    recast: react(ReactionType.REACTION_TYPE_RECAST),
    link: (fid, type, targetFid, at = 0) => take(linkMessage(fid, type, targetFid, { at: START + at })),
    userData(fid, type, value) {
      const body = { $case: "userDataBody", value: { type, value } } as const;
      const data = { type: MessageType.MESSAGE_TYPE_USER_DATA_ADD, fid, timestamp: START, body };
      take(signMessage(data, accountSigner(fid)));
    },
  };
}
