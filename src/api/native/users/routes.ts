import { Elysia } from "elysia";
import { aliasOf } from "../../../http/operation.ts";
import { address, fid, fidList, text } from "../../../http/params.ts";
import { fidByCustodyAddress, fidByUsername } from "../../../read/queries/users/users.ts";
import { runQuery } from "../../../read/run-query.ts";
import type { ReadDeps, Viewer } from "../../shared/dialect.ts";
import { respondWithUser } from "./user-response.ts";

const tags = ["Users"];

/** Users by their identifiers: fid, name, custody address. */
export function userRoutes({ reads, describe }: ReadDeps) {
  const byUsername = describe({
    cache: "shared",
    operationId: "getUserByUsername",
    summary: "The user of a name",
    description: "Matches a live fname, ENS name or basename exactly, case included.",
    tags,
    query: { username: text({ description: "Without a leading @", examples: ["user3"] }) },
    response: "user",
    errors: ["notFound"],
  });
  const findByUsername = ({ query }: { query: Viewer & { username: string } }) =>
    respondWithUser(reads, query, (db) => fidByUsername(db, query.username), "no user has this name");

  return new Elysia({ name: "users" })
    .get(
      "/user",
      ({ query }) => respondWithUser(reads, query, () => query.fid, "no user has this fid"),
      describe({
        cache: "shared",
        operationId: "getUser",
        summary: "One user",
        tags,
        query: { fid: fid() },
        response: "user",
        errors: ["notFound"],
      }),
    )
    .get(
      "/user/bulk",
      ({ query: { fids, viewer_fid: viewerFid } }) =>
        runQuery(
          reads,
          () => fids,
          () => ({ fids, viewerFid }),
          reads.present.users,
        ),
      describe({
        cache: "shared",
        operationId: "getUsers",
        summary: "Users by fid, in the requested order; unknown fids are omitted",
        tags,
        query: { fids: fidList({ maxItems: reads.maxIds }) },
        response: "users",
      }),
    )
    .get("/user/by-username", findByUsername, byUsername)
    .get("/user/by_username", findByUsername, aliasOf("/user/by-username", byUsername))
    .get(
      "/user/custody-address",
      ({ query }) =>
        respondWithUser(
          reads,
          query,
          (db) => fidByCustodyAddress(db, query.custody_address),
          "no user is in the custody of this address",
        ),
      describe({
        cache: "shared",
        operationId: "getUserByCustodyAddress",
        summary: "The user with the lowest fid whose current custody address this is",
        tags,
        query: { custody_address: address() },
        response: "user",
        errors: ["notFound"],
      }),
    )
    .get(
      "/user/verifications",
      ({ query }) =>
        respondWithUser(reads, query, () => query.fid, "no user has this fid", reads.present.verifications),
      describe({
        cache: "shared",
        operationId: "getUserVerifications",
        summary: "One user with their verified addresses",
        tags,
        query: { fid: fid() },
        response: "verifications",
        errors: ["notFound"],
      }),
    );
}
