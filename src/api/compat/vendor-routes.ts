import { type Static, Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { ApiError } from "../../http/errors.ts";
import { operation } from "../../http/operation.ts";
import { cursor, limit, text } from "../../http/params.ts";
import { keyOwner } from "../../read/queries/users/key-owner.ts";
import type { ReadSource } from "../../read/run-query.ts";
import { nowSecs } from "../../runtime/clock.ts";
import { listFids } from "../native/users/list-routes.ts";
import { FidPageResponse } from "../native/users/schemas.ts";
import { closed, Fid } from "../shared/schemas.ts";

const tags = ["Signers and on-chain events"];

const NO_FRESH_FIDS = "this service registers no fids";

const DeveloperManagedSigner = Type.Object(
  {
    public_key: Type.String({ pattern: "^0x[0-9a-f]{64}$" }),
    status: Type.Union([Type.Literal("approved"), Type.Literal("revoked")]),
    fid: Fid,
  },
  { ...closed, $id: "FarcasterDeveloperManagedSigner" },
);

/** Look-ups that a hosted API serves from keys and fids that it manages; here they are those of the network. */
export function vendorRoutes(reads: ReadSource) {
  return new Elysia({ name: "farcaster-vendor" })
    .get(
      "/signer/developer_managed",
      ({ query: { public_key: key } }): Static<typeof DeveloperManagedSigner> => {
        if (!/^(?:0x)?[0-9a-f]{64}$/i.test(key))
          throw new ApiError("badRequest", "public_key must be 0x and 64 hex digits");
        const hex = key.toLowerCase().replace(/^0x/, "");
        const owner = keyOwner(reads.db, Buffer.from(hex, "hex"), nowSecs(reads.clock));
        if (!owner) throw new ApiError("notFound", "no fid ever had this key");
        return { public_key: `0x${hex}`, status: owner.isActive ? "approved" : "revoked", fid: owner.fid };
      },
      operation({
        // Not cached: later these keys may come from the state database.
        operationId: "getDeveloperManagedSigner",
        summary: "The fid of a key, on-chain or gasless, and whether it is still active",
        tags,
        query: { public_key: text({ description: "0x and 64 hex digits" }) },
        response: DeveloperManagedSigner,
        errors: ["notFound"],
      }),
    )
    .get(
      "/user/fid",
      ({ query, request }) => {
        // Clients of the hosted API send the wallet that pays for a new fid.
        if (request.headers.has("x-wallet-id")) throw new ApiError("notImplemented", NO_FRESH_FIDS);
        return listFids(reads, query);
      },
      operation({
        // The handler reads a header.
        cache: "revalidate",
        operationId: "getFids",
        summary:
          "Every fid that exists, ascending; 501 with the header x-wallet-id, which requests a new one",
        tags: ["Users"],
        query: { limit: limit(), cursor: cursor() },
        response: FidPageResponse,
        notImplemented: {
          when: "With the header `x-wallet-id`, which requests a new fid.",
          message: NO_FRESH_FIDS,
        },
      }),
    );
}
