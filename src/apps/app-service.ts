import type { Result } from "../lib/result.ts";
import {
  type FieldTable,
  readDescription,
  readFid,
  readFields,
  readList,
  readName,
  readObject,
} from "../management/fields.ts";
import { createOwnedParts, type OwnedService, type OwnedSettings } from "../management/owned-service.ts";
import { badField, type Refusal } from "../management/refusal.ts";
import { createSecret } from "../management/secrets.ts";
import { readGuardedUrl } from "../management/url-field.ts";
import type { UrlGuard } from "../net/guard.ts";
import type { Clock } from "../runtime/clock.ts";
import { createAppId } from "./app-id.ts";
import type { App, AppStore } from "./app-store.ts";

export const MAX_ALLOWLIST_ENTRIES = 1024;

/** Management of mini apps by their owners. `fid` is the acting fid, `body` the JSON of the request. */
export interface AppService extends OwnedService<App> {
  create(fid: number, body: unknown): Promise<Result<App, Refusal>>;
  update(fid: number, body: unknown): Promise<Result<App, Refusal>>;
}

export function createAppService(options: {
  readonly store: AppStore;
  readonly guard: UrlGuard;
  readonly clock: Clock;
  readonly settings: OwnedSettings;
}): AppService {
  const parts = createOwnedParts({ ...options, noun: "app", idKey: "app_id" });
  // The URL is last: it is the only field that needs a DNS lookup.
  const fieldsOf = (fid: number) =>
    ({
      name: { key: "name", read: readName },
      description: { key: "description", read: readDescription },
      signerFidAllowlist: {
        key: "signer_fid_allowlist",
        read: readList(MAX_ALLOWLIST_ENTRIES, readFid),
      },
      appUrl: { key: "app_url", read: readGuardedUrl(options.guard, fid) },
    }) satisfies FieldTable;

  return {
    get: parts.get,
    list: parts.list,
    delete: parts.delete,
    rotateSecret: parts.rotateSecret,

    async create(fid, body) {
      const given = readObject(body, "request body");
      if (!given.ok) return given;
      const values = await readFields(fieldsOf(fid), given.value);
      if (!values.ok) return values;
      const { name, appUrl, description = null, signerFidAllowlist = [] } = values.value;
      if (name === undefined) return badField("missing field name");
      if (appUrl === undefined) return badField("missing field app_url");
      const now = parts.now();
      return parts.create({
        appId: createAppId(),
        ownerFid: fid,
        name,
        appUrl,
        description,
        signerFidAllowlist,
        secrets: [createSecret(now)],
        createdAt: now,
        updatedAt: now,
      });
    },

    update: (fid, body) => parts.update(fid, body, (given) => readFields(fieldsOf(fid), given)),
  };
}
