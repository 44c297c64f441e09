import { get } from "../../data/call.ts";
import { apiPrefix } from "../../page-config.ts";
import type { PillKind } from "../../parts/pill.tsx";

/** A managed signer of the native dialect. Times are unix seconds. */
export interface ManagedSigner {
  readonly signer_uuid: string;
  readonly owner_fid: number;
  readonly public_key: string;
  readonly status: "generated" | "pending_approval" | "approved" | "revoked";
  readonly permissions: readonly string[];
  readonly fid: number | null;
  readonly app_fid: number | null;
  readonly approval_url: string | null;
  readonly approved_at: number | null;
  readonly expires_at: number | null;
  readonly created_at: number;
}

/** The word for each state, and what it means. */
export const STATES: Readonly<
  Record<ManagedSigner["status"], readonly [PillKind | undefined, string, string]>
> = {
  generated: [undefined, "made", "No app has asked for approval yet"],
  pending_approval: ["warn", "waits for approval", "No user has approved it yet"],
  approved: ["ok", "approved", "It signs for its user"],
  revoked: ["bad", "revoked", "Its user has taken it back"],
};

export const PAGE_SIZE = 50;

export const listCall = {
  ...get("/managed_signer/list", { limit: PAGE_SIZE }),
  op: "signer.read",
  cli: "signer list",
} as const;

export const removeOperation = ({ signer_uuid, fid, status }: ManagedSigner) => ({
  op: "signer.delete",
  method: "DELETE" as const,
  path: `${apiPrefix}/managed_signer`,
  body: { signer_uuid },
  title: "Remove the signer",
  words:
    status === "approved"
      ? `The node erases the key, and apps can no longer act for fid ${fid} with it. A key without an on-chain transaction also removes itself from the network.`
      : "The node erases the key. Its approval link ends.",
  typedName: signer_uuid.slice(0, 8),
  cli: `signer delete ${signer_uuid}`,
});

/** `PUBLISH_CAST` as `publish cast`. */
export const permissionWords = (permission: string) =>
  permission === "WRITE_ALL" ? "everything" : permission.toLowerCase().replaceAll("_", " ");
