import { setImmediate } from "node:timers/promises";
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import type { IndexDatabase } from "../../db/index/database.ts";
import { ApiError } from "../../http/errors.ts";
import { exchangeOf } from "../../http/exchange.ts";
import { rawBody } from "../../http/request/body.ts";
import { parseFid } from "../../http/request/params.ts";
import { JsonStream } from "../../http/response/response-body.ts";
import { READ } from "../../http/route-terms.ts";
import {
  type IdRegistration as PresentedIdRegistration,
  presentIdRegistration,
} from "../../read/present/native/registry-event.ts";
import { presentActiveSigner, presentFollow, presentReactionTarget } from "../../read/present/native/user.ts";
import {
  activeSigners,
  idRegistrations,
  newestCastInteractions,
  newestFollows,
  newestReactions,
  type CastInteraction as PresentedCastInteraction,
} from "../../read/queries/batch.ts";
import { type Assignable, EthAddress, Fid, Hash, nullable, object, UnixSecs } from "../dialects/fields.ts";
import { topic } from "../topic.ts";
import { Key } from "./users/registry.ts";

const { op } = topic({ tag: "Batch" });

const MAX_BATCH_FIDS = 100;

const BatchRequest = Type.Object({
  fids: Type.Array(Type.Integer({ format: "int64", minimum: 0, examples: [3] }), {
    maxItems: MAX_BATCH_FIDS,
    description: "Numbers; a repeated number appears once in the response",
  }),
});

const Follow = object({
  fid: Fid,
  followed_at: Type.String({ format: "date-time", description: "ISO 8601 with milliseconds" }),
});

const ReactionTarget = object({ target_fid: Fid, timestamp: UnixSecs("When the fid reacted") });

const CastInteraction = object({
  hash: Hash,
  liked: Type.Boolean(),
  recasted: Type.Boolean(),
  replied: Type.Boolean(),
});

const ActiveSigner = object({
  signer: Key,
  created_at: UnixSecs("When the key was added"),
  key_type: Type.Integer({ minimum: 0 }),
  metadata_type: Type.Integer({ minimum: 0 }),
});

const IdRegistration = object({
  from: nullable(EthAddress),
  to: nullable(EthAddress),
  timestamp: UnixSecs("Time of the block"),
  event_type: Type.Union([
    Type.Literal("register"),
    Type.Literal("transfer"),
    Type.Literal("change_recovery"),
  ]),
});

const byFid = (item: TSchema) =>
  Type.Object(
    {},
    { additionalProperties: Type.Array(item), description: "Keyed by fid, one key for each requested fid" },
  );

export type ObjectTypeCheck = Assignable<ReturnType<typeof presentFollow>, Static<typeof Follow>> &
  Assignable<ReturnType<typeof presentReactionTarget>, Static<typeof ReactionTarget>> &
  Assignable<PresentedCastInteraction, Static<typeof CastInteraction>> &
  Assignable<ReturnType<typeof presentActiveSigner>, Static<typeof ActiveSigner>> &
  Assignable<PresentedIdRegistration, Static<typeof IdRegistration>>;

/** An fid of a batch: its digits as sent, which are its key in the response, and its number. */
interface BatchFid {
  readonly digits: string;
  /** `UNKNOWN_FID` above 2^53 - 1. */
  readonly fid: number;
}

/** The context argument that JSON.parse passes to a reviver for a primitive value: its source text. */
interface Source {
  readonly source?: string;
}

/**
 * Reads the `fids` of a validated body again from its bytes, digit for digit: plain JSON.parse would round a number above 2^53 to another
 * user's fid. Returns each fid once, in the order of first mention.
 * @throws ApiError `badRequest` for a number that is not written as a u64, such as `1.0`, `1e3` or 2^64
 */
export function exactFids(body: Uint8Array): BatchFid[] {
  const sourceOf = (_key: string, value: unknown, context?: Source) =>
    typeof value === "number" ? context?.source : value;
  const { fids } = JSON.parse(new TextDecoder().decode(body), sourceOf) as { fids: readonly string[] };
  const unique = new Map<string, BatchFid>();
  for (const text of fids) {
    const fid = parseFid(text);
    if (fid === undefined) throw new ApiError("badRequest", "fids must be unsigned 64-bit integers");
    unique.set(text, { digits: text, fid });
  }
  return [...unique.values()];
}

/**
 * Streams the response of a batch, one fid at a time. The complete response can have a million rows, which must neither be in memory
 * together nor block other requests. Each fid is read from its own snapshot: a single snapshot would stay open as long as a slow client
 * reads, and the write-ahead log could not be reset during that time.
 */
function streamByFid(fids: readonly BatchFid[], listOf: (fid: number) => unknown): JsonStream {
  async function* pieces() {
    let open = "{";
    for (const { digits, fid } of fids) {
      yield `${open}"${digits}":`;
      // Text takes less memory than rows. A list has at most 10,000 entries, so dividing it would gain little.
      yield JSON.stringify(listOf(fid));
      open = ",";
      await setImmediate();
    }
    yield fids.length === 0 ? "{}" : "}";
  }
  return new JsonStream(pieces());
}

interface BatchSpec<Id extends string> {
  readonly id: Id;
  readonly path: string;
  readonly summary: string;
  /** The schema of an item in an fid's list. */
  readonly item: TSchema;
  readonly unitsPerFid: number;
  readonly listOf: (db: IndexDatabase, fid: number) => unknown;
}

/** Declares a read of up to 100 fids, by POST. */
function batch<const Id extends string>({ item, unitsPerFid, listOf, ...spec }: BatchSpec<Id>) {
  return op({
    ...spec,
    method: "POST",
    access: READ,
    body: BatchRequest,
    response: byFid(item),
    run({ reads: { db } }, { request }) {
      const fids = exactFids(rawBody(request));
      // The edge has charged one unit, because it could not know the body.
      exchangeOf(request).charge(unitsPerFid * fids.length - 1);
      return streamByFid(fids, (fid) => db.snapshot(() => listOf(db, fid)));
    },
  });
}

export const batchOperations = [
  batch({
    id: "batchFollowing",
    path: "/batch/following",
    summary: "Follows of each fid, the newest 10,000",
    item: Follow,
    unitsPerFid: 3,
    listOf: (db, fid) => newestFollows(db, fid).map(presentFollow),
  }),
  batch({
    id: "batchReactions",
    path: "/batch/reactions",
    summary: "Authors of the live casts that each fid liked or recasted, the newest 1,000",
    item: ReactionTarget,
    unitsPerFid: 5,
    listOf: (db, fid) => newestReactions(db, fid).map(presentReactionTarget),
  }),
  batch({
    id: "batchCastInteractions",
    path: "/batch/cast-interactions",
    summary: "Live casts of other users that each fid liked, recasted or replied to, the newest 1,000",
    item: CastInteraction,
    unitsPerFid: 25,
    listOf: newestCastInteractions,
  }),
  batch({
    id: "batchSigners",
    path: "/batch/signers",
    summary: "Active on-chain keys of each fid, in the order of addition",
    item: ActiveSigner,
    unitsPerFid: 1,
    listOf: (db, fid) => activeSigners(db, fid).map(presentActiveSigner),
  }),
  batch({
    id: "batchIdRegistrations",
    path: "/batch/id-registrations",
    summary: "Id-registry events of each fid, in chain order",
    item: IdRegistration,
    unitsPerFid: 1,
    listOf: (db, fid) => idRegistrations(db, fid).flatMap((event) => presentIdRegistration(event) ?? []),
  }),
];
