import { randomBase58 } from "../lib/base58.ts";
import { ok, type Result } from "../lib/result.ts";
import {
  type Actor,
  checkUrlField,
  createOwnedParts,
  createSecret,
  type OwnedService,
  type OwnedSettings,
  recordChange,
} from "../management/owned-service.ts";
import { changedMembers, newMembers } from "../management/record-fields.ts";
import type { Refusal } from "../management/refusal.ts";
import { schemaReader } from "../management/request-schema.ts";
import type { RegistrationGuard } from "../net/guard.ts";
import type { Clock } from "../runtime/clock.ts";
import { APP_FIELDS, CreateAppRequest, UpdateAppRequest } from "./app-fields.ts";
import type { App, AppStore } from "./app-store.ts";

const ID_CHARS = 16;

/** Creates an app id: 16 uniformly random digits of base58 (about 93 bits). */
export function createAppId(): string {
  return randomBase58(ID_CHARS);
}

/** Management of mini apps by their owners. `body` is the JSON of the request. */
export interface AppService extends OwnedService<App> {
  create(actor: Actor, body: unknown): Promise<Result<App, Refusal>>;
  update(actor: Actor, body: unknown): Promise<Result<App, Refusal>>;
}

const readCreate = schemaReader(CreateAppRequest);
const readUpdate = schemaReader(UpdateAppRequest);

export function createAppService(options: {
  readonly store: AppStore;
  readonly guard: RegistrationGuard;
  readonly clock: Clock;
  readonly settings: OwnedSettings;
}): AppService {
  const parts = createOwnedParts({ ...options, noun: "app", idKey: "app_id" });
  // The last check, because only this one needs a DNS lookup.
  const checkUrl = <T extends string | undefined>(fid: number, url: T) =>
    checkUrlField(options.guard, { fid, url, name: "app_url" });

  const auditOf = (action: string, actor: Actor) => (appId: string) =>
    recordChange(`app.${action}`, actor, appId, options.clock);

  return {
    get: parts.get,
    list: parts.list,
    delete: (actor, id) => parts.delete(actor.fid, id, auditOf("delete", actor)(id)),
    rotateSecret: (actor, id) => parts.rotateSecret(actor.fid, id, auditOf("rotate_secret", actor)(id)),

    async create(actor, body) {
      const { fid } = actor;
      const request = readCreate(body);
      if (!request.ok) return request;
      const appUrl = await checkUrl(fid, request.value.app_url);
      if (!appUrl.ok) return appUrl;
      const now = parts.now();
      const appId = createAppId();
      const app = {
        appId,
        ownerFid: fid,
        signerFidAllowlist: [],
        ...newMembers(APP_FIELDS, request.value),
        secrets: [createSecret(now)],
        createdAt: now,
        updatedAt: now,
      };
      return parts.create(app, auditOf("create", actor)(appId));
    },

    update: (actor, body) => {
      const read = async () => {
        const request = readUpdate(body);
        if (!request.ok) return request;
        const appUrl = await checkUrl(actor.fid, request.value.app_url);
        return appUrl.ok ? ok(changedMembers(APP_FIELDS, request.value)) : appUrl;
      };
      return parts.update(actor.fid, body, read, auditOf("update", actor));
    },
  };
}
