import type { AuditEntry } from "./audit-store.ts";

/** What the operator, or the node by the operator's settings, has changed. */
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

/** Who has changed something without an fid. */
export interface OperatorOrigin {
  /** Empty where no request did it. */
  readonly requestId: string;
  /** The address of the client, who ran the command, or `node`. */
  readonly address: string;
}

/** The node itself, in time for what a setting asks. */
export const BY_NODE: OperatorOrigin = { requestId: "", address: "node" };

/** The operator has no fid. */
const OPERATOR_FID = 0;

/** What was done to a record of the operator's, for the audit log. */
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
