/**
 * How a secret is masked. `url`: scheme, host and port may be shown. `text`: nothing may be shown. `database`: shown like any other URL,
 * but only the password is removed from log lines, because users and databases often have the service's name.
 */
export type SecretKind = "url" | "text" | "database";

/**
 * The settings whose values are masked wherever they are shown, and removed from log lines. The table is separate because the loggers of
 * all threads use it, and the schema of the settings would load TypeBox in each of them.
 */
const SECRET_SETTINGS: Readonly<Record<string, SecretKind>> = {
  "state.url": "database",
  "state.password": "text",
  "upstream.url": "url",
  "upstream.urls": "url",
  "upstream.password": "text",
  "chain.l1_rpc_url": "url",
  "chain.op_rpc_url": "url",
  "chain.base_rpc_url": "url",
  "previews.proxy_url": "url",
  "signers.encryption_key": "text",
  "signers.previous_encryption_keys": "text",
  "backup.access_key_id": "text",
  "backup.secret_access_key": "text",
  "backup.session_token": "text",
  "backup.encryption_key": "text",
  "console.operator_token": "text",
  "trace.endpoint": "url",
  "trace.headers": "text",
};

/** Returns how the setting named `section.name` is masked; undefined if it is not secret. */
export function secretKindOf(key: string): SecretKind | undefined {
  return secretsByKey.get(key);
}

const secretsByKey: ReadonlyMap<string, SecretKind> = new Map(Object.entries(SECRET_SETTINGS));

/** The secret settings by section and name. */
export const secretSettings: readonly {
  readonly section: string;
  readonly name: string;
  readonly secret: SecretKind;
}[] = [...secretsByKey].map(([key, secret]) => {
  const [section = "", name = ""] = key.split(".");
  return { section, name, secret };
});
