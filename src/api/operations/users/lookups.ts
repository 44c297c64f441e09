import { Type } from "@sinclair/typebox";
import { ApiError } from "../../../http/errors.ts";
import { perIds, perRows } from "../../../http/limits/prices.ts";
import { addressList, optional, renamed, text, textList } from "../../../http/request/params.ts";
import { choiceList, decimal } from "../../../http/request/word-params.ts";
import { decodeBase58 } from "../../../lib/base58.ts";
import { presentUsers } from "../../../read/present/compat/user.ts";
import { MAX_CANDIDATES, RADIUS_KM, usersNearLocation } from "../../../read/queries/users/near-location.ts";
import { addressOwners, type KnownAddress } from "../../../read/queries/users/owners.ts";
import {
  fidByXUsername,
  fidsByVerifiedAddress,
  fidsByXUsername,
  usersByLocation,
} from "../../../read/queries/users/users.ts";
import { runQuery } from "../../../read/run-query.ts";
import { CompatUserPage, compatPage, viewerFid } from "../../dialects/compat.ts";
import { CompatUser } from "../../dialects/compat-objects.ts";
import { object } from "../../dialects/fields.ts";
import { page } from "../../dialects/native.ts";
import { respondWithUser, respondWithUserPage } from "../../respond.ts";
import { topic } from "../../topic.ts";

const { read } = topic({ tag: "Users" });

const MAX_OF_X_NAME = 100;

const SOLANA_BYTES = 32;

export const lookupOperations = [
  read({
    id: "getUsersByAddress",
    surface: "native",
    path: "/user/bulk-by-address",
    price: perIds(2),
    summary: "Users by verified Ethereum addresses",
    description:
      "In the order of the addresses; users of one address by fid; each user once. Custody addresses " +
      "are not matched. At most 1,000 users.",
    query: ({ reads }) => ({ addresses: addressList({ maxItems: reads.maxIds }) }),
    response: "users",
    run: ({ reads }, { query: { addresses, viewer_fid: viewerFid } }) =>
      runQuery(
        reads,
        (db) => fidsByVerifiedAddress(db, addresses),
        (fids) => ({ fids, viewerFid }),
        reads.present.users,
      ),
  }),
  read({
    id: "getUsersByAddress",
    surface: "compat",
    path: "/user/bulk-by-address",
    price: perIds(2),
    summary: "Users by Ethereum or Solana addresses",
    description:
      "Keyed by address, Ethereum's in lower case; an address without a user has no key. At most 1,000 users.",
    query: ({ reads }) => ({
      addresses: textList({ maxItems: reads.maxIds, maxChars: 64 }),
      address_types: choiceList(["custody_address", "verified_address"]),
      viewer_fid: viewerFid(),
    }),
    response: Type.Object({}, { additionalProperties: Type.Array(CompatUser) }),
    run: ({ reads }, { query: { addresses, address_types: types, viewer_fid: viewerFid } }) =>
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
  }),
  read({
    id: "getUserByXUsername",
    surface: "native",
    path: "/user/by_x_username",
    summary: "The user with the lowest fid that declares this X name, ignoring case",
    query: { username: text({ description: "Without a leading @", examples: ["alice"] }) },
    response: "user",
    errors: ["notFound"],
    run: ({ reads }, { query }) =>
      respondWithUser(reads, query, (db) => fidByXUsername(db, query.username), "no user has this name on X"),
  }),
  read({
    id: "getUsersByXUsername",
    surface: "compat",
    path: "/user/by_x_username",
    summary: "Users that declare this X name, ignoring case, lowest fid first",
    query: {
      x_username: renamed(text({ description: "Without a leading @" }), "x_username", "username"),
      viewer_fid: viewerFid(),
    },
    response: object({ users: Type.Array(CompatUser) }),
    errors: ["notFound"],
    run: ({ reads }, { query: { x_username: name, viewer_fid: viewerFid } }) =>
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
  }),
  read({
    id: "getUsersByLocation",
    surface: "native",
    path: "/user/by_location",
    price: perRows(2),
    summary: "Users whose declared location starts with a text, ignoring case",
    description: "Ordered by location, then by fid. Locations have the form `geo:<latitude>,<longitude>`.",
    query: {
      location: text({ description: "Prefix of a location", examples: ["geo:52.5"] }),
      ...page(),
    },
    response: "userPage",
    run: ({ reads }, { query }) =>
      respondWithUserPage(reads, query, usersByLocation, { prefix: query.location }),
  }),
  read({
    id: "getUsersByLocation",
    surface: "compat",
    path: "/user/by_location",
    price: perRows(2),
    summary: `Users who declare a location within ${RADIUS_KM} km, nearest first`,
    description:
      `In a dense area the ${MAX_CANDIDATES} users on the nearest latitudes are examined.  With \`location\` instead ` +
      "of coordinates: users whose declared location begins with this text.",
    query: {
      latitude: optional(decimal({ min: -90, max: 90, examples: [52.52] })),
      longitude: optional(decimal({ min: -180, max: 180, examples: [13.4] })),
      location: optional(text({ description: "For example `geo:52.5`" })),
      ...compatPage(),
    },
    response: CompatUserPage,
    run: ({ reads }, { query }) => {
      const { latitude, longitude, location } = query;
      if (latitude !== undefined && longitude !== undefined) {
        const place = { latitude, longitude };
        return respondWithUserPage(reads, query, usersNearLocation, { place });
      }
      if (location === undefined)
        throw new ApiError("badRequest", "missing query parameter latitude or longitude");
      return respondWithUserPage(reads, query, usersByLocation, { prefix: location });
    },
  }),
];

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
