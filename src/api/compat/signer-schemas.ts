import { type Static, Type } from "@sinclair/typebox";
import { isoTime } from "../../lib/iso-time.ts";
import { toHex } from "../../protocol/validate/eth.ts";
import { PERMISSIONS, permissionsOf } from "../../signers/permissions.ts";
import type { SignerView } from "../../signers/signer-service.ts";
import { closed, EthAddress, Fid } from "../shared/schemas.ts";

const PublicKey = Type.String({ pattern: "^0x[0-9a-f]{64}$", description: "An Ed25519 public key" });
const PermissionName = Type.Union(PERMISSIONS.map((name) => Type.Literal(name)));

export const CompatSigner = Type.Object(
  {
    object: Type.Literal("signer"),
    signer_uuid: Type.String({ format: "uuid" }),
    public_key: PublicKey,
    status: Type.Union(
      (["generated", "pending_approval", "approved", "revoked"] as const).map((status) =>
        Type.Literal(status),
      ),
    ),
    permissions: Type.Array(PermissionName),
    fid: Type.Optional(Fid),
    signer_approval_url: Type.Optional(
      Type.String({
        format: "uri",
        description: "Where a user approves the signer, while it waits for that",
      }),
    ),
    expires_at: Type.Optional(
      Type.String({ format: "date-time", description: "When a gasless key expires unless it is used" }),
    ),
  },
  { ...closed, $id: "FarcasterSigner" },
);
export const CompatSigners = Type.Object({ signers: Type.Array(CompatSigner) }, closed);
export const LoginNonce = Type.Object({ nonce: Type.String({ pattern: "^[a-zA-Z0-9]{22}$" }) }, closed);

export const CreateSignerRequest = Type.Object({
  permissions: Type.Optional(
    Type.Array(PermissionName, { maxItems: PERMISSIONS.length, description: "Default: all of them" }),
  ),
});

const Signature = Type.String({ pattern: "^0x[0-9a-fA-F]{130}$" });

export const RegisterSignedKeyRequest = Type.Object({
  signer_uuid: Type.String({ minLength: 1, maxLength: 64 }),
  app_fid: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  deadline: Type.Integer({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description: "Unix seconds, at most 7 days ahead",
  }),
  signature: Type.Intersect([Signature], {
    description: "SignedKeyRequest by the custody address of `app_fid`, for the chain or for gasless keys",
  }),
  gasless_signature: Type.Optional(
    Type.Intersect([Signature], { description: "The same under the domain of gasless keys" }),
  ),
  redirect_url: Type.Optional(Type.String({ maxLength: 2048 })),
  sponsor: Type.Optional(Type.Unknown({ description: "Ignored: nothing here costs" })),
});

export const AuthAddress = Type.Object(
  {
    address: EthAddress,
    status: Type.Union([Type.Literal("approved"), Type.Literal("revoked")]),
    fid: Fid,
  },
  { ...closed, $id: "FarcasterAuthAddress" },
);

export function presentSigner({ signer, state, approvalUrl }: SignerView): Static<typeof CompatSigner> {
  const { fid, status, expiresAt } = state;
  return {
    object: "signer",
    signer_uuid: signer.signerUuid,
    public_key: toHex(signer.publicKey),
    status,
    permissions: [...permissionsOf(signer.permissions)],
    ...(fid === null ? {} : { fid }),
    ...(approvalUrl === undefined ? {} : { signer_approval_url: approvalUrl }),
    ...(status !== "approved" || expiresAt === null ? {} : { expires_at: isoTime(expiresAt) }),
  };
}
