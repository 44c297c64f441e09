import type { AuditEntry } from "../audit/audit-store.ts";
import type { Clock } from "../runtime/clock.ts";

/** Entries of the audit log for one change of a list. */
const MAX_AUDITED = 20;

/** Who changes a list of an owner, and from where. */
export interface ModerationActor {
  readonly ownerFid: number;
  readonly apiKeyId: string | null;
  readonly requestId: string;
  /** The client's address. */
  readonly address: string;
}

/** Returns the audit entries of a change: for the first users that it bans, or for the user who mutes. The muted user is not recorded. */
export function moderationEntries(
  { ownerFid, apiKeyId, requestId, address }: ModerationActor,
  action: "ban.add" | "ban.remove" | "mute.add" | "mute.remove",
  fids: readonly number[],
  clock: Clock,
): AuditEntry[] {
  const atMs = clock.nowMs();
  return fids.slice(0, MAX_AUDITED).map((userFid) => ({
    ...{ atMs, ownerFid, action, apiKeyId, signerUuid: null, userFid, hash: null },
    ...{ outcome: "ok", requestId, address },
  }));
}
