import { setTimeout as sleep } from "node:timers/promises";
import type { Static } from "@sinclair/typebox";
import { type AuditEntry, type AuditStore, recordRefusal } from "../audit/audit-store.ts";
import { isSameAddress } from "../auth/owners/custody.ts";
import type { Owners } from "../auth/owners/owners.ts";
import type { SigningOwner } from "../auth/verify.ts";
import { StateUnavailable } from "../db/state/unavailable.ts";
import { randomBase58 } from "../lib/base58.ts";
import { ok, type Result } from "../lib/result.ts";
import { ownValue, readObject } from "../management/fields.ts";
import { createOwnedParts, type OwnedService, type OwnedSettings } from "../management/owned-service.ts";
import { changedMembers, newMembers } from "../management/record-fields.ts";
import { badField, type Refusal, refusalOf } from "../management/refusal.ts";
import { schemaReader } from "../management/request-schema.ts";
import type { Clock } from "../runtime/clock.ts";
import {
  API_KEY_FIELDS,
  CreateApiKeyRequest,
  RotateApiKeyRequest,
  UpdateApiKeyRequest,
} from "./api-key-fields.ts";
import type { ApiKey, ApiKeyChanges, ApiKeyStore, UsageRow } from "./api-key-store.ts";
import { createKeyPrefix, createKeyText, keySecret } from "./key-text.ts";

const ID_CHARS = 16;
const API_KEY_ID = /^[1-9A-HJ-NP-Za-km-z]{16}$/;
const MAX_LIVE_SECRETS = 100;
/** How long a change waits for other nodes: longer than the lease of a stopped node. */
const MAX_NODES_WAIT_MS = 10_000;
const NODES_POLL_MS = 200;

/** Limits of a key that the operator has set. */
export interface KeyLimits {
  readonly unitsPerMinute: number;
  readonly writesPerMinute: number;
}

/** A key with the text of its newest secret, which is shown only once. */
export interface ApiKeyWithText {
  readonly key: ApiKey;
  readonly text: string;
}

/** Result of a change that revokes something from a key. */
export interface InEffect {
  /**
   * Whether every request that starts after the response sees the change, on any node. False if a live node has not confirmed it in time.
   */
  readonly isInEffect: boolean;
}

/** Who requests a change. */
export interface ApiKeyActor extends SigningOwner {
  readonly requestId: string;
  /** Address of the client. */
  readonly address: string;
}

/**
 * Lets owners manage their API keys. `fid` is the acting fid, `body` the parsed JSON of the request. The audit log contains each change
 * and each refused attempt.
 */
export interface ApiKeyService extends Pick<OwnedService<ApiKey>, "get" | "list"> {
  create(actor: ApiKeyActor, body: unknown): Promise<Result<ApiKeyWithText, Refusal>>;
  update(actor: ApiKeyActor, body: unknown): Promise<Result<InEffect & { readonly key: ApiKey }, Refusal>>;
  delete(actor: ApiKeyActor, id: string): Promise<Result<InEffect, Refusal>>;
  rotateSecret(actor: ApiKeyActor, body: unknown): Promise<Result<InEffect & ApiKeyWithText, Refusal>>;
  /** Returns the usage of a key by day and route. Both days are inclusive, counted from 1970. */
  usage(
    fid: number,
    id: string,
    days: { readonly fromDay: number; readonly toDay: number },
  ): Promise<Result<UsageRow[], Refusal>>;
  /**
   * Returns why a key does not act for its owner; null if it does. A key belongs to the custody address that created it, so after a
   * transfer of the fid it is inactive until the new custody address activates it. While the fid is unknown, its owner is not checked.
   */
  inactiveReason(key: Pick<ApiKey, "active" | "custody" | "ownerFid">): Promise<string | null>;
  readonly limits: KeyLimits;
}

const readCreate = schemaReader(CreateApiKeyRequest);
const readUpdate = schemaReader(UpdateApiKeyRequest);
const readRotate = schemaReader(RotateApiKeyRequest);

export function createApiKeyService(options: {
  readonly store: ApiKeyStore;
  readonly audit: Pick<AuditStore, "append">;
  readonly clock: Clock;
  readonly settings: OwnedSettings;
  readonly limits: KeyLimits;
  readonly serviceName: string;
  readonly owners: Pick<Owners, "newest">;
  /** Reports whether an app exists and belongs to the fid. */
  readonly ownsApp: (fid: number, appId: string) => Promise<boolean>;
  /** Clears the key caches of all HTTP workers in this process. */
  readonly forgetKeys: () => void;
}): ApiKeyService {
  const { store, audit, clock, settings, limits, serviceName, owners, ownsApp, forgetKeys } = options;
  const parts = createOwnedParts({ ...options, noun: "API key", idKey: "api_key_id" });

  /**
   * Waits until every HTTP worker, on this node and on others, has dropped its earlier knowledge of the keys. Returns whether that
   * happened in time.
   */
  async function takeEffect(): Promise<boolean> {
    forgetKeys();
    const untilMs = performance.now() + MAX_NODES_WAIT_MS;
    try {
      const epoch = await store.keyEpoch();
      while ((await store.nodesBehind(epoch)) > 0) {
        if (performance.now() > untilMs) return false;
        await sleep(NODES_POLL_MS);
      }
      return true;
    } catch (cause) {
      if (!(cause instanceof StateUnavailable)) throw cause;
      return false;
    }
  }

  const auditOf =
    (action: string, { fid, requestId, address }: ApiKeyActor) =>
    (apiKeyId: string | null): AuditEntry => ({
      atMs: clock.nowMs(),
      ownerFid: fid,
      action,
      apiKeyId,
      signerUuid: null,
      userFid: null,
      hash: null,
      outcome: "ok",
      requestId,
      address,
    });

  /** Records the refusal of an action. `id` is the text by which the request names a key. */
  const recorded = <T>(action: string, actor: ApiKeyActor, id: unknown, result: Result<T, Refusal>) => {
    const apiKeyId = typeof id === "string" && API_KEY_ID.test(id) ? id : null;
    return recordRefusal(audit, auditOf(action, actor)(apiKeyId), result);
  };

  /** Returns a refusal for fields that are valid individually but not allowed for this owner. */
  async function refusalFor(
    fid: number,
    request: Partial<Static<typeof CreateApiKeyRequest>>,
  ): Promise<Result<undefined, Refusal>> {
    const { app_id: appId, expires_at: expiresAt, units_per_minute, writes_per_minute } = request;
    if (typeof expiresAt === "number" && expiresAt <= parts.now()) {
      return badField("expires_at must be in the future");
    }
    for (const [name, value, max] of [
      ["units_per_minute", units_per_minute, limits.unitsPerMinute],
      ["writes_per_minute", writes_per_minute, limits.writesPerMinute],
    ] as const) {
      if (typeof value === "number" && value > max) return badField(`${name} must be at most ${max}`);
    }
    if (typeof appId === "string" && !(await ownsApp(fid, appId))) {
      return badField("app_id is no mini app of the fid");
    }
    return ok(undefined);
  }

  const service: ApiKeyService = {
    limits,
    get: parts.get,
    list: parts.list,
    async inactiveReason({ active, custody, ownerFid }) {
      if (!active) return "deactivated";
      const current = await owners.newest(ownerFid);
      return current === undefined || isSameAddress(current, custody) ? null : "custody changed";
    },

    async create(actor, body) {
      const { fid, custody } = actor;
      const request = readCreate(body);
      if (!request.ok) return request;
      const refusal = await refusalFor(fid, request.value);
      if (!refusal.ok) return refusal;
      const now = parts.now();
      const prefix = createKeyPrefix(serviceName);
      const text = createKeyText(prefix);
      const apiKeyId = randomBase58(ID_CHARS);
      const key = {
        apiKeyId,
        ownerFid: fid,
        prefix,
        active: true,
        custody,
        lastUsedAt: null,
        ...newMembers(API_KEY_FIELDS, request.value),
        secrets: [keySecret(text, now)],
        createdAt: now,
        updatedAt: now,
      };
      const created = await parts.create(key, auditOf("api_key.create", actor)(apiKeyId));
      return created.ok ? ok({ key: created.value, text }) : created;
    },

    async update(actor, body) {
      const { fid, custody } = actor;
      const read = async (): Promise<Result<ApiKeyChanges, Refusal>> => {
        const request = readUpdate(body);
        if (!request.ok) return request;
        const refusal = await refusalFor(fid, request.value);
        if (!refusal.ok) return refusal;
        const bound = request.value.active === true ? { custody } : {};
        return ok({ ...changedMembers(API_KEY_FIELDS, request.value), ...bound });
      };
      const updated = await parts.update(fid, body, read, auditOf("api_key.update", actor));
      return updated.ok ? ok({ key: updated.value, isInEffect: await takeEffect() }) : updated;
    },

    async delete(actor, id) {
      const deleted = await parts.delete(actor.fid, id, auditOf("api_key.delete", actor)(id));
      return deleted.ok ? ok({ isInEffect: await takeEffect() }) : deleted;
    },

    async usage(fid, id, days) {
      const key = await parts.get(fid, id);
      return key.ok ? ok(await store.usage(id, days)) : key;
    },

    async rotateSecret(actor, body) {
      const { fid } = actor;
      const request = readRotate(body);
      if (!request.ok) return request;
      const { api_key_id: id, grace_secs: graceSecs = settings.graceSecs } = request.value;
      if (graceSecs > settings.graceSecs) return badField(`grace_secs must be at most ${settings.graceSecs}`);
      const key = await parts.get(fid, id);
      if (!key.ok) return key;
      const text = createKeyText(key.value.prefix);
      const nowSecs = parts.now();
      const rotated = await store.rotateSecret(
        { id, ownerFid: fid, nowSecs },
        { secret: keySecret(text, nowSecs), graceEndsAt: nowSecs + graceSecs, maxSecrets: MAX_LIVE_SECRETS },
        auditOf("api_key.rotate_secret", actor)(id),
      );
      if (typeof rotated === "string") return refusalOf(rotated, { noun: "API key", cap: settings.cap });
      return ok({ key: rotated, text, isInEffect: graceSecs > 0 || (await takeEffect()) });
    },
  };
  const idIn = (body: unknown) => {
    const fields = readObject(body, "request body");
    return fields.ok ? ownValue(fields.value, "api_key_id") : undefined;
  };
  return {
    ...service,
    create: async (actor, body) =>
      recorded("api_key.create", actor, undefined, await service.create(actor, body)),
    update: async (actor, body) =>
      recorded("api_key.update", actor, idIn(body), await service.update(actor, body)),
    delete: async (actor, id) => recorded("api_key.delete", actor, id, await service.delete(actor, id)),
    rotateSecret: async (actor, body) =>
      recorded("api_key.rotate_secret", actor, idIn(body), await service.rotateSecret(actor, body)),
  };
}
