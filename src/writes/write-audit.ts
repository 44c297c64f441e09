import type { AuditEntry, AuditStore } from "../audit/audit-store.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Logger } from "../runtime/logger.ts";
import type { WriteCall, WriteReply } from "./rpc.ts";

/** Records a write before it is answered. A write that has happened is not refused because its entry could not be stored. */
export type RecordWrite = (call: WriteCall, reply: WriteReply) => Promise<void>;

export function createWriteAudit({
  audit,
  clock,
  log,
}: {
  readonly audit: Pick<AuditStore, "append">;
  readonly clock: Clock;
  readonly log: Logger;
}): RecordWrite {
  return async (call, reply) => {
    const entries = entriesOf(call, reply, clock.nowMs());
    if (entries.length === 0) return;
    try {
      await audit.append(entries);
    } catch (err) {
      log.error({ err, requestId: call.requestId }, "A write could not be recorded in the audit log");
    }
  };
}

/** One entry for each message, and one for a refused write. A repetition and what the node could not take have none. */
function entriesOf(call: WriteCall, reply: WriteReply, atMs: number): AuditEntry[] {
  const { owner, signerUuid, requestId, address } = call;
  const shared = {
    atMs,
    ownerFid: owner.fid,
    action: actionOf(call.route),
    apiKeyId: owner.apiKeyId,
    signerUuid,
    requestId,
    address,
  };
  if (!reply.ok) {
    const { status, code } = reply.refusal;
    return status === 503 ? [] : [{ ...shared, userFid: null, hash: null, outcome: code }];
  }
  if (reply.replayed) return [];
  return reply.outcomes
    .filter(({ state }) => state !== "unchanged")
    .map(({ hash, fid, state, refusal }) => ({
      ...shared,
      userFid: fid,
      hash: hash === "" ? null : Uint8Array.fromHex(hash),
      outcome: state === "merged" ? "ok" : (refusal?.code ?? state),
    }));
}

/** `write.cast` of `POST /cast`, `write.cast.delete` of `DELETE /cast`. */
function actionOf(route: string): string {
  const [method = "", path = ""] = route.split(" ");
  const suffix = method === "POST" ? "" : `.${method.toLowerCase()}`;
  return `write${path.replace(/\/+$/, "").replaceAll("/", ".")}${suffix}`;
}
