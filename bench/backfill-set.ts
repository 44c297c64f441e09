import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";
import type { EncodedRecord, RecordKind } from "../src/ingest/record.ts";
import { buildMessage, type Ed25519Key, ed25519KeyFromSeed } from "../src/protocol/message/build-message.ts";
import { Kind, Store, slotOf } from "../src/protocol/message/merge-rules.ts";
import { encodeMessage, type SignedMessage } from "../src/protocol/message/signed-message.ts";
import { Message, UserNameProof } from "../src/protocol/wire/generated/message.ts";
import { OnChainEvent } from "../src/protocol/wire/generated/on-chain.ts";
import { virtualShardOf } from "../src/trust/trie-key.ts";
import { makeSigner } from "../test/support/messages.ts";
import { benchRecords, heavyTailed, MAINNET_MIX, type NetworkShape, type Seal } from "./network.ts";

/**
 * The data that a scripted upstream serves to a backfill: the items of the response to each request for each fid. Each item
 * is encoded as field 1 of a protobuf message, so that a page of a response is a slice of the file. The messages are signed,
 * which takes a minute per million, so the set is stored and reused by later runs.
 */
export interface BackfillSet {
  readonly dir: string;
  readonly messages: number;
  readonly fids: number;
}

/** The items of one response for one fid: bytes `start` to `end` of the file. */
export interface Group {
  readonly fid: number;
  /** The method, followed by the event type for on-chain events. */
  readonly request: string;
  readonly start: number;
  readonly end: number;
  readonly items: number;
}

const MESSAGES_PER_FID = 200;
/** Number of messages made at a time. Each part has its own users, who react to each other, and fits into memory. */
const PART_MESSAGES = 250_000;

export const FRAMES_FILE = "frames.bin";
export const GROUPS_FILE = "groups.json";

const REQUEST_OF: Readonly<Partial<Record<Store, string>>> = {
  [Store.Casts]: "GetAllCastMessagesByFid",
  [Store.Links]: "GetAllLinkMessagesByFid",
  [Store.Reactions]: "GetAllReactionMessagesByFid",
  [Store.UserData]: "GetAllUserDataMessagesByFid",
};

/**
 * Builds a set of about `messages` messages, or reuses the one that an earlier run built.
 *
 * @param virtualShards number of virtual shards that the fids belong to, so that each has as many accounts as in a larger
 * network.
 *   Default: all.
 */
export async function backfillSet(messages: number, virtualShards = VIRTUAL_SHARDS): Promise<BackfillSet> {
  const name = virtualShards === VIRTUAL_SHARDS ? `${messages}` : `${messages}-of-${virtualShards}`;
  const dir = join(import.meta.dir, ".networks", `backfill-set-${name}`);
  if (!existsSync(dir)) await build(dir, messages, fidsOf(virtualShards));
  const groups: Group[] = await Bun.file(join(dir, GROUPS_FILE)).json();
  return {
    dir,
    messages: groups.filter(isOfMessages).reduce((sum, { items }) => sum + items, 0),
    fids: new Set(groups.map(({ fid }) => fid)).size,
  };
}

export const VIRTUAL_SHARDS = 256;

/** Returns a function that returns the nth fid of the first virtual shards. */
function fidsOf(virtualShards: number): (n: number) => number {
  const fids: number[] = [];
  return (n) => {
    for (let fid = (fids.at(-1) ?? 0) + 1; fids.length < n; fid++)
      if (virtualShardOf(fid) < virtualShards) fids.push(fid);
    return fids[n - 1] ?? n;
  };
}

function isOfMessages({ request }: Group): boolean {
  return request.startsWith("GetAll");
}

/** Returns the first `count` messages of a set. */
export async function firstMessages({ dir }: BackfillSet, count: number): Promise<Message[]> {
  const groups: Group[] = await Bun.file(join(dir, GROUPS_FILE)).json();
  const frames = Bun.file(join(dir, FRAMES_FILE));
  const messages: Message[] = [];
  for (const group of groups.filter(isOfMessages)) {
    const reader = new BinaryReader(await frames.slice(group.start, group.end).bytes());
    while (reader.pos < reader.len && messages.length < count) {
      reader.tag();
      messages.push(Message.decode(reader.bytes()));
    }
    if (messages.length === count) break;
  }
  return messages;
}

/** Yields all records of a set, events and proofs before messages, as an import requires. */
export async function* recordsOf({ dir }: BackfillSet): AsyncGenerator<EncodedRecord> {
  const groups: Group[] = await Bun.file(join(dir, GROUPS_FILE)).json();
  const frames = Bun.file(join(dir, FRAMES_FILE));
  const kindOf = ({ request }: Group): RecordKind =>
    request.startsWith("GetAll")
      ? "message"
      : request.startsWith("GetOnChainEvents")
        ? "onChainEvent"
        : "usernameProof";
  for (const kind of ["onChainEvent", "usernameProof", "message"] as const) {
    for (const group of groups.filter((one) => kindOf(one) === kind)) {
      const reader = new BinaryReader(await frames.slice(group.start, group.end).bytes());
      while (reader.pos < reader.len) {
        reader.tag();
        yield { kind, bytes: reader.bytes() };
      }
    }
  }
}

async function build(dir: string, messages: number, fidOf: (n: number) => number): Promise<void> {
  const building = `${dir}.building`;
  rmSync(building, { recursive: true, force: true });
  mkdirSync(building, { recursive: true });
  const groups: Group[] = [];
  const file = Bun.file(join(building, FRAMES_FILE)).writer();
  let at = 0;
  let fids = 0;
  for (let made = 0; made < messages; made += PART_MESSAGES) {
    const part = Math.min(PART_MESSAGES, messages - made);
    const partFids = Math.max(100, Math.round(part / MESSAGES_PER_FID));
    for (const { fid, request, frames } of itemsOf(part, partFids, (n) => fidOf(fids + n))) {
      const start = at;
      for (const frame of frames) {
        file.write(frame);
        at += frame.length;
      }
      groups.push({ fid, request, start, end: at, items: frames.length });
      await file.flush();
    }
    fids += partFids;
    keys.clear();
  }
  await file.end();
  await Bun.write(join(building, GROUPS_FILE), JSON.stringify(groups));
  renameSync(building, dir);
}

interface Items {
  readonly fid: number;
  readonly request: string;
  readonly frames: Uint8Array[];
}

/**
 * A network that is generated while it is read, one virtual shard at a time, and is never completely on disk or in memory:
 * signed messages in the mix of mainnet, the same for the same seed.
 */
export class MadeNetwork {
  /** By virtual shard. */
  readonly #fids: readonly (readonly number[])[];
  readonly #all: readonly number[];
  readonly #messages: number;
  readonly #endSecs: number;
  readonly #seed: string;
  readonly #seal: Seal;

  constructor(
    messages: number,
    {
      endSecs,
      seed = "made",
      seal = sealed,
    }: { readonly endSecs: number; readonly seed?: string; readonly seal?: Seal },
  ) {
    const perShard = Math.max(1, Math.round(messages / MESSAGES_PER_FID / VIRTUAL_SHARDS));
    const fids: number[][] = Array.from({ length: VIRTUAL_SHARDS }, () => []);
    for (let fid = 1, full = 0; full < VIRTUAL_SHARDS; fid++) {
      const own = fids[virtualShardOf(fid)];
      if (!own || own.length === perShard) continue;
      own.push(fid);
      if (own.length === perShard) full += 1;
    }
    this.#fids = fids;
    this.#all = fids.flat().sort((a, b) => a - b);
    this.#messages = messages;
    this.#endSecs = endSecs;
    this.#seed = seed;
    this.#seal = seal;
  }

  get fids(): readonly number[] {
    return this.#all;
  }

  /** Makes the records of the accounts of a virtual shard, in the form of an upstream's responses. */
  part(virtualShard: number): Iterable<Items> {
    const fids = this.#fids[virtualShard] ?? [];
    const shape: NetworkShape = {
      seed: `${this.#seed} ${virtualShard}`,
      endSecs: this.#endSecs,
      mix: MAINNET_MIX,
      followed: (random) => this.#all[heavyTailed(random, this.#all.length) - 1] ?? 1,
    };
    const items = itemsOf(
      this.#messages / VIRTUAL_SHARDS,
      fids.length,
      (n) => fids[n - 1] ?? 1,
      shape,
      this.#seal,
    );
    keys.clear();
    return items;
  }
}

function itemsOf(
  messages: number,
  fids: number,
  fidOf: (n: number) => number,
  shape: Partial<NetworkShape> = {},
  seal: Seal = sealed,
): Iterable<Items> {
  const items = new Map<string, Items>();
  const add = (fid: number, request: string, bytes: Uint8Array) => {
    const key = `${fid} ${request}`;
    const group = items.get(key) ?? { fid, request, frames: [] };
    items.set(key, group);
    group.frames.push(frameOf(bytes));
  };
  const filled = new Set<string>();
  for (const record of benchRecords(messages, fids, seal, "plain", fidOf, shape)) {
    if (record.kind === "onChainEvent") {
      const { event } = record;
      add(event.fid, `GetOnChainEvents ${event.type}`, OnChainEvent.encode(event).finish());
    } else if (record.kind === "usernameProof") {
      const { proof } = record;
      add(proof.fid, "GetUserNameProofsByFid", UserNameProof.encode(proof).finish());
    } else {
      const { message } = record;
      const { store, slot, kind } = slotOf(message);
      const key = `${message.data.fid} ${store} ${slot.toHex()}`;
      const request = REQUEST_OF[store];
      // A node stores one message per slot.
      if (filled.has(key) || kind !== Kind.Add || !request) continue;
      filled.add(key);
      add(message.data.fid, request, encodeMessage(message));
    }
  }
  return items.values();
}

function frameOf(bytes: Uint8Array): Uint8Array {
  return new BinaryWriter().tag(1, 2).bytes(bytes).finish();
}

const keys = new Map<number, Ed25519Key>();

/** Signs a message with the key of its account. */
export function sealed(data: SignedMessage["data"]) {
  let key = keys.get(data.fid);
  if (!key) {
    key = ed25519KeyFromSeed(makeSigner(`bench ${data.fid}`).privateKey);
    keys.set(data.fid, key);
  }
  return { kind: "message" as const, message: buildMessage(data, key) };
}
