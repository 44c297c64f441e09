import type { AuditEntry } from "../audit/audit-store.ts";

export const MAX_NOTE_CHARS = 500;
export const MAX_MUTED_HOURS = 720;
const HOUR_SECS = 3600;

/** Whether a text is a note of an incident: plain, of one or more lines. */
export function isNote(text: string): boolean {
  return text.length <= MAX_NOTE_CHARS && /^[^\p{Cc}]*$/u.test(text.replaceAll("\n", " "));
}

/** When a muting of some hours ends, unix seconds; null for 0, undefined for a number that is not allowed. */
export function mutedUntil(hours: number, nowSecs: number): number | null | undefined {
  if (!Number.isInteger(hours) || hours < 0 || hours > MAX_MUTED_HOURS) return undefined;
  return hours === 0 ? null : nowSecs + hours * HOUR_SECS;
}

/** The operator has no fid. */
const OPERATOR_FID = 0;

/** What the operator has done to an incident, for the audit log. */
export function operatorEntry(done: {
  readonly action: "incident.ack" | "incident.note" | "incident.mute";
  readonly id: string;
  readonly atMs: number;
  readonly requestId: string;
  /** The address of the client, or who ran the command. */
  readonly address: string;
}): AuditEntry {
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
