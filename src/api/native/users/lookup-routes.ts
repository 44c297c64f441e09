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
import type { ReadDeps } from "../../shared/dialect.ts";
import { respondWithUserPage } from "../../shared/user-page.ts";
import { respondWithUser } from "./user-response.ts";

const tags = ["Users"];

/** Users by declared data: verified addresses, X name, location. */
export function userLookupRoutes({ reads, describe }: ReadDeps) {
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
          "In the order of the addresses; users of one address by fid; each user once. Custody addresses " +
          "are not matched. At most 1,000 users.",
        tags,
        query: { addresses: addressList({ maxItems: reads.maxIds }) },
        response: "users",
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
        summary: "The user with the lowest fid that declares this X name, ignoring case",
        tags,
        query: { username: text({ description: "Without a leading @", examples: ["alice"] }) },
        response: "user",
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
        summary: "Users whose declared location starts with a text, ignoring case",
        description:
          "Ordered by location, then by fid. Locations have the form `geo:<latitude>,<longitude>`.",
        tags,
        query: {
          location: text({ description: "Prefix of a location", examples: ["geo:52.5"] }),
          limit: limit(),
          cursor: cursor(),
        },
        response: "userPage",
      }),
    );
}
