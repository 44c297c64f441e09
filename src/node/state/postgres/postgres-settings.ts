import { readSmallFile } from "../../../config/files/small-file.ts";
import { readPostgresUrl } from "../../../config/postgres-url.ts";
import type { Config } from "../../../config/schema.ts";
import type { PgSettings } from "../../../db/postgres/pools.ts";
import { reasonOf, UserError } from "../../../lib/failure.ts";
import { isBuilt } from "../../optional-parts.ts";

/**
 * Returns how to reach the state in PostgreSQL; undefined if the state is in state.db.
 *
 * @throws UserError if the file of certificate authorities cannot be read.
 */
export function postgresSettings({ state }: Pick<Config, "state">): PgSettings | undefined {
  if (state.url === "") return undefined;
  if (!isBuilt("postgres")) throw new UserError("state.url: this program was built without PostgreSQL");
  const connect = readPostgresUrl(state.url);
  if (!connect.ok) throw new UserError(`state.url: ${connect.error}`);
  const password = state.password || connect.value.password;
  return {
    connect: { ...connect.value, password },
    tlsCa: state.tls_ca_file === "" ? undefined : readAuthorities(state.tls_ca_file),
    schema: state.schema,
    timeoutMs: state.timeout_ms,
  };
}

function readAuthorities(path: string): string {
  let text: string | undefined;
  try {
    text = readSmallFile(path);
  } catch (cause) {
    throw new UserError(`state.tls_ca_file: ${path}: ${reasonOf(cause)}`);
  }
  if (text === undefined) throw new UserError(`state.tls_ca_file: ${path}: the file does not exist`);
  if (!text.includes("-----BEGIN CERTIFICATE-----"))
    throw new UserError(`state.tls_ca_file: ${path}: the file has no certificate in PEM form`);
  return text;
}
