import { ok, type Result } from "../../../lib/result.ts";
import { badField, type Refusal } from "../../../management/refusal.ts";
import type { UrlGuard } from "../../../net/guard.ts";
import { type Clock, nowSecs } from "../../../runtime/clock.ts";
import type { ImportedToken, ImportOutcome, TokenImport } from "../../store/tokens/token-import.ts";
import { readListedToken } from "./token-file.ts";

interface HostCount {
  readonly clientFid: number;
  tokens: number;
}

/** Maximum number of hosts that are counted separately: the list chooses the hosts. */
const MAX_HOSTS = 1000;
const MAX_SHOWN_HOSTS = 20;
const OTHER_HOSTS = "other hosts";

const PLACE_TAKEN =
  "another host's token stands in the place for an unknown client of this fid; name the clients with --client-fid";

/** Outcomes of an import, in bounded memory. */
class ImportReport {
  readonly outcomes: Record<Exclude<ImportOutcome, "place_taken">, number> = {
    added: 0,
    updated: 0,
    unchanged: 0,
    newer_here: 0,
  };
  readonly #refused = new Map<string, number>();
  readonly #hosts = new Map<string, HostCount>();
  #tokens = 0;

  /** Number of tokens so far. */
  get tokens(): number {
    return this.#tokens;
  }

  /** Number of refused tokens by reason. */
  get refused(): ReadonlyMap<string, number> {
    return this.#refused;
  }

  count({ clientFid, details }: ImportedToken, outcome: ImportOutcome): void {
    if (outcome === "place_taken") {
      this.refuse(PLACE_TAKEN);
      return;
    }
    this.#tokens += 1;
    this.outcomes[outcome] += 1;
    const isNamed = this.#hosts.has(details.host) || this.#hosts.size < MAX_HOSTS;
    const host = isNamed ? details.host : OTHER_HOSTS;
    const known = this.#hosts.get(host);
    if (known) known.tokens += 1;
    else this.#hosts.set(host, { clientFid, tokens: 1 });
  }

  /** @param reason one of a bounded set of texts */
  refuse(reason: string): void {
    this.#tokens += 1;
    this.#refused.set(reason, (this.#refused.get(reason) ?? 0) + 1);
  }

  /** Returns the report as lines for a terminal. */
  lines(): string[] {
    const { added, updated, unchanged, newer_here } = this.outcomes;
    const refused = [...this.#refused.values()].reduce((sum, n) => sum + n, 0);
    return [
      `Tokens: ${grouped(added)} added, ${grouped(updated)} updated, ${grouped(unchanged)} unchanged, ` +
        `${grouped(newer_here)} newer here, ${grouped(refused)} refused`,
      ...this.#hostLines(),
      ...[...this.#refused].map(([reason, n]) => `  refused ${grouped(n)}: ${reason}`),
    ];
  }

  #hostLines(): string[] {
    const hosts = [...this.#hosts].sort(([, a], [, b]) => b.tokens - a.tokens);
    const lines = hosts.slice(0, MAX_SHOWN_HOSTS).map(([host, { clientFid, tokens }]) => {
      const client = clientFid === 0 ? "client unknown" : `client ${clientFid}`;
      return `  ${host}: ${grouped(tokens)} (${client})`;
    });
    const more = hosts.length - MAX_SHOWN_HOSTS;
    return more > 0 ? [...lines, `  and ${grouped(more)} more hosts`] : lines;
  }
}

function grouped(value: number): string {
  return value.toLocaleString("en-US");
}

export interface TokenImportOptions {
  readonly appId: string;
  /** Entries of a list, not yet validated. */
  readonly tokens: AsyncIterable<unknown>;
  readonly into: TokenImport;
  /** Checks the URLs that notifications are sent to. */
  readonly guard: UrlGuard;
  /** Fids of client apps by the host of their URLs (with its port, if it has one). */
  readonly clientFids: ReadonlyMap<string, number>;
  readonly clock: Clock;
  /** Stops the import after the current batch. */
  readonly signal: AbortSignal;
  readonly onProgress?: (tokens: number) => void;
}

const BATCH_TOKENS = 1000;

/**
 * Imports a list of tokens into an app, in large transactions. Idempotent; a row that its client changed later than the list stays
 * unchanged.
 *
 * @throws errors of reading the list, and the signal's reason; tokens that were imported before remain.
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
