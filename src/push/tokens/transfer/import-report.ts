import type { ImportedToken, ImportOutcome } from "../../store/token-import.ts";

interface HostCount {
  readonly clientFid: number;
  tokens: number;
}

/** Limit of hosts that are counted separately: the list chooses the hosts. */
const MAX_HOSTS = 1000;
const MAX_SHOWN_HOSTS = 20;
const OTHER_HOSTS = "other hosts";

const PLACE_TAKEN =
  "another host's token stands in the place for an unknown client of this fid; name the clients with --client-fid";

/** Outcomes of an import, in bounded memory. */
export class ImportReport {
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

  /** Returns the report for a terminal. */
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
