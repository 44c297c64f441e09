import { ok, type Result } from "../../../lib/result.ts";
import { badField, type Refusal } from "../../../management/refusal.ts";
import type { UrlGuard } from "../../../net/guard.ts";
import { type Clock, nowSecs } from "../../../runtime/clock.ts";
import type { ImportedToken, TokenImport } from "../../store/token-import.ts";
import { ImportReport } from "./import-report.ts";
import { readListedToken } from "./listed-token.ts";

export interface TokenImportOptions {
  readonly appId: string;
  /** Entries of a list, not yet validated. */
  readonly tokens: AsyncIterable<unknown>;
  readonly into: TokenImport;
  /** Checks the URLs that notifications are sent to. */
  readonly guard: UrlGuard;
  /** Fids of client apps by the host (with its port, where it has one) of their URLs. */
  readonly clientFids: ReadonlyMap<string, number>;
  readonly clock: Clock;
  /** Stops the import after the current batch. */
  readonly signal: AbortSignal;
  readonly onProgress?: (tokens: number) => void;
}

const BATCH_TOKENS = 1000;

/**
 * Imports a list of tokens into an app, in large transactions. Idempotent; a row that its client changed later than the
 * list stays unchanged.
 *
 * @throws errors of reading the list, and the signal's reason; tokens that were imported before stay.
 */
export async function importTokens(options: TokenImportOptions): Promise<ImportReport> {
  const { tokens, into, clock, signal, onProgress } = options;
  const report = new ImportReport();
  let batch: ImportedToken[] = [];
  let read = 0;
  const flush = async () => {
    const outcomes = await into.put(batch, nowSecs(clock));
    for (const [at, token] of batch.entries()) report.count(token, outcomes[at] ?? "unchanged");
    batch = [];
    onProgress?.(report.tokens);
    signal.throwIfAborted();
  };
  for await (const value of tokens) {
    const token = await validate(value, options);
    if (token.ok) batch.push(token.value);
    else report.refuse(token.error.message);
    read += 1;
    if (read % BATCH_TOKENS === 0) await flush();
  }
  await flush();
  return report;
}

async function validate(
  value: unknown,
  { appId, guard, clientFids }: TokenImportOptions,
): Promise<Result<ImportedToken, Refusal>> {
  const input = readListedToken(value);
  if (!input.ok) return input;
  const { fid, url, token, ...rest } = input.value;
  const checked = await guard.check(url);
  if (!checked.ok) return badField(`url ${checked.error.reason}`);
  const { host } = checked.value.url;
  const clientFid = clientFids.get(host) ?? 0;
  return ok({ ...rest, appId, fid, clientFid, details: { url, host, token } });
}
