import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { encodeAbiParameters, hexToBytes } from "viem/utils";
import { storeRankings } from "../src/db/index/counts/rankings.ts";
import { indexPath, openIndexWriter } from "../src/db/index/database.ts";
import { claimNetwork } from "../src/db/index/identity.ts";
import { openState, statePath } from "../src/db/state/database.ts";
import { demoNetwork } from "../src/demo/network.ts";
import { type Random, seededRandom } from "../src/demo/random.ts";
import { createIngestEngine } from "../src/ingest/engine.ts";
import { computeRankings } from "../src/ingest/ranking.ts";
import { decodeRecord, type IngestRecord } from "../src/ingest/record.ts";
import { canonicalKey } from "../src/protocol/auth-address.ts";
import { messageHash } from "../src/protocol/message/message-hash.ts";
import { toFarcasterSecs } from "../src/protocol/time.ts";
import {
  CastType,
  FarcasterNetwork,
  MessageData,
  MessageType,
  ReactionType,
  UserDataType,
  VerificationAddBody,
  VerificationProtocol,
} from "../src/protocol/wire/generated/message.ts";
import { encodedRecord } from "../test/demo/records.ts";
import { fnameProof, registerEvent, rentEvent, signerEvent } from "../test/support/events.ts";
import { makeSigner, makeWallet } from "../test/support/messages.ts";

/** A network for benchmarks: reproducible messages without valid signatures, applied directly by the merge. */
export interface BenchNetwork {
  /** A data directory for `serve`. */
  readonly dataDir: string;
  readonly messages: number;
  readonly fids: number;
  /** The fid with the most followers; it follows 1,000 others. */
  readonly heavyFid: number;
  readonly buildSecs: number;
}

const RECORDS_PER_COMMIT = 2000;
const WINDOW_SECS = 60 * 86_400;
const CHANNELS = 200;
/** Legacy storage units, large enough that nothing is pruned while the network is built. */
const UNITS = 10;
const LEGACY_RENT_SECS = 1_724_000_000;
const HEAVY_FOLLOWS = 1000;
const REPLIES = 0.4;
const REPLIES_IN_LONG_THREADS = 0.08;
const LONG_THREAD = 100;
const QUOTES_EVERY = 6;
/** Number of fids of the apps that request sign-in addresses. */
const APP_FIDS = 3;
const AUTH_ADDRESS_KEY_TYPE = 2;

/**
 * Builds the network, or reuses the one that an earlier run built today. Its last message is from the hour when it was
 * built, and rankings cover the last 24 hours, so a network from another day is rebuilt.
 */
export function benchNetwork(messages: number, detail: Detail = "plain"): BenchNetwork {
  const fids = Math.max(200, Math.round(messages / 50));
  const name = detail === "plain" ? String(messages) : `${messages}-${detail}`;
  const built = buildNetwork(name, () => benchRecords(messages, fids, unsigned, detail));
  return { ...built, messages, fids, heavyFid: 1 };
}

/** Builds the demo network, with its rankings. */
export function demoBenchNetwork(): Pick<BenchNetwork, "dataDir" | "buildSecs"> {
  const anchorUnixSecs = Math.floor(Date.now() / 1000);
  return buildNetwork("demo", () => demoRecords(anchorUnixSecs));
}

function* demoRecords(anchorUnixSecs: number): Generator<IngestRecord> {
  const network = FarcasterNetwork.FARCASTER_NETWORK_MAINNET;
  for (const record of demoNetwork({ anchorUnixSecs, network })) {
    const decoded = decodeRecord(encodedRecord(record));
    if (!decoded.ok) throw new Error(`refused: ${decoded.error.reason}`);
    yield decoded.value;
  }
}

function buildNetwork(
  name: string,
  records: () => Iterable<IngestRecord>,
): Pick<BenchNetwork, "dataDir" | "buildSecs"> {
  const day = new Date().toISOString().slice(0, 10);
  const dataDir = join(import.meta.dir, ".networks", `${name}-${day}`);
  if (existsSync(dataDir)) return { dataDir, buildSecs: 0 };
  const startedAt = performance.now();
  const building = `${dataDir}.building`;
  rmSync(building, { recursive: true, force: true });
  mkdirSync(building, { recursive: true });
  {
    using db = openIndexWriter(indexPath(building));
    // A partly built network is discarded and rebuilt, so commits need no sync.
    db.sqlite.exec("PRAGMA synchronous = OFF");
    claimNetwork(db, "mainnet");
    const clock = { nowMs: () => Date.now() };
    const onFault = (cause: unknown) => {
      throw cause;
    };
    const engine = createIngestEngine({
      db,
      network: FarcasterNetwork.FARCASTER_NETWORK_MAINNET,
      clock,
      onFault,
    });
    let batch: IngestRecord[] = [];
    const flush = () => {
      const refused = engine
        .apply(batch)
        .find((verdict) => verdict && verdict.code !== "bad_request.duplicate");
      if (refused && refused.code !== "bad_request.conflict") throw new Error(`refused: ${refused.reason}`);
      batch = [];
    };
    for (const record of records()) {
      batch.push(record);
      if (batch.length === RECORDS_PER_COMMIT) flush();
    }
    flush();
    storeRankings(db, computeRankings(db, { snapshot: Date.now(), windowHours: 24 }));
    db.checkpoint();
  }
  openState(statePath(building))[Symbol.dispose]();
  renameSync(building, dataDir);
  return { dataDir, buildSecs: (performance.now() - startedAt) / 1000 };
}

interface Cast {
  readonly fid: number;
  readonly hash: Uint8Array;
  readonly at: number;
}

/** Adds the hash and the signature to message data. */
export type Seal = (data: MessageData) => IngestRecord;

/**
 * `plain`: users with a name, a picture and a text; casts with text, mentions and URLs. `detailed`: as on the real network,
 * each user also has verified addresses, a sign-in address of an app and a full profile, and every sixth cast quotes
 * another.
 */
export type Detail = "plain" | "detailed";

/** Composition of a network. */
export interface NetworkShape {
  readonly seed: string;
  /** Time of the last message in seconds. Default: the current hour. */
  readonly endSecs: number;
  /** Shares of the messages. The rest are user data. */
  readonly mix: { readonly casts: number; readonly reactions: number; readonly follows: number };
  /** Returns the target of a follow. Default: anyone in the part. */
  readonly followed: (random: Random) => number;
}

const EVEN_MIX = { casts: 0.35, reactions: 0.35, follows: 0.25 };
/** The mix of mainnet, from a survey of November 2026, without its 7.5 % of other kinds. */
export const MAINNET_MIX = { casts: 0.26, reactions: 0.51, follows: 0.21 };

/**
 * Yields the records of a network of `messages` messages by `fids` users. `seal` hashes and signs each message.
 *
 * @param fidOf returns the nth fid. Default: n.
 * @param shape for a part of a larger network.
 */
export function* benchRecords(
  messages: number,
  fids: number,
  seal: Seal = unsigned,
  detail: Detail = "plain",
  fidOf = (n: number) => n,
  shape: Partial<NetworkShape> = {},
): Generator<IngestRecord> {
  const { seed = `bench ${messages}`, endSecs, mix = EVEN_MIX, followed } = shape;
  const anyone = () => fidOf(heavyTailed(random, fids));
  const random = seededRandom(seed);
  const nowSecs = endSecs ?? Math.floor(Date.now() / 3_600_000) * 3600;
  for (let n = 1; n <= fids; n++) {
    const fid = fidOf(n);
    yield* account(fid, seal);
    if (detail === "detailed") yield* accountDetails(fid, seal);
  }
  const casts: Cast[] = [];
  const threads = new LongThreads(random);
  const counts = {
    casts: messages * mix.casts,
    reactions: messages * mix.reactions,
    follows: messages * mix.follows,
  };
  for (let n = 0; n < counts.follows; n++) {
    const fid = n < HEAVY_FOLLOWS ? fidOf(1) : anyone();
    const target = followed?.(random) ?? (n < HEAVY_FOLLOWS ? fidOf(n + 2) : anyone());
    yield follow(fid, target, nowSecs - WINDOW_SECS + n, seal);
  }
  for (let n = 0; n < counts.casts; n++) {
    const at = nowSecs - Math.floor(WINDOW_SECS * (1 - n / counts.casts));
    const parent = threads.parent() ?? (random.chance(REPLIES) ? recent(random, casts) : undefined);
    const quoted = detail === "detailed" && n % QUOTES_EVERY === 0 ? recent(random, casts) : undefined;
    const { record, cast } = nextCast(random, { parent, quoted, mentioned: fidOf }, anyone(), at, n, seal);
    casts.push(cast);
    threads.add(cast, parent);
    yield record;
    for (let likes = 0; likes < counts.reactions / counts.casts; likes++)
      yield reaction(random, casts, anyone(), at, seal);
  }
}

/** Returns mostly small numbers, because a few users take part in most of the activity. */
export function heavyTailed(random: Random, below: number): number {
  return 1 + Math.floor(below * random.next() ** 3);
}

function* account(fid: number, seal: Seal): Generator<IngestRecord> {
  const custody = makeWallet(`bench ${fid}`).address;
  yield { kind: "onChainEvent", event: registerEvent(fid, custody, { block: fid }) };
  const key = makeSigner(`bench ${fid}`).publicKey;
  yield { kind: "onChainEvent", event: signerEvent(fid, key, { block: fid + 1 }) };
  yield { kind: "onChainEvent", event: rentEvent(fid, UNITS, { block: fid + 2, at: LEGACY_RENT_SECS }) };
  yield { kind: "usernameProof", proof: fnameProof(`user${fid}`, fid, custody, LEGACY_RENT_SECS) };
  for (const [type, value] of [
    [UserDataType.USER_DATA_TYPE_USERNAME, `user${fid}`],
    [UserDataType.USER_DATA_TYPE_DISPLAY, `Person ${fid}`],
    [UserDataType.USER_DATA_TYPE_BIO, `I am number ${fid} of a network that was made for measuring.`],
    [UserDataType.USER_DATA_TYPE_PFP, `https://demo.example/pfp/${fid}.png`],
  ] as const)
    yield dataMessage(seal, MessageType.MESSAGE_TYPE_USER_DATA_ADD, fid, LEGACY_RENT_SECS + type, {
      $case: "userDataBody",
      value: { type, value },
    });
}

function* accountDetails(fid: number, seal: Seal): Generator<IngestRecord> {
  const owner = makeWallet(`bench ${fid}`).address;
  const key = canonicalKey(owner);
  const requestFid = 1 + (fid % APP_FIDS);
  const event = signerEvent(fid, key, { block: fid + 3 });
  if (event.body?.$case === "signerEventBody") {
    event.body.value.keyType = AUTH_ADDRESS_KEY_TYPE;
    event.body.value.metadata = encodeSignedKeyRequest(requestFid, owner);
  }
  yield { kind: "onChainEvent", event };
  for (const [type, value] of [
    [UserDataType.USER_DATA_TYPE_LOCATION, `geo:${fid % 90}.25,${fid % 180}.5`],
    [UserDataType.USER_DATA_TYPE_URL, `https://demo.example/people/${fid}`],
    [UserDataType.USER_DATA_TYPE_TWITTER, `person${fid}`],
    [UserDataType.USER_DATA_TYPE_GITHUB, `person${fid}`],
  ] as const)
    yield dataMessage(seal, MessageType.MESSAGE_TYPE_USER_DATA_ADD, fid, LEGACY_RENT_SECS + type, {
      $case: "userDataBody",
      value: { type, value },
    });
  for (const [protocol, address] of [
    [VerificationProtocol.VERIFICATION_PROTOCOL_ETHEREUM, owner],
    [VerificationProtocol.VERIFICATION_PROTOCOL_ETHEREUM, makeWallet(`bench second ${fid}`).address],
    [VerificationProtocol.VERIFICATION_PROTOCOL_SOLANA, makeSigner(`bench ${fid}`).publicKey],
  ] as const)
    yield dataMessage(seal, MessageType.MESSAGE_TYPE_VERIFICATION_ADD, fid, LEGACY_RENT_SECS, {
      $case: "verificationAddBody",
      value: VerificationAddBody.fromPartial({ address, protocol }),
    });
}

/**
 * Encodes the metadata of a key that an app requested, unsigned: an ABI tuple of the app's fid, its owner, a signature and a
 * time.
 */
function encodeSignedKeyRequest(requestFid: number, owner: Uint8Array): Uint8Array {
  const tuple = [
    { name: "requestFid", type: "uint256" },
    { name: "requestSigner", type: "address" },
    { name: "signature", type: "bytes" },
    { name: "deadline", type: "uint256" },
  ] as const;
  const request = {
    requestFid: BigInt(requestFid),
    requestSigner: `0x${owner.toHex()}`,
    signature: `0x${"00".repeat(65)}`,
    deadline: 0n,
  } as const;
  return hexToBytes(encodeAbiParameters([{ type: "tuple", components: tuple }], [request]));
}

let made = 0;

/** Returns a new message, dated now, by any user, that names any of the casts. */
export function newRecord(
  random: Random,
  { mix, fids, casts }: Pick<NetworkShape, "mix"> & { fids: number; casts: readonly Omit<Cast, "at">[] },
  seal: Seal = unsigned,
): IngestRecord {
  made += 1;
  const at = Math.floor(Date.now() / 1000);
  const fid = 1 + Math.floor(random.next() * fids);
  const named = casts[Math.floor(random.next() * casts.length)] ?? { fid: 1, hash: new Uint8Array(20) };
  const kind = random.next();
  if (kind < mix.casts) {
    const parent = random.chance(REPLIES) ? { ...named, at } : undefined;
    const refers = { parent, quoted: undefined, mentioned: (n: number) => n };
    return nextCast(random, refers, fid, at, made, seal).record;
  }
  if (kind < mix.casts + mix.follows) return follow(fid, 1 + Math.floor(random.next() * fids), at, seal);
  return reactionTo(random, named, fid, at, seal);
}

const WORDS =
  "the a of day sea bread code light river small green slow north open song cat road house paper winter".split(
    " ",
  );

/** Long conversations, one at a time: roots that get a hundred replies in branching threads. */
class LongThreads {
  #thread: Cast[] = [];

  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  /** Returns the parent of the next cast, if that joins the long thread. */
  parent(): Cast | undefined {
    const random = this.#random;
    if (this.#thread.length === 0 || !random.chance(REPLIES_IN_LONG_THREADS)) return undefined;
    return this.#thread[Math.floor(this.#thread.length * random.next() ** 2)];
  }

  add(cast: Cast, parent: Cast | undefined): void {
    if (this.#thread.length === 0 && parent === undefined) this.#thread = [cast];
    else if (parent !== undefined && this.#thread.includes(parent)) this.#thread.push(cast);
    if (this.#thread.length > LONG_THREAD) this.#thread = [];
  }
}

function nextCast(
  random: Random,
  {
    parent,
    quoted,
    mentioned,
  }: {
    readonly parent: Cast | undefined;
    readonly quoted: Cast | undefined;
    readonly mentioned: (n: number) => number;
  },
  fid: number,
  at: number,
  n: number,
  seal: Seal,
) {
  const text = Array.from(
    { length: 6 + (n % 14) },
    () => WORDS[Math.floor(random.next() * WORDS.length)],
  ).join(" ");
  const channel = `https://farcaster.xyz/~/channel/bench${Math.floor(CHANNELS * random.next() ** 2)}`;
  const record = dataMessage(seal, MessageType.MESSAGE_TYPE_CAST_ADD, fid, at, {
    $case: "castAddBody",
    value: {
      text: `${text} ${n}`,
      type: CastType.CAST_TYPE_CAST,
      embeds: [
        ...(n % 5 === 0 ? [{ embed: { $case: "url" as const, value: `https://demo.example/${n}` } }] : []),
        ...(quoted
          ? [{ embed: { $case: "castId" as const, value: { fid: quoted.fid, hash: quoted.hash } } }]
          : []),
      ],
      embedsDeprecated: [],
      mentions: n % 7 === 0 ? [mentioned(heavyTailed(random, 100))] : [],
      mentionsPositions: n % 7 === 0 ? [0] : [],
      parent: parent
        ? { $case: "parentCastId", value: { fid: parent.fid, hash: parent.hash } }
        : random.next() < 0.5
          ? { $case: "parentUrl", value: channel }
          : undefined,
    },
  });
  const hash = record.kind === "message" ? record.message.hash : new Uint8Array();
  return { record, cast: { fid, hash, at } };
}

function recent(random: Random, casts: readonly Cast[]): Cast | undefined {
  return casts[Math.max(0, casts.length - 1 - Math.floor(2000 * random.next() ** 3))];
}

function reaction(random: Random, casts: readonly Cast[], fid: number, at: number, seal: Seal): IngestRecord {
  return reactionTo(random, recent(random, casts) ?? { fid: 1, hash: new Uint8Array(20) }, fid, at, seal);
}

function reactionTo(
  random: Random,
  target: Omit<Cast, "at">,
  fid: number,
  at: number,
  seal: Seal,
): IngestRecord {
  const type = random.next() < 0.8 ? ReactionType.REACTION_TYPE_LIKE : ReactionType.REACTION_TYPE_RECAST;
  return dataMessage(seal, MessageType.MESSAGE_TYPE_REACTION_ADD, fid, at, {
    $case: "reactionBody",
    value: { type, target: { $case: "targetCastId", value: { fid: target.fid, hash: target.hash } } },
  });
}

function follow(fid: number, targetFid: number, at: number, seal: Seal): IngestRecord {
  return dataMessage(seal, MessageType.MESSAGE_TYPE_LINK_ADD, fid, at, {
    $case: "linkBody",
    value: { type: "follow", displayTimestamp: undefined, target: { $case: "targetFid", value: targetFid } },
  });
}

function dataMessage(
  seal: Seal,
  type: MessageType,
  fid: number,
  unixSecs: number,
  body: MessageData["body"],
): IngestRecord {
  const network = FarcasterNetwork.FARCASTER_NETWORK_MAINNET;
  return seal({ type, fid, timestamp: toFarcasterSecs(unixSecs), network, body });
}

/** Returns a message with a signature of zeros, because this network is merged directly, without verification. */
export function unsigned(data: MessageData): IngestRecord {
  const dataBytes = MessageData.encode(data).finish();
  const hash = messageHash(dataBytes);
  return {
    kind: "message",
    message: {
      data,
      dataBytes,
      hash,
      hashScheme: 1,
      signature: new Uint8Array(64),
      signatureScheme: 1,
      signer: signerKey(data.fid),
    },
  };
}

const keys = new Map<number, Uint8Array>();

function signerKey(fid: number): Uint8Array {
  let key = keys.get(fid);
  if (!key) {
    key = makeSigner(`bench ${fid}`).publicKey;
    keys.set(fid, key);
  }
  return key;
}
