import { SQL } from "bun";
import type { ConnectOptions } from "../../config/postgres-url.ts";
import type { PgScalar, PgStatement, PgValue } from "./statement.ts";

/**
 * Replaces NUL, which PostgreSQL refuses in text. Stored text never contains it, but a URL may ask for an id that does; no
 * record has that id, nor the replacement.
 */
function storable(text: string): string {
  return text.replaceAll("\0", "\uFFFD");
}

/**
 * Returns a parameter as it is sent: bytes and null unchanged, everything else as text, whose type PostgreSQL takes from the
 * statement. A number sent as a number would have the type of its size, and each type would be a separate prepared
 * statement.
 */
function sentValue(value: PgValue): string | Uint8Array | null {
  if (value === null || value instanceof Uint8Array) return value;
  if (Array.isArray(value)) return arrayLiteral(value);
  return typeof value === "string" ? storable(value) : String(value);
}

/** Returns the text form of an array: `{1,"a\"b",NULL,"\\x00ff"}`. */
function arrayLiteral(values: readonly PgScalar[]): string {
  return `{${values.map(element).join(",")}}`;
}

function element(value: PgScalar): string {
  if (value === null) return "NULL";
  if (value instanceof Uint8Array) return `"\\\\x${value.toHex()}"`;
  if (typeof value === "string") return `"${storable(value).replace(/["\\]/g, "\\$&")}"`;
  return String(value);
}

/** The OIDs of `bigint` and `bigint[]`. */
const BIGINT = 20;
const BIGINTS = 1016;

/** A column of a result as described by the driver. */
interface ResultColumn {
  readonly name: string;
  /** OID of its type. */
  readonly type: number;
}

/** Converts the BigInts of a result to numbers, in place. A value beyond 2^53 - 1 is an error. */
function numberColumns(rows: Record<string, unknown>[], columns: readonly ResultColumn[]): void {
  for (const { name, type } of columns) {
    if (type === BIGINT) for (const row of rows) row[name] = numberOrNull(row[name]);
    if (type === BIGINTS) {
      for (const row of rows) {
        const values = row[name];
        if (Array.isArray(values)) row[name] = values.map(numberOrNull);
      }
    }
  }
}

function numberOrNull(value: unknown): number | null {
  if (value === null) return null;
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw new RangeError(`the state has a number beyond 2^53 - 1: ${value}`);
  return number;
}

/** Parameters with which each connection is opened. */
export interface PgSession {
  /** Names the connection in the server's views: `<service>/<node>/<part>`. */
  readonly applicationName: string;
  /** The schema of all objects. */
  readonly schema: string;
  readonly statementTimeoutMs: number;
  readonly lockTimeoutMs: number;
  /** Whether commits wait for the disk. */
  readonly syncsCommits: boolean;
}

export interface PgDriverOptions {
  readonly connect: ConnectOptions;
  /** PEM of the operator's own certificate authorities. */
  readonly tlsCa?: string;
  readonly session: PgSession;
  /** Maximum number of connections, which are opened on demand. */
  readonly connections: number;
  /**
   * Runs first on each new connection, including one that replaces a lost one. While it rejects, nothing else runs there.
   * Default: nothing.
   */
  readonly verify?: VerifyConnection | undefined;
  readonly connectTimeoutMs: number;
}

export type VerifyConnection = (runner: PgRunner) => Promise<void>;

/** Runs statements on a connection. */
export interface PgRunner {
  run<Row>(
    statement: PgStatement<Row, never>,
    params: readonly PgValue[],
  ): Promise<{ readonly rows: Row[]; readonly count: number }>;
  /** Runs SQL text without parameters. The text may contain several statements, as migrations do. */
  runText(sql: string): Promise<Record<string, unknown>[]>;
  /** Runs `COPY … FROM STDIN` with bytes in the format that the statement names. */
  copyIn(sql: string, chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Promise<void>;
  /** Runs `COPY … TO STDOUT`. The output must be read to the end. */
  copyOut(sql: string): AsyncIterable<Uint8Array>;
}

/**
 * Connections to one server. Its promises may never settle while the server is frozen, so the caller keeps its own deadline
 * and closes the driver.
 */
export interface PgDriver extends PgRunner {
  begin<T>(body: (runner: PgRunner) => Promise<T>): Promise<T>;
  /** Closes all connections at once. Everything in progress fails with an unknown outcome. */
  close(): void;
}

/** The part of Bun's driver that is used here; its own types lack `columns`. */
type SqlResult = Record<string, unknown>[] & {
  readonly count: number | null;
  readonly columns?: readonly ResultColumn[];
};
interface UnsafeSql {
  unsafe(sql: string, params?: unknown[]): Promise<unknown> & CopyQuery;
}
interface CopyQuery {
  readable(): ReadableStream<Uint8Array>;
  writable(): WritableStream<Uint8Array>;
}

/** Time in milliseconds after which the server ends a transaction whose client is silent. */
const IDLE_IN_TRANSACTION_MS = 5_000;

/** Opens a driver, which connects with its first statement. Only this file uses Bun's driver. */
export function openPgDriver(options: PgDriverOptions): PgDriver {
  if (options.verify) return openVerifiedDriver(options, options.verify);
  const sql = openSql(options, options.connections);
  return {
    ...runnerOf(sql),
    begin: (body) => sql.begin((transaction) => body(runnerOf(transaction))) as Promise<never>,
    close: () => closeSql(sql),
  };
}

/** A driver with a single connection, which Bun's driver replaces if it is lost. */
interface Connection {
  readonly sql: SQL;
  isVerified: boolean;
}

/** Bun's driver does not say which of its connections runs a statement, so each connection gets its own driver. */
function openVerifiedDriver(options: PgDriverOptions, verify: VerifyConnection): PgDriver {
  const all: Connection[] = [];
  const idle: Connection[] = [];
  const waiting: ((connection: Connection) => void)[] = [];

  function open(): Connection {
    const connection: Connection = {
      isVerified: false,
      sql: openSql(options, 1, () => {
        connection.isVerified = false;
      }),
    };
    all.push(connection);
    return connection;
  }

  function take(): Connection | Promise<Connection> {
    const free = idle.pop();
    if (free) return free;
    return all.length < options.connections ? open() : new Promise((resolve) => waiting.push(resolve));
  }

  async function use<T>(work: (sql: PgSql) => Promise<T>): Promise<T> {
    const connection = await take();
    try {
      // Notices a lost connection before the next statement can reach its replacement.
      return connection.isVerified ? await work(connection.sql) : await useVerified(connection, work);
    } finally {
      const next = waiting.shift();
      if (next) next(connection);
      else idle.push(connection);
    }
  }

  /** A reserved connection is not replaced, so what follows the verification runs on the connection that was verified. */
  async function useVerified<T>(connection: Connection, work: (sql: PgSql) => Promise<T>): Promise<T> {
    const reserved = await connection.sql.reserve();
    try {
      await verify(runnerOf(reserved));
      connection.isVerified = true;
      return await work(reserved);
    } finally {
      reserved.release();
    }
  }

  return {
    run: (statement, params) => use((sql) => runnerOf(sql).run(statement, params)) as Promise<never>,
    runText: (text) => use((sql) => runnerOf(sql).runText(text)),
    copyIn: (text, chunks) => use((sql) => runnerOf(sql).copyIn(text, chunks)),
    copyOut() {
      throw new Error("a copy needs its own driver");
    },
    begin: (body) => use((sql) => sql.begin((transaction) => body(runnerOf(transaction))) as Promise<never>),
    close() {
      for (const { sql } of all) closeSql(sql);
    },
  };
}

type PgSql = Pick<SQL, "unsafe" | "begin">;

function closeSql(sql: SQL): void {
  sql.close({ timeout: 0 }).catch(() => {});
}

function openSql(options: PgDriverOptions, connections: number, onClose?: () => void): SQL {
  const { connect, session } = options;
  return new SQL({
    adapter: "postgres",
    hostname: connect.host,
    port: connect.port,
    ...(connect.socketPath ? { path: connect.socketPath } : {}),
    username: connect.user,
    password: connect.password,
    database: connect.database,
    tls: tlsOf(connect, options.tlsCa),
    max: connections,
    ...(onClose ? { onclose: onClose } : {}),
    idleTimeout: 0,
    maxLifetime: 0,
    connectionTimeout: Math.max(1, Math.ceil(options.connectTimeoutMs / 1000)),
    bigint: true,
    connection: {
      // Overrides PGOPTIONS from the environment.
      options: "",
      application_name: session.applicationName.slice(0, 63),
      search_path: session.schema,
      timezone: "UTC",
      statement_timeout: `${session.statementTimeoutMs}`,
      lock_timeout: `${session.lockTimeoutMs}`,
      idle_in_transaction_session_timeout: `${IDLE_IN_TRANSACTION_MS}`,
      client_connection_check_interval: "1s",
      tcp_keepalives_idle: "10",
      tcp_keepalives_interval: "3",
      tcp_keepalives_count: "3",
      default_transaction_isolation: "read committed",
      default_transaction_read_only: "off",
      synchronous_commit: session.syncsCommits ? "on" : "off",
    },
  });
}

function runnerOf(sql: UnsafeSql): PgRunner {
  return {
    async run<Row>({ sql: text }: PgStatement<Row, never>, params: readonly PgValue[]) {
      const result = (await sql.unsafe(text, params.map(sentValue))) as SqlResult;
      if (result.length > 0) numberColumns(result, result.columns ?? []);
      return { rows: result as Row[], count: result.count ?? 0 };
    },
    async runText(text) {
      return (await sql.unsafe(text)) as Record<string, unknown>[];
    },
    async copyIn(text, chunks) {
      const query = sql.unsafe(text);
      const writer = query.writable().getWriter();
      try {
        for await (const chunk of chunks) await writer.write(chunk);
      } catch (cause) {
        await writer.abort(cause).catch(() => {});
        // The server's error says more than that of the stream it closed.
        await query;
        throw cause;
      }
      await writer.close();
    },
    copyOut: (text) => sql.unsafe(text).readable(),
  };
}

function tlsOf({ host, sslMode }: ConnectOptions, ca: string | undefined) {
  switch (sslMode) {
    case "disable":
      return false;
    case "require":
      return { rejectUnauthorized: false };
    case "verify-ca":
      return { rejectUnauthorized: true, ca, checkServerIdentity: () => undefined };
    case "verify-full":
      return { rejectUnauthorized: true, ca, serverName: host };
  }
}
