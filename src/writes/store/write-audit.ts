import type { AuditEntry, AuditStore } from "../../audit/audit-store.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/log/logger.ts";
import type { WriteCall, WriteReply } from "../rpc.ts";
import type { Settlement, WriteAudit } from "./write-store.ts";

/**
 * Records what a write did not bring into the network: its refusal, or parts for which no message can be created. The entries of its
 * messages are stored with their outcomes. The response does not wait for an entry that cannot be stored, because nothing has changed.
 */
export type RecordRefused = (call: WriteCall, reply: WriteReply) => Promise<void>;

export function createWriteAudit({
  audit,
  clock,
  log,
}: {
  readonly audit: Pick<AuditStore, "append">;
  readonly clock: Clock;
  readonly log: Logger;
}): RecordRefused {
  return async (call, reply) => {
    const entries = entriesOf(call, reply, clock.nowMs());
    if (entries.length === 0) return;
    try {
      await audit.append(entries);
    } catch (err) {
      log.error({ err, requestId: call.requestId }, "A refused write could not be recorded in the audit log");
    }
  };
}

/** A repetition, and a temporary refusal of the node, have no entries. */
function entriesOf(call: WriteCall, reply: WriteReply, atMs: number): AuditEntry[] {
  const { fid: ownerFid, apiKeyId } = call.owner;
  const shared = { ...auditOfCall(call), atMs, ownerFid, apiKeyId, hash: null };
  if (!reply.ok) {
    const { status, code } = reply.refusal;
    return status === 503 ? [] : [{ ...shared, userFid: null, outcome: code }];
  }
  if (reply.replayed) return [];
  return reply.outcomes
    .filter(({ state }) => state === "skipped")
    .map(({ fid, state }) => ({ ...shared, userFid: fid, outcome: state }));
}

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

/** Returns the entry of an attempt: one for the first, and one for a later refusal. */
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

/** Returns `write.cast` for `POST /cast`, `write.cast.delete` for `DELETE /cast`. */
function actionOf(route: string): string {
  const [method = "", path = ""] = route.split(" ");
  const suffix = method === "POST" ? "" : `.${method.toLowerCase()}`;
  return `write${path.replace(/\/+$/, "").replaceAll("/", ".")}${suffix}`;
}
