import { hex } from "../hydrate/casts.ts";
import { type TokenCodec, tokenCodec } from "./page.ts";
import type { StoredMessage } from "./stored-message.ts";
import type { TieOrder, TimeList } from "./time-list.ts";

/** The order of messages of one fid: time, then hash. */
type HashShape = readonly ["int", "hash"];
/** The order of reactions and links to a target: time, then the fid that sent them. One fid may like and recast. */
type SenderShape = readonly ["int", "int", "int"];

const byHash: TieOrder<StoredMessage, HashShape> = {
  keyOf: ({ at, hash }) => [at, hex(hash)],
  compareKey: ({ hash }, key) => Buffer.compare(hash, Buffer.from(key[1].slice(2), "hex")),
  compare: (a, b) => Buffer.compare(a.hash, b.hash),
};

const bySender: TieOrder<StoredMessage, SenderShape> = {
  keyOf: (message) => [message.at, message.fid, typeOf(message)],
  compareKey: (message, key) => message.fid - key[1] || typeOf(message) - key[2],
  compare: (a, b) => a.fid - b.fid || typeOf(a) - typeOf(b),
};

/** The type of a reaction; 0 for other messages, of which one fid sends only one to a target. */
function typeOf({ columns }: StoredMessage): number {
  return columns.table === "reactions" ? columns.type : 0;
}

/** @param name the name of the list in its tokens, unique. */
export function listByHash(name: string): TimeList<StoredMessage, HashShape> {
  return { order: byHash, tokens: tokenCodec(name, ["int", "hash"]) as TokenCodec<HashShape> };
}

/** @param name the name of the list in its tokens, unique. */
export function listBySender(name: string): TimeList<StoredMessage, SenderShape> {
  return { order: bySender, tokens: tokenCodec(name, ["int", "int", "int"]) as TokenCodec<SenderShape> };
}
