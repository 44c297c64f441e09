import type { AuditEntry } from "../../audit/audit-store.ts";
import type { WriteCall } from "../rpc.ts";
import type { Settlement, WriteAudit } from "./write-store.ts";

/** A message whose attempt was stored. */
export interface SettledMessage {
  readonly ownerFid: number;
  readonly apiKeyId: string;
  readonly fid: number;
  readonly hash: Uint8Array;
  /** Attempts before this one. */
  readonly attempts: number;
  /** JSON of `WriteAudit`; null in rows of earlier releases. */
  readonly audit: string | null;
}

export function auditOfCall({ route, signerUuid, requestId, address }: WriteCall): WriteAudit {
  return { action: actionOf(route), signerUuid, requestId, address };
}

/** The entry of an attempt: the first one has one, and a refusal after it. */
export function auditOfSettled(
  { ownerFid, apiKeyId, fid, hash, attempts, audit }: SettledMessage,
  result: Settlement["result"],
  atMs: number,
): AuditEntry | undefined {
  if (audit === null || (attempts > 0 && result.kind !== "refused")) return undefined;
  const asked: WriteAudit = JSON.parse(audit);
  return { atMs, ownerFid, apiKeyId, userFid: fid, hash, ...asked, outcome: outcomeOf(result) };
}

function outcomeOf(result: Settlement["result"]): string {
  switch (result.kind) {
    case "merged":
      return "ok";
    case "again":
      return "queued";
    case "refused":
      return result.refusal.code;
  }
}

/** `write.cast` of `POST /cast`, `write.cast.delete` of `DELETE /cast`. */
function actionOf(route: string): string {
  const [method = "", path = ""] = route.split(" ");
  const suffix = method === "POST" ? "" : `.${method.toLowerCase()}`;
  return `write${path.replace(/\/+$/, "").replaceAll("/", ".")}${suffix}`;
}
