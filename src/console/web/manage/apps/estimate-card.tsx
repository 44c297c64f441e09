import { useEffect, useState } from "preact/hooks";
import type { Call } from "../../data/call.ts";
import { formatCount, plural } from "../../data/format.ts";
import { OwnerRegion } from "../../owner/owner-region.tsx";
import { type OwnerQuery, useOwnerQuery } from "../../owner/use-owner-query.ts";
import { ClientName, useClients } from "./client-name.tsx";
import { estimateCall } from "./send-calls.ts";
import type { SendDraft, SendProblems } from "./send-draft.ts";

/** What a send would reach. */
export interface Estimate {
  readonly tokens: number;
  readonly fids: number;
  readonly clients: readonly {
    readonly client_fid: number;
    readonly host: string;
    readonly tokens: number;
  }[];
  readonly sent_before: number;
}

const SETTLE_MS = 400;

/** The value once it has not changed for a moment: not each keystroke is a request. */
function useSettled<T>(value: T, keyOf: (value: T) => string): T {
  const [settled, setSettled] = useState(value);
  const key = keyOf(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [key]);
  return settled;
}

const bodyOf = (call: Call | undefined) => JSON.stringify(call?.body ?? null);

export interface EstimateQuery {
  readonly call: (Call & { readonly op: string }) | undefined;
  readonly query: OwnerQuery<Estimate>;
  /** Of the draft as it is now; undefined while it is counted. */
  readonly current: Estimate | undefined;
}

/** Counts the audience of a draft, while its filters are valid. */
export function useEstimate(appId: string, draft: SendDraft, problems: SendProblems): EstimateQuery {
  const wanted = estimateCall(appId, draft, problems);
  const call = useSettled(wanted, bodyOf);
  const query = useOwnerQuery<Estimate>(call);
  return { call, query, current: bodyOf(call) === bodyOf(wanted) ? query.data : undefined };
}

function Clients({ clients }: Pick<Estimate, "clients">) {
  const users = useClients(clients.map(({ client_fid }) => client_fid));
  return (
    <ul class="stack tight s">
      {clients.map(({ client_fid, host, tokens }) => (
        <li class="row" key={`${client_fid} ${host}`}>
          <span class="grow">
            <ClientName fid={client_fid} users={users} /> <span class="dim mono">{host}</span>
          </span>
          <b>{formatCount(tokens)}</b>
        </li>
      ))}
    </ul>
  );
}

/** The audience of a draft. */
export function EstimateCard({ estimate: { call, query } }: { estimate: EstimateQuery }) {
  return (
    <OwnerRegion
      title="Whom it reaches"
      call={call}
      query={query}
      prompted={query}
      isEmpty={({ tokens }) => tokens === 0}
      empty="Nobody: no enabled token passes the filters."
    >
      {({ tokens, fids, sent_before, clients }) => (
        <div class="pad stack" aria-live="polite" data-estimate={tokens}>
          <p>
            <b>{plural(fids, "person", "people")}</b> with {plural(tokens, "token")}
            {sent_before > 0 &&
              `; ${formatCount(sent_before)} of them have it already and do not get it again`}
            .
          </p>
          <Clients clients={clients} />
        </div>
      )}
    </OwnerRegion>
  );
}
