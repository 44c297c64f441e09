import { OwnerRegion } from "../../owner/owner-region.tsx";
import { useOwnerQuery } from "../../owner/use-owner-query.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Pill } from "../../parts/pill.tsx";
import { Time } from "../../parts/time.tsx";
import { UserName } from "../../text/user-name.tsx";
import { ManagePage } from "../manage-page.tsx";
import { type ApiKey, KEYS_PATH, listCall } from "./api-key.ts";
import { CreateKey } from "./create-key.tsx";

const EVERY_MS = 60_000;

const COLUMNS: readonly Column<ApiKey>[] = [
  {
    title: "Name",
    cell: ({ api_key_id, name }) => (
      <a data-open href={`${KEYS_PATH}/${api_key_id}`}>
        <UserName name={name} />
      </a>
    ),
  },
  { title: "Begins with", cell: ({ prefix }) => <code>{prefix}…</code> },
  { title: "It may", cell: ({ scopes }) => scopes.join(", ") },
  {
    title: "Last used",
    cell: ({ last_used_at }) =>
      last_used_at === null ? <span class="dim">never</span> : <Time at={last_used_at} />,
  },
  { title: "State", cell: (key) => <KeyState apiKey={key} /> },
];

/** Whether a key is accepted, and why not. */
export function KeyState({ apiKey }: { apiKey: ApiKey }) {
  if (apiKey.active) return <Pill kind="ok">active</Pill>;
  return <Pill kind="bad">{apiKey.inactive_reason ?? "not active"}</Pill>;
}

function Keys() {
  const query = useOwnerQuery<{ api_keys: readonly ApiKey[] }>(listCall, { everyMs: EVERY_MS });
  return (
    <>
      <OwnerRegion
        title="Your keys"
        call={listCall}
        query={query}
        prompted={query}
        isEmpty={({ api_keys }) => api_keys.length === 0}
        empty="You have no key yet. Reads need none on most nodes; a key is for programs that write, or that read more."
      >
        {({ api_keys }) => (
          <DataTable
            stacks
            label="API keys"
            columns={COLUMNS}
            rows={api_keys}
            keyOf={({ api_key_id }) => api_key_id}
          />
        )}
      </OwnerRegion>
      <CreateKey onCreated={() => query.refresh()} />
    </>
  );
}

/** The API keys of the owner, and the form of a new one. */
export function Page() {
  return <ManagePage title="API keys">{() => <Keys />}</ManagePage>;
}
