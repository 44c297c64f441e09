import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { ApiError } from "../../http/errors.ts";
import { operation } from "../../http/operation.ts";
import { cursor, optional, renamed, text, textList } from "../../http/params.ts";
import { choiceList, decimal } from "../../http/word-params.ts";
import { decodeBase58 } from "../../lib/base58.ts";
import { presentUsers } from "../../read/present/compat/user.ts";
import { addressOwners, type KnownAddress } from "../../read/queries/users/address-owners.ts";
import {
  MAX_CANDIDATES,
  nearLocationCursor,
  RADIUS_KM,
  usersNearLocation,
} from "../../read/queries/users/near-location.ts";
import { fidsByXUsername, locationCursor, usersByLocation } from "../../read/queries/users/users.ts";
import { type Reads, runQuery } from "../../read/run-query.ts";
import { decodeCursor } from "../shared/cursor-param.ts";
import { closed } from "../shared/schemas.ts";
import { respondWithUserPage } from "../shared/user-page.ts";
import { pageLimit, viewerFid } from "./dialect.ts";
import { UserPageResponse } from "./response-schemas.ts";
import { User } from "./schemas.ts";

const tags = ["Users"];

const MAX_OF_X_NAME = 100;
const SOLANA_BYTES = 32;

/** Users by their declared addresses, X name or location. */
export function lookupRoutes(reads: Reads) {
  return new Elysia({ name: "farcaster-lookups" })
    .get(
      "/user/bulk-by-address",
      ({ query: { addresses, address_types: types, viewer_fid: viewerFid } }) =>
        runQuery(
          reads,
          (db) =>
            addressOwners(db, {
              addresses: addresses.map(parseAddress),
              verified: types.includes("verified_address"),
              custody: types.includes("custody_address"),
            }),
          (owners) => ({ fids: owners.flatMap(({ fids }) => fids), viewerFid }),
          (owners, hydration) =>
            Object.fromEntries(owners.map(({ address, fids }) => [address, presentUsers(fids, hydration)])),
        ),
      operation({
        cache: "shared",
        operationId: "getUsersByAddress",
        summary: "Users by Ethereum or Solana addresses",
        description:
          "Keyed by address, Ethereum's in lower case; an address without a user has no key. At most 1,000 users.",
        tags,
        query: {
          addresses: textList({ maxItems: reads.maxIds, maxChars: 64 }),
          address_types: choiceList(["custody_address", "verified_address"]),
          viewer_fid: viewerFid(),
        },
        response: Type.Object({}, { additionalProperties: Type.Array(User) }),
      }),
    )
    .get(
      "/user/by_x_username",
      ({ query: { x_username: name, viewer_fid: viewerFid } }) =>
        runQuery(
          reads,
          (db) => fidsByXUsername(db, name, MAX_OF_X_NAME),
          (fids) => ({ fids, viewerFid }),
          (fids, hydration) => {
            const users = presentUsers(fids, hydration);
            if (users.length === 0) throw new ApiError("notFound", "no user has this name on X");
            return { users };
          },
        ),
      operation({
        cache: "shared",
        operationId: "getUsersByXUsername",
        summary: "Users that declare this X name, ignoring case, lowest fid first",
        tags,
        query: {
          x_username: renamed(text({ description: "Without a leading @" }), "x_username", "username"),
          viewer_fid: viewerFid(),
        },
        response: Type.Object({ users: Type.Array(User) }, closed),
        errors: ["notFound"],
      }),
    )
    .get(
      "/user/by_location",
      ({ query }) => {
        const { latitude, longitude, location, limit } = query;
        if (latitude !== undefined && longitude !== undefined) {
          const after = decodeCursor(nearLocationCursor, query.cursor);
          const place = { latitude, longitude };
          return respondWithUserPage(reads, query, (db) => usersNearLocation(db, { place, limit, after }));
        }
        if (location === undefined)
          throw new ApiError("badRequest", "missing query parameter latitude or longitude");
        const after = decodeCursor(locationCursor, query.cursor);
        return respondWithUserPage(reads, query, (db) =>
          usersByLocation(db, { prefix: location, limit, after }),
        );
      },
      operation({
        cache: "shared",
        operationId: "getUsersByLocation",
        summary: `Users who declare a location within ${RADIUS_KM} km, nearest first`,
        description:
          `In a dense area the ${MAX_CANDIDATES} users on the nearest latitudes are examined.  With \`location\` instead ` +
          "of coordinates: users whose declared location begins with this text.",
        tags,
        query: {
          latitude: optional(decimal({ min: -90, max: 90, examples: [52.52] })),
          longitude: optional(decimal({ min: -180, max: 180, examples: [13.4] })),
          location: optional(text({ description: "For example `geo:52.5`" })),
          limit: pageLimit(),
          cursor: cursor(),
          viewer_fid: viewerFid(),
        },
        response: UserPageResponse,
      }),
    );
}

/** @throws ApiError `badRequest` for an address of neither chain */
function parseAddress(text: string): KnownAddress {
  if (/^0x[0-9a-fA-F]{40}$/.test(text)) {
    const shown = text.toLowerCase();
    return { shown, hex: shown.slice(2) };
  }
  const solana = decodeBase58(text, SOLANA_BYTES);
  if (!solana) throw new ApiError("badRequest", "addresses must be Ethereum or Solana addresses");
  return { shown: text, hex: solana.toHex() };
}
