import { Refusal } from "../../../management/refusal.ts";
import { type UrlGuard, UrlRefusal } from "../../../net/guard.ts";
import { type Clock, nowSecs } from "../../../runtime/clock.ts";
import type { ImportedToken, TokenImport } from "../../store/token-import-store.ts";
import { ImportReport } from "./import-report.ts";
import { readListedToken } from "./listed-token.ts";

export interface TokenImportOptions {
  readonly appId: string;
  /** Values as a list holds them. */
  readonly tokens: AsyncIterable<unknown>;
  readonly into: TokenImport;
  /** The judgement of URLs that notifications are sent to. */
  readonly guard: UrlGuard;
  /** Fids of client apps by the host (with its port, where it has one) of their URLs. */
  readonly clientFids: ReadonlyMap<string, number>;
  readonly clock: Clock;
  /** Ends the import after the batch that is under way. */
  readonly signal: AbortSignal;
  readonly onProgress?: (tokens: number) => void;
}

const BATCH_TOKENS = 1000;

/**
 * Takes a list of tokens into an app, in transactions of many. Repeating it changes nothing, and a row that its client
 * changed later than the list knows stays as it is.
 *
 * @throws what reading the list throws, and the signal's reason; what was taken until then stays.
 */
export async function importTokens(options: TokenImportOptions): Promise<ImportReport> {
  const { tokens, into, clock, signal, onProgress } = options;
  const report = new ImportReport();
  let batch: ImportedToken[] = [];
  let read = 0;
  const flush = () => {
    const outcomes = into.put(batch, nowSecs(clock));
    for (const [at, token] of batch.entries()) report.count(token, outcomes[at] ?? "unchanged");
    batch = [];
    onProgress?.(report.tokens);
    signal.throwIfAborted();
  };
  for await (const value of tokens) {
    const token = await judge(value, options);
    if (token instanceof Refusal) report.refuse(token.message);
    else batch.push(token);
    read += 1;
    if (read % BATCH_TOKENS === 0) flush();
  }
  flush();
  return report;
}

async function judge(
  value: unknown,
  { appId, guard, clientFids }: TokenImportOptions,
): Promise<ImportedToken | Refusal> {
  const given = readListedToken(value);
  if (given instanceof Refusal) return given;
  const { fid, url, token, ...rest } = given;
  const checked = await guard.check(url);
  if (checked instanceof UrlRefusal) return new Refusal("badRequest", `url ${checked.reason}`);
  const { host } = checked.url;
  const clientFid = clientFids.get(host) ?? 0;
  return { ...rest, appId, fid, clientFid, details: { url, host, token } };
}
