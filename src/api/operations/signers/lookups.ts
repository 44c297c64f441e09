import { Type } from "@sinclair/typebox";
import { ApiError } from "../../../http/errors.ts";
import { address, text } from "../../../http/request/params.ts";
import { fromHex } from "../../../protocol/validate/eth.ts";
import { authAddressOwner, keyOwner } from "../../../read/queries/users/owners.ts";
import { nowSecs } from "../../../runtime/clock.ts";
import { closed, EthAddress, Fid } from "../../dialects/fields.ts";
import { topic } from "../../topic.ts";

const { op } = topic({ tag: "Signers and on-chain events", surface: "compat" });

const DeveloperManagedSigner = Type.Object(
  {
    public_key: Type.String({ pattern: "^0x[0-9a-f]{64}$" }),
    status: Type.Union([Type.Literal("approved"), Type.Literal("revoked")]),
    fid: Fid,
  },
  { ...closed, $id: "FarcasterDeveloperManagedSigner" },
);

const AuthAddress = Type.Object(
  {
    address: EthAddress,
    status: Type.Union([Type.Literal("approved"), Type.Literal("revoked")]),
    fid: Fid,
  },
  { ...closed, $id: "FarcasterAuthAddress" },
);

export const signerLookupOperations = [
  op({
    id: "getDeveloperManagedSigner",
    path: "/signer/developer_managed",
    summary: "The fid of a key, on-chain or gasless, and whether it is still active",
    query: { public_key: text({ description: "0x and 64 hex digits" }) },
    response: DeveloperManagedSigner,
    errors: ["notFound"],
    run: ({ reads }, { query: { public_key: key } }) => {
      if (!/^(?:0x)?[0-9a-f]{64}$/i.test(key))
        throw new ApiError("badRequest", "public_key must be 0x and 64 hex digits");
      const hex = key.toLowerCase().replace(/^0x/, "");
      const owner = keyOwner(reads.db, Buffer.from(hex, "hex"), nowSecs(reads.clock));
      if (!owner) throw new ApiError("notFound", "no fid ever had this key");
      return { public_key: `0x${hex}`, status: owner.isActive ? "approved" : "revoked", fid: owner.fid };
    },
  }),
  op({
    id: "lookupDeveloperManagedAuthAddress",
    path: "/auth_address/developer_managed",
    summary: "The fid of an auth address, and whether it is still active",
    query: { address: address() },
    response: AuthAddress,
    errors: ["notFound"],
    run: ({ reads }, { query }) => {
      const owner = authAddressOwner(reads.db, fromHex(query.address));
      if (!owner) throw new ApiError("notFound", "no fid ever had this auth address");
      return { address: query.address, status: owner.isActive ? "approved" : "revoked", fid: owner.fid };
    },
  }),
];
