import { type Static, Type } from "@sinclair/typebox";
import { toHex } from "../../../protocol/validate/eth.ts";
import { PERMISSIONS, permissionsOf } from "../../../signers/permissions.ts";
import type { ExportedSigner } from "../../../signers/signer-keys.ts";
import type { SignerView } from "../../../signers/signer-service.ts";
import { closed, Fid, Hash, Next, nullable, UnixSecs } from "../../shared/schemas.ts";

const Uuid = Type.String({ format: "uuid" });
const PublicKey = Type.String({ pattern: "^0x[0-9a-f]{64}$", description: "An Ed25519 public key" });

const ManagedSigner = Type.Object(
  {
    object: Type.Literal("managed_signer"),
    signer_uuid: Uuid,
    owner_fid: Fid,
    public_key: PublicKey,
    status: Type.Union(
      (["generated", "pending_approval", "approved", "revoked"] as const).map((status) =>
        Type.Literal(status),
      ),
    ),
    permissions: Type.Array(Type.Union(PERMISSIONS.map((name) => Type.Literal(name)))),
    fid: nullable(Fid),
    app_fid: nullable(Fid),
    approval_url: nullable(Type.String({ description: "Where a user approves it, while it waits for that" })),
    approved_at: nullable(UnixSecs("When its first approval was seen")),
    expires_at: nullable(UnixSecs("When a gasless key expires unless it is used")),
    created_at: UnixSecs("Creation"),
    updated_at: UnixSecs("Last change"),
  },
  { ...closed, $id: "ManagedSigner" },
);

export const ManagedSignerResponse = Type.Object({ signer: ManagedSigner }, closed);
export const ManagedSignersResponse = Type.Object({ signers: Type.Array(ManagedSigner), next: Next }, closed);
export const DeletedSigner = Type.Object(
  {
    deleted: Type.Literal(true),
    removal: nullable(Hash),
  },
  { ...closed, description: "`removal` is the hash of the message by which a gasless key removed itself" },
);
const PrivateKey = Type.String({ pattern: "^0x[0-9a-fA-F]{64}$", description: "The Ed25519 seed" });
export const ExportedSignerResponse = Type.Object(
  { signer_uuid: Uuid, fid: nullable(Fid), public_key: PublicKey, private_key: PrivateKey },
  closed,
);
export const ImportSignerRequest = Type.Object({
  private_key: PrivateKey,
  fid: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
});
export const SignerIdRequest = Type.Object({ signer_uuid: Type.String({ minLength: 1, maxLength: 64 }) });

export function presentManagedSigner({
  signer,
  state,
  approvalUrl,
}: SignerView): Static<typeof ManagedSigner> {
  return {
    object: "managed_signer",
    signer_uuid: signer.signerUuid,
    owner_fid: signer.ownerFid,
    public_key: toHex(signer.publicKey),
    status: state.status,
    permissions: [...permissionsOf(signer.permissions)],
    fid: state.fid,
    app_fid: signer.request?.appFid ?? null,
    approval_url: approvalUrl ?? null,
    approved_at: signer.approval?.at ?? null,
    expires_at: state.status === "approved" ? state.expiresAt : null,
    created_at: signer.createdAt,
    updated_at: signer.updatedAt,
  };
}

export function presentExport({ signerUuid, fid, publicKey, seed }: ExportedSigner) {
  const exported = { signer_uuid: signerUuid, fid, public_key: toHex(publicKey), private_key: toHex(seed) };
  seed.fill(0);
  return exported;
}
