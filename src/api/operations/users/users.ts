import { Type } from "@sinclair/typebox";
import { ApiError } from "../../../http/errors.ts";
import { perIds } from "../../../http/limits/prices.ts";
import { address, fid, fidList, text } from "../../../http/request/params.ts";
import { allFids, fidByCustodyAddress, fidByUsername } from "../../../read/queries/users/users.ts";
import { type ReadSource, runQuery } from "../../../read/run-query.ts";
import { Fid, Next, object } from "../../dialects/fields.ts";
import { page } from "../../dialects/native.ts";
import { decodeCursor, respondWithUser } from "../../respond.ts";
import { topic } from "../../topic.ts";

const { read, op } = topic({ tag: "Users" });

const FidPageResponse = object({ fids: Type.Array(Fid), next: Next });

const NO_FRESH_FIDS = "this node cannot register fids";

export const userOperations = [
  read({
    id: "getUser",
    path: "/user",
    summary: "One user",
    query: { fid: fid() },
    response: "user",
    errors: ["notFound"],
    run: ({ reads }, { query }) => respondWithUser(reads, query, () => query.fid, "no user has this fid"),
  }),
  read({
    id: "getUsers",
    path: "/user/bulk",
    price: perIds(2),
    summary: "Users by fid, in the requested order; unknown fids are omitted",
    query: ({ reads }) => ({ fids: fidList({ maxItems: reads.maxIds }) }),
    response: "users",
    run: ({ reads }, { query: { fids, viewer_fid: viewerFid } }) =>
      runQuery(
        reads,
        () => fids,
        () => ({ fids, viewerFid }),
        reads.present.users,
      ),
  }),
  read({
    id: "getUserByUsername",
    path: "/user/by-username",
    aliases: ["/user/by_username"],
    summary: "The user of a name",
    description: "Matches a live fname, ENS name or basename exactly, case included.",
    query: { username: text({ description: "Without a leading @", examples: ["user3"] }) },
    response: "user",
    errors: ["notFound"],
    run: ({ reads }, { query }) =>
      respondWithUser(reads, query, (db) => fidByUsername(db, query.username), "no user has this name"),
  }),
  read({
    id: "getUserByCustodyAddress",
    path: "/user/custody-address",
    summary: "The user with the lowest fid whose current custody address this is",
    query: { custody_address: address() },
    response: "user",
    errors: ["notFound"],
    run: ({ reads }, { query }) =>
      respondWithUser(
        reads,
        query,
        (db) => fidByCustodyAddress(db, query.custody_address),
        "no user is in the custody of this address",
      ),
  }),
  read({
    id: "getUserVerifications",
    path: "/user/verifications",
    summary: "One user with their verified addresses",
    query: { fid: fid() },
    response: "verifications",
    errors: ["notFound"],
    run: ({ reads }, { query }) =>
      respondWithUser(reads, query, () => query.fid, "no user has this fid", reads.present.verifications),
  }),
  read({
    id: "getFids",
    surface: "native",
    path: "/user/fid",
    summary: "Every fid that exists, ascending",
    query: page(),
    response: FidPageResponse,
    run: ({ reads }, { query }) => listFids(reads, query),
  }),
  op({
    id: "getFids",
    surface: "compat",
    path: "/user/fid",
    cache: "revalidate",
    summary: "Every fid that exists, ascending; 501 with the header x-wallet-id, which requests a new one",
    query: page(),
    response: FidPageResponse,
    notImplemented: {
      when: "With the header `x-wallet-id`, which requests a new fid.",
      message: NO_FRESH_FIDS,
    },
    run: ({ reads }, { query, request }) => {
      // Clients of the hosted API send the wallet that pays for a new fid.
      if (request.headers.has("x-wallet-id")) throw new ApiError("notImplemented", NO_FRESH_FIDS);
      return listFids(reads, query);
    },
  }),
];

/** Responds with a page of all fids, ascending. */
function listFids(
  { db }: ReadSource,
  query: { readonly limit: number; readonly cursor: string | undefined },
) {
  const after = decodeCursor(allFids.cursor, query.cursor);
  const { rows, cursor } = allFids(db, { limit: query.limit, after });
  return { fids: rows.map((row) => row.fid), next: { cursor } };
}
