import type { TSchema } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { IndexDatabase } from "../../../db/index/database.ts";
import { rawBody } from "../../../http/body.ts";
import { exchangeOf } from "../../../http/exchange.ts";
import { operation } from "../../../http/operation.ts";
import { READ } from "../../../http/route-terms.ts";
import {
  presentActiveSigner,
  presentFollow,
  presentReactionTarget,
} from "../../../read/present/native/batch.ts";
import { presentIdRegistration } from "../../../read/present/native/registry-event.ts";
import {
  activeSigners,
  idRegistrations,
  newestCastInteractions,
  newestFollows,
  newestReactions,
} from "../../../read/queries/users/batch.ts";
import type { Reads } from "../../../read/run-query.ts";
import { exactFids } from "./fids.ts";
import {
  BatchCastInteractionsResponse,
  BatchFollowingResponse,
  BatchIdRegistrationsResponse,
  BatchReactionsResponse,
  BatchRequest,
  BatchSignersResponse,
} from "./schemas.ts";
import { streamByFid } from "./stream.ts";

/** Batch reads of up to 100 fids, by POST. */
export function batchRoutes(reads: Reads) {
  const { db } = reads;
  const batch =
    (unitsPerFid: number, listOf: (db: IndexDatabase, fid: number) => unknown) =>
    ({ request }: { readonly request: Request }) => {
      const fids = exactFids(rawBody(request));
      // The edge has charged one unit, before it could know the body.
      exchangeOf(request).charge(unitsPerFid * fids.length - 1);
      return streamByFid(fids, (fid) => db.snapshot(() => listOf(db, fid)));
    };
  const described = (operationId: string, summary: string, response: TSchema) =>
    operation({ operationId, summary, tags: ["Batch"], access: READ, body: BatchRequest, response });

  return new Elysia({ name: "batch" })
    .post(
      "/batch/following",
      batch(3, (db, fid) => newestFollows(db, fid).map(presentFollow)),
      described("batchFollowing", "Follows of each fid, the newest 10,000", BatchFollowingResponse),
    )
    .post(
      "/batch/reactions",
      batch(5, (db, fid) => newestReactions(db, fid).map(presentReactionTarget)),
      described(
        "batchReactions",
        "Authors of the live casts that each fid liked or recasted, the newest 1,000",
        BatchReactionsResponse,
      ),
    )
    .post(
      "/batch/cast-interactions",
      batch(25, newestCastInteractions),
      described(
        "batchCastInteractions",
        "Live casts of other users that each fid liked, recasted or replied to, the newest 1,000",
        BatchCastInteractionsResponse,
      ),
    )
    .post(
      "/batch/signers",
      batch(1, (db, fid) => activeSigners(db, fid).map(presentActiveSigner)),
      described(
        "batchSigners",
        "Active on-chain keys of each fid, in the order of addition",
        BatchSignersResponse,
      ),
    )
    .post(
      "/batch/id-registrations",
      batch(1, (db, fid) => idRegistrations(db, fid).flatMap((event) => presentIdRegistration(event) ?? [])),
      described(
        "batchIdRegistrations",
        "Id-registry events of each fid, in chain order",
        BatchIdRegistrationsResponse,
      ),
    );
}
