import type { StateDb } from "../../db/state/state-db.ts";
import { index, json, type RecordOf, sequence, table, text, unique, whole } from "../../db/state/table.ts";
import {
  createOwnedStore,
  type OwnedRecord,
  type OwnedStore,
  ownedTable,
} from "../../management/owned-store.ts";

/** What a login asks of its user: who they are, or also a key that may write for them. */
export type LoginPermission = "read" | "write";

/** Apps whose visitors sign in by the login page. Times are unix seconds; `seq` is the order of creation. */
export const loginClients = table(
  "login_clients",
  {
    seq: sequence(),
    /** A UUID. Pages name it. */
    client_id: unique(text()),
    owner_fid: whole(),
    name: text(),
    /** The origins of pages that get a result. */
    origins: json<readonly string[]>(),
    /** Where else a result may go: https URLs, and URLs whose scheme is an app's. */
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
