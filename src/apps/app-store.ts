import { isSendKey } from "../auth/send-key.ts";
import { secretDigest } from "../db/state/secret.ts";
import type { StateDb } from "../db/state/state-db.ts";
import {
  index,
  json,
  nullable,
  type RecordOf,
  sequence,
  table,
  text,
  unique,
  whole,
} from "../db/state/table.ts";
import {
  createOwnedStore,
  type OwnedRecord,
  type OwnedStore,
  ownedTable,
} from "../management/owned-store.ts";
import type { ChangedMembers } from "../management/record-fields.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import type { APP_FIELDS } from "./app-fields.ts";

/** Mini apps that may send notifications. Times are unix seconds; `seq` is the order of creation. */
export const apps = table(
  "apps",
  {
    seq: sequence(),
    /** 16 characters of base58. */
    app_id: unique(text()),
    owner_fid: whole(),
    name: text(),
    app_url: text(),
    description: nullable(text()),
    /** Fids of the client apps whose token events are accepted; empty for all. */
    signer_fid_allowlist: json<readonly number[]>(),
    created_at: whole(),
    updated_at: whole(),
  },
  {
    indexes: [index("apps_by_owner", ["owner_fid", "seq"])],
  },
);

/** A mini app that may send notifications. */
export interface App extends RecordOf<typeof apps>, OwnedRecord {}

export type AppChanges = ChangedMembers<typeof APP_FIELDS>;

/** The mini apps. */
export interface AppStore extends OwnedStore<App, AppChanges> {
  /** Finds the app with an unexpired secret that has this digest. The caller compares the secret itself. */
  findBySecret(digest: Uint8Array, nowSecs: number): Promise<App | undefined>;
}

const owned = ownedTable<typeof apps, App>(apps, { idColumn: "app_id" });

export function createApps(db: StateDb): AppStore {
  return {
    ...createOwnedStore<App, AppChanges>(db, "apps", owned),
    findBySecret: (digest, nowSecs) => owned.findBySecret(db, digest, nowSecs),
  };
}

/** Finds the app that has a key as an unexpired send secret; undefined for any other key. */
export type AppOfSendKey = (key: string) => Promise<App | undefined>;

/** Creates the lookup of apps by their secrets, for requests that name no app. */
export function createSendKeyLookup(deps: { readonly apps: AppStore; readonly clock: Clock }): AppOfSendKey {
  return async (key) => {
    const app = await deps.apps.findBySecret(secretDigest(key), nowSecs(deps.clock));
    return app && isSendKey(key, app.secrets) ? app : undefined;
  };
}
