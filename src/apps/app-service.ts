import type { Static } from "@sinclair/typebox";
import { ok, type Result } from "../lib/result.ts";
import { withoutUndefined } from "../lib/without-undefined.ts";
import {
  type Actor,
  createOwnedParts,
  type OwnedService,
  type OwnedSettings,
  recordChange,
} from "../management/owned-service.ts";
import type { Refusal } from "../management/refusal.ts";
import { schemaReader } from "../management/request-schema.ts";
import { createSecret } from "../management/secrets.ts";
import { checkUrlField } from "../management/url-field.ts";
import type { RegistrationGuard } from "../net/guard.ts";
import type { Clock } from "../runtime/clock.ts";
import { createAppId } from "./app-id.ts";
import { CreateAppRequest, UpdateAppRequest } from "./app-requests.ts";
import type { App, AppChanges, AppStore } from "./app-store.ts";

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
  // Last: it is the only check that needs a DNS lookup.
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
      const { name, app_url, description = null, signer_fid_allowlist = [] } = request.value;
      const appUrl = await checkUrl(fid, app_url);
      if (!appUrl.ok) return appUrl;
      const now = parts.now();
      const appId = createAppId();
      const app = {
        appId,
        ownerFid: fid,
        name,
        appUrl: appUrl.value,
        description,
        signerFidAllowlist: signer_fid_allowlist,
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
        return appUrl.ok ? ok(changesOf(request.value)) : appUrl;
      };
      return parts.update(actor.fid, body, read, auditOf("update", actor));
    },
  };
}

function changesOf(request: Static<typeof UpdateAppRequest>): AppChanges {
  const { name, app_url, description, signer_fid_allowlist } = request;
  return withoutUndefined({ name, appUrl: app_url, description, signerFidAllowlist: signer_fid_allowlist });
}
