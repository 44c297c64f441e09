import type { StateDb } from "../../db/state/state-db.ts";
import { index, json, type RecordOf, sequence, table, text, unique, whole } from "../../db/state/table.ts";
import {
  createOwnedStore,
  type OwnedRecord,
  type OwnedStore,
  ownedTable,
} from "../../management/owned-store.ts";

/** What a login asks its user for: only their identity, or also a key that may write for them. */
export type LoginPermission = "read" | "write";

/** Apps whose visitors sign in on the login page. Times are unix seconds; `seq` is the order of creation. */
export const loginClients = table(
  "login_clients",
  {
    seq: sequence(),
    /** UUID by which pages name the client. */
    client_id: unique(text()),
    owner_fid: whole(),
    name: text(),
    /** Origins of pages that may receive a result. */
    origins: json<readonly string[]>(),
    /** Other targets of a result: https URLs, and URLs with an app's scheme. */
    redirect_uris: json<readonly string[]>(),
    permissions: text<LoginPermission>(),
    created_at: whole(),
    updated_at: whole(),
  },
  { indexes: [index("login_clients_by_owner", ["owner_fid", "seq"])] },
);

export interface LoginClient extends RecordOf<typeof loginClients>, OwnedRecord {}

export type LoginClientChanges = Partial<
  Pick<LoginClient, "name" | "origins" | "redirectUris" | "permissions">
>;

export type LoginClientStore = OwnedStore<LoginClient, LoginClientChanges>;

const owned = ownedTable<typeof loginClients, LoginClient>(loginClients, { idColumn: "client_id" });

export function createLoginClients(db: StateDb): LoginClientStore {
  return createOwnedStore<LoginClient, LoginClientChanges>(db, "loginClients", owned);
}
