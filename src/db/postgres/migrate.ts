import { BusyError, UserError } from "../../lib/failure.ts";
import { openPgDriver, type PgRunner } from "./driver.ts";
import { faultOf, sqlStateOf } from "./faults.ts";
import { lockKey, takeLock } from "./locks.ts";
import { PG_FUNCTIONS, PG_MIGRATIONS } from "./migrations.embedded.ts";
import type { PgSettings } from "./pools.ts";
import { pgStatement } from "./statement.ts";

/** The schema that this release needs: the creation time of its last migration, in Unix milliseconds. */
export const schemaVersion: number = Math.max(...PG_MIGRATIONS.map(({ folderMillis }) => folderMillis));

/** Another migrating node holds the lock for as long as its migrations take. */
const LOCK_TIMEOUT_MS = 3_000;
const LOCK_TRIES = 5;
/** A migration may rewrite a table. */
const STATEMENT_TIMEOUT_MS = 600_000;

const appliedMigrations = pgStatement<{ created_at: number }>(
  "migrate.applied",
  'SELECT created_at FROM "__drizzle_migrations" ORDER BY created_at',
);
const recordMigration = pgStatement<unknown, [hash: string, createdAt: number]>(
  "migrate.record",
  'INSERT INTO "__drizzle_migrations" (hash, created_at) VALUES ($1, $2)',
);
const appliedFunctions = pgStatement<{ name: string; hash: string }>(
  "migrate.functions",
  "SELECT name, hash FROM schema_functions",
);
const movedTo = pgStatement<{ moved_to: string | null }>(
  "migrate.moved-to",
  "SELECT moved_to FROM cluster WHERE id = 1",
);
const recordFunction = pgStatement<unknown, [name: string, hash: string]>(
  "migrate.record-function",
  `INSERT INTO schema_functions (name, hash) VALUES ($1, $2)
   ON CONFLICT (name) DO UPDATE SET hash = excluded.hash`,
);

/** Result of a migration. */
export interface Migrated {
  /** Number of migrations and functions applied. */
  readonly applied: number;
}

/**
 * Brings the schema up to date: all missing migrations and changed functions in one transaction. It takes a lock, so if
 * several nodes start at once, one migrates and the others wait.
 *
 * @param options.may whether to change anything; otherwise an older schema is a UserError.
 * @param options.mayBeMoved whether the state may have been moved to a state.db; otherwise that is a UserError.
 * @throws UserError when the settings or the rights of the role are wrong; RetryableError when the server does not respond,
 *   or another node holds the lock for too long.
 */
export async function migratePostgres(
  settings: PgSettings,
  { may = true, mayBeMoved = false }: { readonly may?: boolean; readonly mayBeMoved?: boolean } = {},
): Promise<Migrated> {
  const driver = openPgDriver({
    connect: settings.connect,
    tlsCa: settings.tlsCa,
    connections: 1,
    connectTimeoutMs: settings.timeoutMs,
    session: {
      applicationName: "migrate",
      schema: settings.schema,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
      lockTimeoutMs: LOCK_TIMEOUT_MS,
      syncsCommits: true,
    },
  });
  try {
    for (let tries = 1; ; tries++) {
      try {
        return await driver.begin(async (runner) => {
          const migrated = await migrateUnderLock(runner, settings.schema, may);
          if (!mayBeMoved) await refuseMoved(runner);
          return migrated;
        });
      } catch (cause) {
        if (faultOf(cause) !== "undone" || tries >= LOCK_TRIES) throw startFault(cause, settings);
      }
    }
  } finally {
    driver.close();
  }
}

async function migrateUnderLock(runner: PgRunner, schema: string, may: boolean): Promise<Migrated> {
  await runner.run(takeLock, [lockKey("migration"), schema]);
  const [{ present } = {}] = await runner.runText(
    `SELECT to_regclass('"${schema}"."__drizzle_migrations"') IS NOT NULL AS present`,
  );
  if (present !== true && may) await createTables(runner, schema);
  const known = present === true || may;
  const applied = known ? (await runner.run(appliedMigrations, [])).rows : [];
  const hashes = known ? (await runner.run(appliedFunctions, [])).rows : [];
  const missing = PG_MIGRATIONS.filter(
    ({ folderMillis }) => !applied.some(({ created_at }) => created_at === folderMillis),
  );
  // A newer release has its own function bodies, which this one must not replace. A release that changes a body includes a
  // migration.
  const isNewer = applied.some(({ created_at }) => created_at > schemaVersion);
  const changed = PG_FUNCTIONS.filter(
    ({ name, sql }) => !hashes.some((row) => row.name === name && (isNewer || row.hash === hashOf(sql))),
  );
  if (!may && missing.length + changed.length > 0) {
    throw new UserError(
      `state.url: the schema "${schema}" is missing, or of an older version of this program. Run \`svc state migrate\`.`,
    );
  }
  for (const { sql, hash, folderMillis } of missing) {
    for (const statement of sql) await runner.runText(statement);
    await runner.run(recordMigration, [hash, folderMillis]);
  }
  for (const { name, sql } of changed) {
    await runner.runText(sql);
    await runner.run(recordFunction, [name, hashOf(sql)]);
  }
  return { applied: missing.length + changed.length };
}

async function refuseMoved(runner: PgRunner): Promise<void> {
  const moved = (await runner.run(movedTo, [])).rows[0]?.moved_to;
  if (moved)
    throw new UserError(
      `state.url: the state was moved to ${moved}. Start without state.url there. To go back, copy it into an empty database with \`svc state copy --to postgres\`.`,
    );
}

async function createTables(runner: PgRunner, schema: string): Promise<void> {
  await runner.runText(`CREATE SCHEMA IF NOT EXISTS "${schema}"`);
  await runner.runText(
    `CREATE TABLE "__drizzle_migrations" (id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, hash text NOT NULL, created_at bigint)`,
  );
  await runner.runText("CREATE TABLE schema_functions (name text PRIMARY KEY, hash text NOT NULL)");
}

function hashOf(sql: string): string {
  return new Bun.CryptoHasher("sha256").update(sql).digest("hex");
}

/** Advice for the operator, by SQLSTATE. */
const ADVICE: Readonly<Record<string, string>> = {
  "28P01": "the server refuses the user or the password",
  "28000": "the server refuses this user from this address (pg_hba.conf)",
  "3D000": "the database does not exist: create it",
  "42704": "the server is older than PostgreSQL 15",
};

/** Returns the error that ends a start, with one line that says what to change and contains no secret. */
function startFault(cause: unknown, { connect }: PgSettings): unknown {
  if (cause instanceof UserError || !(cause instanceof Error)) return cause;
  const where = connect.socketPath ?? `${connect.host}:${connect.port}`;
  const state = sqlStateOf(cause);
  const advice = state === undefined ? undefined : ADVICE[state];
  if (advice) return new UserError(`state.url: ${where}: ${advice}.`);
  if (state === "42501")
    return new UserError(
      `state.url: ${where}: ${cause.message}. The user must be allowed to create the schema (GRANT CREATE ON DATABASE), and own all that is in it, also after a restore.`,
    );
  if (faultOf(cause))
    return new BusyError(`state.url: ${where}: ${cause.message}. Is PostgreSQL running there?`);
  if (state === undefined && "code" in cause) {
    const isUnknown = /unable to (verify|get)|self[- ]signed/i.test(cause.message);
    const hint = isUnknown ? ". state.tls_ca_file names a file with the authority of its certificate." : "";
    return new UserError(`state.url: ${where}: ${cause.message}${hint}`);
  }
  return cause;
}
