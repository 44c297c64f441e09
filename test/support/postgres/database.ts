import { afterAll } from "bun:test";
import { SQL } from "bun";
import { readPostgresUrl } from "../../../src/config/postgres-url.ts";
import type { VerifyConnection } from "../../../src/db/postgres/driver.ts";
import { migratePostgres } from "../../../src/db/postgres/migrate.ts";
import { openPgPools, type PgPools, type PgSettings } from "../../../src/db/postgres/pools.ts";
import type { StateNode } from "../../../src/db/state/state-db.ts";
import { silentLog } from "../log.ts";
import { type PostgresAddress, sharedPostgres } from "./server.ts";

/** An empty state in PostgreSQL, in a database of its own. */
export interface PostgresDatabase extends AsyncDisposable {
  readonly name: string;
  /** The value of `state.url`. */
  readonly url: string;
  readonly settings: PgSettings;
  /** A node of this state. Each has a boot and a slot of its own. */
  node(): StateNode;
  /** Opens the pools of a thread; they are closed with the database. */
  pools(options?: PoolsOptions): PgPools;
  /** Runs SQL text past the pools, as an operator would. */
  query(sql: string): Promise<Record<string, unknown>[]>;
  rows(table: string): Promise<number>;
  /** Runs SQL texts in one transaction. */
  transaction<T>(work: (query: PostgresDatabase["query"]) => Promise<T>): Promise<T>;
}

export interface PoolsOptions {
  readonly main?: number;
  readonly queue?: number;
  readonly ledger?: number;
  /** Another way to the same server, such as a proxy. */
  readonly port?: number;
  /** See `PgDriverOptions`. */
  readonly verify?: VerifyConnection;
  /** Of its connections in the server's views. Default: `test`. */
  readonly name?: string;
}

export interface DatabaseOptions {
  /** A server of the test's own; without one, that of the process. */
  readonly server?: PostgresAddress;
  /** Without the schema: as an operator creates it. */
  readonly isEmpty?: boolean;
  readonly timeoutMs?: number;
}

/** Names the template of a server, also for test files that share no modules with the one that made it. */
const TEMPLATE = "SVC_TEST_POSTGRES_TEMPLATE";

/** Databases are created one after the other: a template in use cannot be copied. */
let creating: Promise<unknown> = Promise.resolve();

/** Creates a database with the current schema. It is dropped when the object is disposed. */
export async function createDatabase(options: DatabaseOptions = {}): Promise<PostgresDatabase> {
  const { url: server } = options.server ?? (await sharedPostgres());
  const name = `svc_test_${crypto.randomUUID().replaceAll("-", "")}`;
  const url = `${server}/${name}`;
  const settings = settingsOf(url, options.timeoutMs);
  const isCopied = !options.isEmpty && !options.server;
  const created = creating.then(async () => {
    const from = isCopied ? await templateOf(server) : "template1";
    await administer(server, `CREATE DATABASE ${name} TEMPLATE ${from}`);
    if (!isCopied && !options.isEmpty) await migratePostgres(settings);
  });
  creating = created.catch(() => {});
  await created;
  const opened: PgPools[] = [];
  let slots = 0;
  const sql = new SQL(url, { max: 2, bigint: true, connection: { search_path: settings.schema } });
  return {
    name,
    url,
    settings,
    node() {
      slots += 1;
      return { nodeId: `node-${slots}`, bootId: crypto.randomUUID(), slot: slots - 1 };
    },
    pools({ main = 4, queue = 2, ledger = 2, port = settings.connect.port, verify, name = "test" } = {}) {
      const pools = openPgPools({
        settings: { ...settings, connect: { ...settings.connect, port } },
        applicationName: name,
        verify,
        connections: { main, queue, ledger },
        log: silentLog,
      });
      opened.push(pools);
      return pools;
    },
    query: (text) => sql.unsafe(text),
    transaction: (work) => sql.begin((tx) => work((text) => tx.unsafe(text))),
    rows: async (table) => Number((await sql.unsafe(`SELECT count(*) AS n FROM ${table}`))[0].n),
    async [Symbol.asyncDispose]() {
      for (const pools of opened) await pools[Symbol.asyncDispose]();
      await sql.close({ timeout: 0 });
      // A server of its own goes as a whole.
      if (!options.server) await administer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
}

/**
 * Returns a function that opens an empty state, for a contract of many short tests: a disposed database is emptied and used
 * again, with its pools. They are dropped after the last test of the file.
 */
export function reuseDatabases(): () => Promise<EmptiedDatabase> {
  const made: PostgresDatabase[] = [];
  const idle: EmptiedDatabase[] = [];
  afterAll(async () => {
    for (const database of made) await database[Symbol.asyncDispose]();
  });
  return async () => {
    const database = idle.pop() ?? (await make());
    await database.query(await emptying(database));
    return database;
  };
  async function make(): Promise<EmptiedDatabase> {
    const database = await createDatabase();
    made.push(database);
    const emptied: EmptiedDatabase = {
      ...database,
      opened: database.pools(),
      [Symbol.asyncDispose]: async () => void idle.push(emptied),
    };
    return emptied;
  }
}

/** A database that other tests have used before. */
export interface EmptiedDatabase extends PostgresDatabase {
  readonly opened: PgPools;
}

async function emptying({ query }: PostgresDatabase): Promise<string> {
  const tables = await query(
    `SELECT format('DELETE FROM %I;', tablename) AS text FROM pg_tables WHERE schemaname = 'svc' AND tablename NOT IN
     ('__drizzle_migrations', 'schema_functions', 'state_clock', 'cluster')`,
  );
  const reset = "UPDATE state_clock SET now_secs = 0, nonce_floor = 0; DELETE FROM cluster;";
  return tables.map(({ text }) => text).join("") + reset;
}

function settingsOf(url: string, timeoutMs = 5_000): PgSettings {
  const connect = readPostgresUrl(url);
  if (!connect.ok) throw new Error(connect.error);
  return { connect: connect.value, schema: "svc", timeoutMs };
}

/** A database with the current schema on a server, made once for each process. */
async function templateOf(server: string): Promise<string> {
  const [known, name] = process.env[TEMPLATE]?.split(" ") ?? [];
  if (known === server && name !== undefined) return name;
  const made = `svc_template_${process.pid}_${crypto.randomUUID().slice(0, 8)}`;
  await administer(server, `CREATE DATABASE ${made}`);
  await migratePostgres(settingsOf(`${server}/${made}`));
  process.env[TEMPLATE] = `${server} ${made}`;
  return made;
}

async function administer(server: string, command: string): Promise<void> {
  const sql = new SQL(`${server}/postgres`, { max: 1 });
  try {
    await sql.unsafe(command);
  } finally {
    await sql.close({ timeout: 0 });
  }
}
