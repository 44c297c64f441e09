import { Elysia } from "elysia";
import { addressList, cursor, limit, text } from "../../../http/params.ts";
import {
  fidByXUsername,
  fidsByVerifiedAddress,
  locationCursor,
  usersByLocation,
} from "../../../read/queries/users/users.ts";
import { runQuery } from "../../../read/run-query.ts";
import { decodeCursor } from "../../shared/cursor-param.ts";
import type { ReadParts } from "../../shared/dialect.ts";
import { respondWithUserPage } from "../../shared/user-page.ts";
import { respondWithUser } from "./answer-user.ts";

const tags = ["Users"];

/** Users by what they declare: verified addresses, name on X, location. */
export function userLookupRoutes({ reads, describe }: ReadParts) {
  return new Elysia({ name: "user-lookups" })
    .get(
      "/user/bulk-by-address",
      ({ query: { addresses, viewer_fid: viewerFid } }) =>
        runQuery(
          reads,
          (db) => fidsByVerifiedAddress(db, addresses),
          (fids) => ({ fids, viewerFid }),
          reads.present.users,
        ),
      describe({
        cache: "shared",
        operationId: "getUsersByAddress",
        summary: "Users by verified Ethereum addresses",
        description:
          "In the order of the addresses, of one address the lower fid first, each user once. Custody addresses " +
          "do not count. At most 1,000 users.",
        tags,
        query: { addresses: addressList({ maxItems: reads.maxIds }) },
        answer: "users",
      }),
    )
    .get(
      "/user/by_x_username",
      ({ query }) =>
        respondWithUser(
          reads,
          query,
          (db) => fidByXUsername(db, query.username),
          "no user has this name on X",
        ),
      describe({
        cache: "shared",
        operationId: "getUserByXUsername",
        summary:
          "The user that declares this name on X, whatever the case; of several the one with the lowest fid",
        tags,
        query: { username: text({ description: "Without a leading @", examples: ["alice"] }) },
        answer: "user",
        errors: ["notFound"],
      }),
    )
    .get(
      "/user/by_location",
      ({ query }) => {
        const after = decodeCursor(locationCursor, query.cursor);
        return respondWithUserPage(reads, query, (db) =>
          usersByLocation(db, { prefix: query.location, limit: query.limit, after }),
        );
      },
      describe({
        cache: "shared",
        operationId: "getUsersByLocation",
        summary: "Users whose declared location begins with a text, whatever the case",
        description: "By location, then by fid. Locations have the form `geo:<latitude>,<longitude>`.",
        tags,
        query: {
          location: text({ description: "The beginning of a location", examples: ["geo:52.5"] }),
          limit: limit(),
          cursor: cursor(),
        },
        answer: "userPage",
      }),
    );
}
