import type { WorkLease } from "../../cluster/postgres/work-lease.ts";
import { randomBase58 } from "../../lib/base58.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";
import { createLogThrottle } from "../../runtime/log/log-throttle.ts";
import type { Logger } from "../../runtime/log/logger.ts";
import type { KeyFacts } from "../../signers/key-facts.ts";
import { sentenceOf } from "../check.ts";
import { type Incident, type IncidentStore, MAX_OPEN_OF_OWNERS, SEEN_EVERY_SECS } from "../incident-store.ts";
import {
  EXPIRES_SECS,
  type FoundSigner,
  MAX_FOUND,
  MAX_OPEN_OF_CHECK,
  type OwnerFinding,
  type OwnerFindings,
  type WebhookStanding,
} from "./owner-findings.ts";
import { MAX_SHARE, MIN_DELIVERIES, MIN_SUCCESSES, ownerCheckOf } from "./owner-table.ts";

const ID_CHARS = 12;
const INTERVAL_SECS = 60;
/** Maximum number of open incidents that one pass checks again. */
const MAX_ASKED = 200;
const FAULT_INTERVAL_MS = 60_000;
const DAY_SECS = 86_400;

export interface OwnerChecksDeps {
  readonly findings: OwnerFindings;
  /** Returns when gasless keys expire, from the index. */
  readonly keyFacts: Pick<KeyFacts, "of">;
  /** Reports whether the index lags or is being filled, so that it may not know when a key expires. */
  readonly isBehind: () => boolean;
  /**
   * Lifetime of a new gasless key in seconds. A key that never lives for weeks should not be reported as about to expire all
   * the time.
   */
  readonly keyTtlSecs: number;
  readonly settings: { readonly off: readonly string[] };
  readonly incidents: Pick<IncidentStore, "open" | "resolve" | "see" | "openOfOwners">;
  /** Held by the node that makes the pass; undefined if there is only one node. */
  readonly lease: WorkLease | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The checks of owners' records. Each pass opens and resolves incidents, and is made by one node of a state. */
export interface OwnerChecks {
  /** Makes a pass, at most once a minute. A call during another pass does nothing. */
  evaluate(): Promise<void>;
}

export function createOwnerChecks(deps: OwnerChecksDeps): OwnerChecks {
  const { findings, keyFacts, isBehind, settings, incidents, lease, clock, log } = deps;
  const throttle = createLogThrottle({ clock, intervalMs: FAULT_INTERVAL_MS });
  const expiresSecs = Math.min(EXPIRES_SECS, Math.floor(deps.keyTtlSecs / 4));
  let isLooking = false;
  let lookedSecs = Number.NEGATIVE_INFINITY;
  /** The last signer that was checked. The next pass continues after it. */
  let signerSeq = 0;
  /** The last open incident that was checked again. */
  let askedId = "";

  function expires({ fid, publicKey }: FoundSigner, now: number): boolean {
    const expiresAt = keyFacts.of(fid, publicKey, now)?.expiresAt ?? null;
    return expiresAt !== null && expiresAt - now < expiresSecs;
  }

  async function expiringSigners(now: number, open: ReadonlySet<string>): Promise<OwnerFinding[]> {
    const signers = await findings.signersAfter(signerSeq);
    signerSeq = signers.length < MAX_FOUND ? 0 : (signers.at(-1)?.seq ?? 0);
    return signers
      .filter((signer) => !open.has(keyOf("signer_expires", signer.signerUuid)) && expires(signer, now))
      .map(({ signerUuid, ownerFid, fid }) => ({
        checkId: "signer_expires",
        subject: signerUuid,
        ownerFid,
        measured: { value: 0, labels: { fid: String(fid) } },
      }));
  }

  async function isOver({ checkId, nodeId: subject, openedAt }: Incident, now: number): Promise<boolean> {
    if (!ownerCheckOf(checkId) || settings.off.includes(checkId)) return true;
    switch (checkId) {
      case "webhook_failing": {
        const webhook = await findings.webhook(subject, now);
        return !webhook || webhook.isOff || (!webhook.isDeactivated && works(webhook, now));
      }
      case "webhook_disabled":
        return (await findings.webhook(subject, now))?.isDeactivated !== true;
      case "api_key_expires": {
        const key = await findings.apiKey(subject);
        return !key || key.expiresAt === null || Math.abs(key.expiresAt - now) > EXPIRES_SECS;
      }
      case "signer_expires": {
        const signer = await findings.signer(subject);
        return !signer || (!isBehind() && !expires(signer, now));
      }
      default:
        return now - openedAt > DAY_SECS;
    }
  }

  /** Checks open incidents again, in turn. */
  async function resolve(open: readonly Incident[], now: number): Promise<void> {
    const inOrder = open.toSorted((a, b) => (a.incidentId < b.incidentId ? -1 : 1));
    const first = Math.max(
      0,
      inOrder.findIndex(({ incidentId }) => incidentId > askedId),
    );
    const turn = [...inOrder.slice(first), ...inOrder.slice(0, first)].slice(0, MAX_ASKED);
    askedId = turn.at(-1)?.incidentId ?? "";
    for (const incident of turn) {
      const { checkId, nodeId: subject, seenAt } = incident;
      if (await isOver(incident, now)) await incidents.resolve(checkId, subject, now);
      else if (now - seenAt >= SEEN_EVERY_SECS) await incidents.see(checkId, subject, now);
    }
  }

  async function look(now: number): Promise<void> {
    if (lease && !(await lease.hold())) return;
    const open = await incidents.openOfOwners();
    const known = new Set(open.map(({ checkId, nodeId }) => keyOf(checkId, nodeId)));
    await resolve(open, now);
    const found = [
      ...(await findings.webhooks(now)),
      ...(await findings.sends(now)),
      ...(await findings.apiKeys(now)),
      ...(await expiringSigners(now, known)),
    ].filter(({ checkId }) => !settings.off.includes(checkId));
    const counts = new Map<string, number>();
    const hasRoom = (checkId: string, ownerFid: number) => {
      const key = keyOf(checkId, String(ownerFid));
      const count = (counts.get(key) ?? 0) + 1;
      if (count <= MAX_OPEN_OF_CHECK) counts.set(key, count);
      return count <= MAX_OPEN_OF_CHECK;
    };
    for (const { checkId, ownerFid } of open) hasRoom(checkId, ownerFid);
    const opening = found.filter(({ checkId, ownerFid }) => hasRoom(checkId, ownerFid));
    const room = Math.max(0, MAX_OPEN_OF_OWNERS - open.length);
    for (const { checkId, subject, ownerFid, measured } of opening.slice(0, room)) {
      const check = ownerCheckOf(checkId);
      if (!check) continue;
      const { severity } = check;
      const incidentId = randomBase58(ID_CHARS);
      const sentence = sentenceOf(check, measured);
      await incidents.open({ incidentId, checkId, nodeId: subject, ownerFid, severity, sentence }, now);
    }
    if (opening.length > room)
      throttle((others) =>
        log.warn({ ...others, open: open.length }, "Owners have too many open incidents: further ones wait"),
      );
  }

  return {
    async evaluate() {
      const now = nowSecs(clock);
      if (isLooking || Math.abs(now - lookedSecs) < INTERVAL_SECS) return;
      isLooking = true;
      lookedSecs = now;
      try {
        await look(now);
      } catch (err) {
        throttle((others) => log.warn({ err, ...others }, "Owners' records could not be checked"));
      } finally {
        isLooking = false;
      }
    },
  };
}

const keyOf = (checkId: string, subject: string) => `${checkId} ${subject}`;

/** Reports whether a webhook works again: ten successes in a row, or one and a day without a failure. */
function works(standing: WebhookStanding, now: number): boolean {
  const { failures, lastSuccessAt, lastFailureAt, deliveredSince, failed, total } = standing;
  if (failures > 0 || (total >= MIN_DELIVERIES && failed > MAX_SHARE * total)) return false;
  if (lastFailureAt === null || deliveredSince >= MIN_SUCCESSES) return true;
  return lastSuccessAt !== null && lastSuccessAt > lastFailureAt && now - lastFailureAt > DAY_SECS;
}
