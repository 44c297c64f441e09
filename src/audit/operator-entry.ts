import type { AuditEntry } from "./audit-store.ts";

/** A change by the operator, or by the node according to the operator's settings. */
export type OperatorAction =
  | "backup.check"
  | "backup.download"
  | "incident.ack"
  | "incident.note"
  | "incident.mute"
  | "notice.add"
  | "notice.edit"
  | "notice.remove"
  | "notice.test"
  | "node.restart"
  | "setting.change"
  | "setup.apply"
  | "signin_key.create"
  | "signin_key.replace";

/** Who changed something without an fid. */
export interface OperatorOrigin {
  /** Empty if no request caused it. */
  readonly requestId: string;
  /** The address of the client, the user who ran the command, or `node`. */
  readonly address: string;
}

/** The node itself, which acts on the schedule of a setting. */
export const BY_NODE: OperatorOrigin = { requestId: "", address: "node" };

/** The operator has no fid. */
const OPERATOR_FID = 0;

/** Returns the audit entry of a change to one of the operator's records. */
export function operatorEntry(
  done: OperatorOrigin & { readonly action: OperatorAction; readonly id: string; readonly atMs: number },
): AuditEntry {
  const { action, id, atMs, requestId, address } = done;
  return {
    atMs,
    ownerFid: OPERATOR_FID,
    action,
    apiKeyId: null,
    signerUuid: null,
    userFid: null,
    hash: null,
    recordId: id,
    outcome: "ok",
    requestId,
    address,
  };
}
