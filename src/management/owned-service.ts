import type { AuditEntry } from "../audit/audit-store.ts";
import type { Secret } from "../db/state/secret.ts";
import { ok, type Result } from "../lib/result.ts";
import type { RegistrationGuard } from "../net/guard.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import { ownValue, readObject } from "./fields.ts";
import type { Claim, OwnedStore, StoreRefusal } from "./owned-store.ts";
import { badField, type Refusal, refusalOf } from "./refusal.ts";

const SECRET_BYTES = 32;

/** Creates a secret: 32 random bytes as 64 hex digits. */
export function createSecret(nowSecs: number): Secret {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  return {
    uid: crypto.randomUUID(),
    value: Buffer.from(bytes).toString("hex"),
    createdAt: nowSecs,
    expiresAt: null,
  };
}

/** Settings for one kind of record. */
export interface OwnedSettings {
  /** Maximum number of records per owner. */
  readonly cap: number;
  /** How long a secret stays valid after a rotation, in seconds. */
  readonly graceSecs: number;
}

/**
 * Maximum number of unexpired secrets. A rotation after a leak must always be possible, so the limit is far above normal use within a
 * grace period, but a record must not grow with every request.
 */
const MAX_LIVE_SECRETS = 100;

/** Who requests a change of a record. */
export interface Actor {
  readonly fid: number;
  /** API key that acts for the fid. */
  readonly apiKeyId: string | null;
  readonly requestId: string;
  /** Address of the client. */
  readonly address: string;
}

/** Returns the audit log entry for a change of a mini app or webhook. */
export function recordChange(
  action: string,
  { fid, apiKeyId, requestId, address }: Actor,
  recordId: string,
  clock: Clock,
): AuditEntry {
  const noSigner = { signerUuid: null, userFid: null, hash: null };
  const atMs = clock.nowMs();
  return { atMs, ownerFid: fid, action, apiKeyId, ...noSigner, recordId, outcome: "ok", requestId, address };
}

/**
 * Operations that apps and webhooks share: both belong to an fid, are few, and have secrets. Each change is recorded in the audit log.
 */
export interface OwnedService<Item> {
  get(fid: number, id: string): Promise<Result<Item, Refusal>>;
  /** Returns all records of the fid, oldest first. */
  list(fid: number): Promise<Item[]>;
  delete(actor: Actor, id: string): Promise<Result<undefined, Refusal>>;
  rotateSecret(actor: Actor, id: string): Promise<Result<Item, Refusal>>;
}

/** The shared operations, and helpers for creating and updating a record. */
export interface OwnedParts<Item, Changes> extends Pick<OwnedService<Item>, "get" | "list"> {
  readonly now: () => number;
  create(item: Item, audit?: AuditEntry): Promise<Result<Item, Refusal>>;
  delete(fid: number, id: string, audit?: AuditEntry): Promise<Result<undefined, Refusal>>;
  /** Finds the record that a body names, validates the body with `read`, and changes the record. */
  update(
    fid: number,
    body: unknown,
    read: (item: Item) => Promise<Result<Changes, Refusal>>,
    auditOf?: (id: string) => AuditEntry,
  ): Promise<Result<Item, Refusal>>;
  rotateSecret(fid: number, id: string, audit?: AuditEntry): Promise<Result<Item, Refusal>>;
}

export function createOwnedParts<Item extends { readonly ownerFid: number }, Changes>(options: {
  readonly store: OwnedStore<Item, Changes>;
  readonly clock: Clock;
  readonly settings: OwnedSettings;
  /** Name of the kind of record, such as `app`. */
  readonly noun: string;
  /** Key of the record's id in a body. */
  readonly idKey: string;
}): OwnedParts<Item, Changes> {
  const { store, clock, settings, noun, idKey } = options;
  const now = () => nowSecs(clock);
  const claim = (fid: number, id: string): Claim => ({ id, ownerFid: fid, nowSecs: now() });
  const refuse = (refusal: StoreRefusal) => refusalOf(refusal, { noun, cap: settings.cap });
  const toResult = <T extends object | undefined>(outcome: T | StoreRefusal): Result<T, Refusal> =>
    typeof outcome === "string" ? refuse(outcome) : ok(outcome);

  async function get(fid: number, id: string): Promise<Result<Item, Refusal>> {
    const item = await store.find(id, now());
    if (!item) return refuse("not-found");
    return item.ownerFid === fid ? ok(item) : refuse("not-owner");
  }

  return {
    now,
    get,
    list: (fid) => store.listByOwner(fid, now()),
    create: async (item, audit) => toResult(await store.create(item, settings.cap, audit)),

    async update(fid, body, read, auditOf) {
      const fields = readObject(body, "request body");
      if (!fields.ok) return fields;
      const id = ownValue(fields.value, idKey);
      if (typeof id !== "string" || id === "") return badField(`missing field ${idKey}`);
      const item = await get(fid, id);
      if (!item.ok) return item;
      const changes = await read(item.value);
      if (!changes.ok) return changes;
      // The record may have been deleted while its new URL was checked; the store checks again.
      return toResult(await store.update(claim(fid, id), changes.value, auditOf?.(id)));
    },

    delete: async (fid, id, audit) => toResult(await store.delete(claim(fid, id), audit)),

    async rotateSecret(fid, id, audit) {
      const rotating = claim(fid, id);
      return toResult(
        await store.rotateSecret(
          rotating,
          {
            secret: createSecret(rotating.nowSecs),
            graceEndsAt: rotating.nowSecs + settings.graceSecs,
            maxSecrets: MAX_LIVE_SECRETS,
          },
          audit,
        ),
      );
    },
  };
}

/** Checks a URL that an fid registers. It must pass the guard; its text is not changed. Absent URLs are valid. */
export async function checkUrlField<T extends string | undefined>(
  guard: RegistrationGuard,
  { fid, url, name }: { readonly fid: number; readonly url: T; readonly name: string },
): Promise<Result<T, Refusal>> {
  if (url === undefined) return ok(url);
  const checked = await guard.check(url, `fid:${fid}`);
  return checked.ok ? ok(url) : badField(`${name} ${checked.error.reason}`);
}
