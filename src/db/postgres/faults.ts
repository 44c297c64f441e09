/**
 * Effect of a failed PostgreSQL call on the decision that it carried:
 * - `not_sent`: the server never saw it. It may be repeated within the caller's deadline.
 * - `undone`: the server rolled it back. It may be repeated a few times.
 * - `unknown`: the response was lost. The decision may be committed, and is repeated once, under its own id.
 */
export type PgFault = "not_sent" | "undone" | "unknown";

/** By SQLSTATE. */
const SQLSTATES: ReadonlyMap<string, PgFault> = new Map([
  ["57P03", "not_sent"], // cannot_connect_now: starting up or shutting down
  ["53300", "not_sent"], // too_many_connections
  ["28P01", "not_sent"], // invalid_password: changed while the node ran
  ["28000", "not_sent"], // invalid_authorization_specification
  ["3D000", "not_sent"], // invalid_catalog_name
  ["40001", "undone"], // serialization_failure
  ["40P01", "undone"], // deadlock_detected
  ["55P03", "undone"], // lock_not_available
  ["57014", "undone"], // query_canceled: statement_timeout
  ["53100", "undone"], // disk_full
  ["53200", "undone"], // out_of_memory
  ["53400", "undone"], // configuration_limit_exceeded
  ["58030", "undone"], // io_error
  ["25006", "undone"], // read_only_sql_transaction
  ["0A000", "undone"], // feature_not_supported: a cached plan of a changed table
  ["57P01", "unknown"], // admin_shutdown
  ["57P02", "unknown"], // crash_shutdown
  ["57P05", "unknown"], // idle_session_timeout
  ["25P03", "unknown"], // idle_in_transaction_session_timeout
  ["08000", "unknown"],
  ["08003", "unknown"],
  ["08006", "unknown"],
]);

/** By the driver's own code, for faults not reported by the server. */
const DRIVER_CODES: ReadonlyMap<string, PgFault> = new Map([
  ["ERR_POSTGRES_CONNECTION_REFUSED", "not_sent"],
  ["ERR_POSTGRES_CONNECTION_FAILED", "not_sent"],
  ["ERR_POSTGRES_CONNECTION_TIMEOUT", "not_sent"],
  ["ERR_POSTGRES_CONNECTION_CLOSED", "unknown"],
  ["ERR_POSTGRES_IDLE_TIMEOUT", "unknown"],
  ["ERR_POSTGRES_LIFETIME_TIMEOUT", "unknown"],
]);

/** Returns the SQLSTATE of an error from the server; undefined for any other error. */
export function sqlStateOf(cause: unknown): string | undefined {
  return cause instanceof Error && "errno" in cause && typeof cause.errno === "string"
    ? cause.errno
    : undefined;
}

/**
 * Returns the class of a failed call; undefined for an error that does not concern the database's availability, which is a
 * bug.
 */
export function faultOf(cause: unknown): PgFault | undefined {
  const state = sqlStateOf(cause);
  if (state !== undefined) return SQLSTATES.get(state);
  if (!(cause instanceof Error) || !("code" in cause)) return undefined;
  return DRIVER_CODES.get(String(cause.code));
}

/** Reports whether the server refused a write because it is, or has become, a standby. */
export function isReadOnlyServer(cause: unknown): boolean {
  return sqlStateOf(cause) === "25006";
}

/** Reports whether the statement ran into `statement_timeout`. Its time is used up, and a repetition would take as long. */
export function isStatementTimeout(cause: unknown): boolean {
  return sqlStateOf(cause) === "57014";
}
