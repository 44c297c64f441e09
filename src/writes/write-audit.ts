import type { AuditEntry, AuditStore } from "../audit/audit-store.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Logger } from "../runtime/logger.ts";
import type { WriteCall, WriteReply } from "./rpc.ts";
import { auditOfCall } from "./store/write-audit.ts";

/**
 * Records what a write did not bring into the network: its refusal, or parts that can make no message. The entries of its messages are
 * stored with their outcomes. The answer does not wait for an entry that cannot be stored: nothing has changed.
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

/** A repetition, and what the node could not take, have none. */
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
