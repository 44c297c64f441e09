import type { AuditEntry } from "../audit/audit-store.ts";
import { CUSTODY_MOVED } from "../auth/owners/custody.ts";
import { isUncertain, type Owners } from "../auth/owners/owners.ts";
import type { Severity } from "../checks/check.ts";
import { OWNER_CHECKS } from "../checks/owners/owner-table.ts";
import { CHECK_TABLE } from "../checks/table.ts";
import { randomBase58 } from "../lib/base58.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { hasUnprintable } from "../lib/text.ts";
import type { RegistrationGuard } from "../net/guard.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import type { Sealer } from "../vault/sealer.ts";
import { isOfCustody, OPERATOR, testNotice } from "./notice.ts";
import { quietHoursText, readQuietHours } from "./quiet-hours.ts";
import type { ChannelReport, ChannelRequest, ChannelTerms, NamedCheck } from "./report.ts";
import { MAX_OWNERS_CHANNELS, type NoticeStore } from "./store/notice-store.ts";
import type { NoticeChannel } from "./store/queue-notices.ts";
import { hookTargetOf, type NoticeTarget, pushTargetOf, storeSecret } from "./target.ts";

export interface ChannelsDeps {
  readonly store: NoticeStore;
  /** Checks the URL of a channel before it is stored. Each call checks it again. */
  readonly guard: RegistrationGuard;
  /** Undefined without a master key. */
  readonly sealer: Sealer | undefined;
  readonly pushHosts: readonly string[];
  readonly owners: Pick<Owners, "newest" | "isOwner">;
  /** Name of the service. */
  readonly service: string;
  readonly clock: Clock;
}

/** Owner of the channels: the operator (`OPERATOR`) or an fid. */
export interface ChannelOwner {
  readonly ownerFid: number;
  /** The custody address by which the owner acts, 20 bytes; null for the operator. */
  readonly custody: Uint8Array | null;
  readonly maxChannels: number;
}

export interface AddedChannel {
  readonly id: string;
  readonly channel: ChannelReport;
  /** Null for a browser. */
  readonly secret: string | null;
}

/** Reason why a channel was not added. `message` is a full sentence. */
export interface NotAdded {
  readonly message: string;
  readonly isFull: boolean;
}

/** Returns the audit log entry for a change of a channel. */
export type AuditOf = (channelId: string) => AuditEntry;

const ID_CHARS = 12;
const MAX_LABEL_CHARS = 60;
const MAX_CHECKS = 64;
const SEVERITIES: readonly Severity[] = ["critical", "warning", "notice"];

/**
 * Reports whether a channel is active. Like an API key, a channel belongs to the custody address that created it, and ends when the fid
 * is transferred. It is not active while it is uncertain who owns the fid. If the fid is not known yet, the channel counts as active.
 */
export async function acts(
  { ownerFid, custody }: Pick<NoticeChannel, "ownerFid" | "custody">,
  owners: Pick<Owners, "isOwner">,
): Promise<boolean> {
  if (ownerFid === OPERATOR || custody === null) return true;
  try {
    return (await owners.isOwner(ownerFid, custody)) !== false;
  } catch (cause) {
    if (isUncertain(cause)) return false;
    throw cause;
  }
}

/** Returns the checks whose incidents an owner or the operator may receive. Checks that only Prometheus evaluates are left out. */
export function checksOf(ownerFid: number): readonly NamedCheck[] {
  const ofNodes = ownerFid === OPERATOR ? CHECK_TABLE.filter(({ value }) => value !== undefined) : [];
  return [...ofNodes, ...OWNER_CHECKS].map(({ id, title }) => ({ check: id, title }));
}

/**
 * Manages the channels of one owner or of the operator. If `auditOf` is given, each change adds its audit log entry in the same
 * transaction.
 */
export function createChannels(deps: ChannelsDeps, { ownerFid, custody, maxChannels }: ChannelOwner) {
  const { store, guard, sealer, owners, clock } = deps;
  const isOperator = ownerFid === OPERATOR;
  const own = (channelId: string) => ({ channelId, ownerFid, custody });

  /** Gives a browser that subscribes again the same id. */
  function pushId(endpoint: string): string {
    const named = isOperator ? endpoint : `${ownerFid} ${endpoint}`;
    return new Bun.CryptoHasher("sha256").update(named).digest("hex").slice(0, 24);
  }

  return {
    list: async (): Promise<readonly ChannelReport[]> =>
      (await store.list(ownerFid)).filter((channel) => isOfCustody(channel.custody, custody)).map(reportOf),
    /** Adds a channel. Returns the `secret` that verifies the signatures of a hook, or an error with a full sentence. */
    async add(request: ChannelRequest, auditOf?: AuditOf): Promise<Result<AddedChannel, NotAdded>> {
      const wrong = (message: string) => err({ message, isFull: false });
      const problem = problemOf(request, isOperator);
      if (problem !== undefined) return wrong(problem);
      const made = request.kind === "push" ? pushTargetOf(request, deps.pushHosts) : hookTargetOf(request);
      if (!made.ok) return wrong(made.error);
      const target: NoticeTarget = made.value;
      const url = target.kind === "push" ? target.endpoint : target.url;
      const id = target.kind === "push" ? pushId(url) : randomBase58(ID_CHARS);
      const owned = own(id);
      const checked = await guard.check(url, isOperator ? "notices" : `fid:${ownerFid}`);
      if (!checked.ok) return wrong(`${target.kind === "push" ? "endpoint" : "url"} ${checked.error.reason}`);
      // The DNS lookup takes as long as the host's name server wants, and that server may belong to the previous owner of the fid.
      if (!(await acts(owned, owners))) return wrong(CUSTODY_MOVED);
      // Incidents of owners' records are hardly ever critical.
      const { label, severity = isOperator ? "critical" : "notice", checks = [] } = request;
      const channel: NoticeChannel = {
        ...owned,
        kind: target.kind,
        label,
        host: new URL(url).hostname,
        ...storeSecret(sealer, id, Buffer.from(JSON.stringify(target))),
        severity,
        checks,
        quiet: quietOf(request),
        createdAt: nowSecs(clock),
        dueAt: null,
        leasedUntil: 0,
        claims: 0,
        attempts: 0,
        hour: 0,
        sent: 0,
        lastAt: null,
        lastError: null,
      };
      const added = await store.add(channel, maxChannels, auditOf?.(id));
      if (added === "moved") return wrong(CUSTODY_MOVED);
      if (added === "full")
        return err({
          isFull: true,
          message: isOperator
            ? `there are ${maxChannels} channels, which is the limit`
            : `an fid may have at most ${maxChannels} channels, and all of a node ${MAX_OWNERS_CHANNELS}`,
        });
      return ok({ id, channel: reportOf(channel), secret: target.kind === "hook" ? target.secret : null });
    },
    /** Changes a channel. The error is a full sentence, or null if the owner does not have this channel. */
    async edit(
      channelId: string,
      terms: ChannelTerms,
      auditOf?: AuditOf,
    ): Promise<Result<ChannelReport, string | null>> {
      const problem = problemOf(terms, isOperator);
      if (problem !== undefined) return err(problem);
      const { label, severity, checks, quiet_hours } = terms;
      const changed = {
        label,
        ...(severity && { severity }),
        ...(checks && { checks }),
        ...(quiet_hours !== undefined && { quiet: quietOf(terms) }),
      };
      const edited = await store.edit(own(channelId), changed, nowSecs(clock), auditOf?.(channelId));
      return edited ? ok(reportOf(edited)) : err(null);
    },
    remove: (channelId: string, auditOf?: AuditOf): Promise<boolean> =>
      store.remove(own(channelId), auditOf?.(channelId)),
    /** Queues a test notice for the next run, regardless of the channel's severity and quiet hours. */
    test: (channelId: string, auditOf?: AuditOf): Promise<boolean> =>
      store.put(own(channelId), testNotice(deps.service, ownerFid, nowSecs(clock)), auditOf?.(channelId)),
  };
}

const quietOf = ({ quiet_hours: quiet = "", zone = "UTC" }: ChannelTerms) =>
  quiet === "" ? null : (readQuietHours(quiet, zone) ?? null);

function problemOf(
  { label, severity, checks = [], quiet_hours: quiet = "", zone = "UTC" }: ChannelTerms,
  isOperator: boolean,
): string | undefined {
  if (label === "" || label.length > MAX_LABEL_CHARS || hasUnprintable(label))
    return `label must have 1 to ${MAX_LABEL_CHARS} printable characters`;
  if (severity !== undefined && !SEVERITIES.includes(severity))
    return `severity must be one of ${SEVERITIES.join(", ")}`;
  const known = [...OWNER_CHECKS, ...(isOperator ? CHECK_TABLE : [])];
  const unknown = checks.find((id) => !known.some((check) => check.id === id));
  if (unknown !== undefined) return `checks has ${JSON.stringify(unknown)}, which is not the id of a check`;
  if (checks.length > MAX_CHECKS) return `checks must be at most ${MAX_CHECKS}`;
  if (quiet !== "" && !readQuietHours(quiet, zone))
    return 'quiet_hours must be like "22:00-07:00", and zone a time zone such as "Europe/Berlin"';
  return undefined;
}

function reportOf(channel: NoticeChannel): ChannelReport {
  const { channelId, kind, label, host, severity, checks, quiet, createdAt, lastAt, lastError } = channel;
  return {
    id: channelId,
    kind,
    label,
    host,
    severity,
    checks,
    quiet_hours: quiet && quietHoursText(quiet),
    created_at: createdAt,
    last_at: lastAt,
    last_error: lastError || null,
  };
}
