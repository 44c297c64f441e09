import { advanceKeyEpoch } from "../../api-keys/api-key-store.ts";
import { addAuditEntry } from "../../audit/audit-store.ts";
import { type OperatorAction, type OperatorOrigin, operatorEntry } from "../../audit/operator-entry.ts";
import { sql } from "../../db/state/sql.ts";
import type { StateDb } from "../../db/state/state-db.ts";
import { bytes, index, json, key, type Row, recordCodec, table, text, whole } from "../../db/state/table.ts";

export type TokenAlgorithm = "RS256" | "ES256";

/** Public half of a key, as clients receive it. */
export type PublicJwk = Readonly<Record<string, string>>;

/** Keys that sign Quick Auth tokens. Times are unix seconds. */
export const signInKeys = table(
  "signin_keys",
  {
    /** Random. Identifies the key in tokens. */
    kid: key(text()),
    algorithm: text<TokenAlgorithm>(),
    public_jwk: json<PublicJwk>(),
    /** The private key in PKCS #8 form, sealed. */
    sealed: bytes(),
    /** Id of the master key that the private key is sealed under, in hex. */
    key_id: text(),
    created_at: whole(),
    /** When the key starts to sign, until a later one does. It is listed before that. */
    current_at: whole(),
  },
  { indexes: [index("signin_keys_by_time", ["current_at", "kid"])] },
);

/** A stored key. */
export interface SignInKey {
  readonly kid: string;
  readonly algorithm: TokenAlgorithm;
  readonly publicJwk: PublicJwk;
  readonly sealed: Uint8Array;
  readonly keyId: string;
  readonly createdAt: number;
  readonly currentAt: number;
}

/** Keys of all nodes. */
export interface SignInKeyStore {
  /** Lists all keys, in the order in which they start to sign. */
  list(): Promise<SignInKey[]>;
  /** Adds a key after the last one, unless another node was faster, and deletes obsolete keys. The operator's audit log records it. */
  add(
    key: SignInKey,
    change: { readonly after: string | null; readonly obsolete: readonly string[] },
    by: OperatorOrigin,
  ): Promise<boolean>;
  /** Deletes all keys and adds one. The operator's audit log records it. Other nodes notice with their next heartbeat. */
  replace(key: SignInKey, by: OperatorOrigin): Promise<void>;
  /** Replaces the sealed bytes of a key unless they have changed. */
  reseal(kid: string, before: Uint8Array, after: Pick<SignInKey, "sealed" | "keyId">): Promise<boolean>;
}

const codec = recordCodec(signInKeys);
const LOCK = "signin-keys";
const list = sql<Row<typeof signInKeys>>(
  "sign-in-keys.list",
  `SELECT ${codec.columns} FROM signin_keys WHERE current_at > 0 ORDER BY current_at, kid`,
);
const insert = sql<unknown, ReturnType<typeof codec.values>>("sign-in-keys.insert", codec.insert);
const remove = sql<unknown, [kid: string]>("sign-in-keys.delete", "DELETE FROM signin_keys WHERE kid = $1");
const setSealed = sql<unknown, [sealed: Uint8Array, keyId: string, kid: string, before: Uint8Array]>(
  "sign-in-keys.reseal",
  "UPDATE signin_keys SET sealed = $1, key_id = $2 WHERE kid = $3 AND sealed = $4",
);

export function createSignInKeys(db: StateDb): SignInKeyStore {
  return {
    list: async () => (await db.all(list)).map(codec.toRecord),

    add: db.decision<Parameters<SignInKeyStore["add"]>, boolean>(
      "signInKeys.add",
      async (tx, added, { after, obsolete }, by) => {
        await tx.lock("owner", LOCK);
        const last = (await tx.all(list)).at(-1)?.kid ?? null;
        if (last !== after) return false;
        for (const kid of obsolete) await tx.run(remove, kid);
        await tx.run(insert, ...codec.values(added));
        await addAuditEntry(tx, entryOf("signin_key.create", added, by));
        return true;
      },
    ),

    replace: db.decision("signInKeys.replace", async (tx, added: SignInKey, by: OperatorOrigin) => {
      await tx.lock("owner", LOCK);
      for (const { kid } of await tx.all(list)) await tx.run(remove, kid);
      await tx.run(insert, ...codec.values(added));
      await addAuditEntry(tx, entryOf("signin_key.replace", added, by));
      await advanceKeyEpoch(tx);
    }),

    reseal: db.decision<Parameters<SignInKeyStore["reseal"]>, boolean>(
      "signInKeys.reseal",
      async (tx, kid, before, { sealed, keyId }) =>
        (await tx.run(setSealed, sealed, keyId, kid, before)) === 1,
      { isOneStatement: true },
    ),
  };
}

function entryOf(action: OperatorAction, { kid, createdAt }: SignInKey, by: OperatorOrigin) {
  return operatorEntry({ action, id: kid, atMs: createdAt * 1000, ...by });
}
