import { useEffect, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { CastRow } from "../content/cast-row.tsx";
import { ChannelRow, PeopleRows, PersonRow } from "../content/face.tsx";
import { type Call, type Cast, type Channel, get, type User } from "../data/call.ts";
import { listOf, type Page as PageOf, usePages } from "../data/pages.ts";
import { RequestFailure, request } from "../data/request.ts";
import { CallPanel } from "../parts/call-panel.tsx";
import { ListRegion } from "../parts/list-region.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { Card, FailureBox } from "../parts/region.tsx";
import * as msg from "../text/en/explore.ts";
import { castPage, pageOfPerson, readEntry, type SearchEntry, searchPage } from "../text/page-paths.ts";
import { castKey, channelKey, PAGE_SIZE, userKey } from "./lists.ts";

/** What an entry in the search box opens: a page, a choice of several people with one address, or nothing. */
interface Resolved {
  readonly page?: string;
  readonly people?: readonly User[];
}

/** Returns undefined if the response says that there is nothing. */
async function ask<T>(call: Call<T>, signal: AbortSignal): Promise<T | undefined> {
  try {
    return await request(call, { signal });
  } catch (cause) {
    if (cause instanceof RequestFailure && (cause.status === 404 || cause.status === 400)) return undefined;
    throw cause;
  }
}

/** Looks up what an entry refers to: a cast by hash or URL, or the people of an address. Throws `RequestFailure`. */
async function resolveEntry(entry: SearchEntry, signal: AbortSignal): Promise<Resolved> {
  switch (entry.kind) {
    case "page":
      return { page: entry.page };
    case "url": {
      const found = await ask(get("/cast", { identifier: entry.url, type: "url" }), signal);
      return found ? { page: castPage(found.cast.hash) } : {};
    }
    case "hex20": {
      const found = await ask(get("/cast", { identifier: entry.hex }), signal);
      return found ? { page: castPage(found.cast.hash) } : peopleOf(entry.hex, signal);
    }
    case "address":
      return peopleOf(entry.address, signal);
    default:
      return {};
  }
}

async function peopleOf(address: string, signal: AbortSignal): Promise<Resolved> {
  const verified = await ask(get("/user/bulk-by-address", { addresses: address }), signal);
  const people = verified?.users ?? [];
  if (people.length > 1) return { people };
  const [only] = people;
  if (only) return { page: pageOfPerson(only) };
  const custody = await ask(get("/user/custody-address", { custody_address: address }), signal);
  return custody ? { page: pageOfPerson(custody.user) } : {};
}

const KINDS = ["people", "casts", "channels"] as const;
type Kind = (typeof KINDS)[number];
/** Rows per kind when all kinds are shown. */
const OVERVIEW_SIZE = 5;
const TITLES: Readonly<Record<Kind, string>> = {
  people: msg.people,
  casts: msg.casts,
  channels: msg.channels,
};

const SEARCHES = { people: "/user/search", casts: "/cast/search", channels: "/channel/search" } as const;

const searchCall = (kind: Kind, q: string, limit: number) => get(SEARCHES[kind], { q, limit });

/** People, casts and channels that match the search box. Text that identifies one thing opens it. */
export function Page() {
  const { query } = useLocation();
  const q = (query.q ?? "").trim().slice(0, 1024);
  const kind = KINDS.find((one) => one === query.in);
  const entry = readEntry(q);
  const arrivedWith = useRef(q);
  return (
    <>
      <PageHead
        crumbs={[{ label: msg.explore, href: "/console" }, { label: msg.search }]}
        title={msg.search}
      />
      {q === "" ? (
        <Hints />
      ) : (
        <>
          <nav class="row wrap tight kinds" aria-label={msg.searchIn}>
            <KindLink q={q} kind={undefined} selected={kind} />
            {KINDS.map((one) => (
              <KindLink q={q} kind={one} selected={kind} key={one} />
            ))}
          </nav>
          <Direct entry={entry} isArrival={q === arrivedWith.current} key={q} />
          <Found q={q} kind={kind} key={kind} />
        </>
      )}
    </>
  );
}

/** What matches, and the call of the first kind that has results. */
function Found({ q, kind }: { q: string; kind: Kind | undefined }) {
  const kinds = kind === undefined ? KINDS : ([kind] as const);
  const isOverview = kind === undefined;
  const [empty, setEmpty] = useState<readonly Kind[]>([]);
  const onCount = (one: Kind, count: number) =>
    setEmpty((before) => [...before.filter((other) => other !== one), ...(count === 0 ? [one] : [])]);
  const first = kinds.find((one) => !empty.includes(one)) ?? kinds[0];
  return (
    <div class="split">
      <div class="stack">
        {kinds.map((one) => (
          <Results kind={one} q={q} isOverview={isOverview} onCount={onCount} key={one} />
        ))}
      </div>
      <div class="stack">
        <CallPanel call={searchCall(first, q, isOverview ? OVERVIEW_SIZE : PAGE_SIZE)} />
        <Rules />
      </div>
    </div>
  );
}

function KindLink({ q, kind, selected }: { q: string; kind: Kind | undefined; selected: Kind | undefined }) {
  return (
    <a class="btn quiet" href={searchPage(q, kind)} aria-current={kind === selected ? "true" : undefined}>
      {kind === undefined ? "All" : TITLES[kind]}
    </a>
  );
}

/** Looks up what the text refers to. It is opened at once if the page was opened with the text, and offered while typing. */
function Direct({ entry, isArrival }: { entry: SearchEntry; isArrival: boolean }) {
  const { route } = useLocation();
  const [resolved, setResolved] = useState<Resolved>();
  const [failure, setFailure] = useState<RequestFailure>();
  const [tries, setTries] = useState(0);
  useEffect(() => {
    if (entry.kind === "words" || entry.kind === "empty") return;
    const abort = new AbortController();
    setFailure(undefined);
    resolveEntry(entry, abort.signal).then(
      (found) => {
        if (abort.signal.aborted) return;
        // A short number may become a longer one while the visitor types; a hash or an address is complete.
        if (found.page !== undefined && (entry.kind !== "page" || isArrival)) route(found.page, true);
        else setResolved(found);
      },
      (cause: unknown) => {
        if (!abort.signal.aborted && cause instanceof RequestFailure) setFailure(cause);
      },
    );
    return () => abort.abort();
  }, [tries]);
  if (failure) return <FailureBox failure={failure} retry={() => setTries(tries + 1)} />;
  if (resolved?.page !== undefined)
    return (
      <p>
        <a class="btn go" href={resolved.page}>
          {msg.open(decodeURIComponent(resolved.page.replace(/^\/console\//, "")))}
        </a>
      </p>
    );
  if (!resolved) return null;
  if (!resolved.people) return <p class="measure">{msg.nothingFoundForThisHashAddress}</p>;
  return (
    <section class="card">
      <header>
        <h2 class="grow">{msg.peopleWithThisAddress}</h2>
      </header>
      <PeopleRows users={resolved.people} withBio />
    </section>
  );
}

interface ResultsProps {
  readonly kind: Kind;
  readonly q: string;
  readonly isOverview: boolean;
  /** Called with the number of results on the first page. */
  readonly onCount: (kind: Kind, count: number) => void;
}

function Results({ kind, q, isOverview, onCount }: ResultsProps) {
  const call = searchCall(kind, q, isOverview ? OVERVIEW_SIZE : PAGE_SIZE);
  const shared = { call, q, kind, isOverview, onCount };
  switch (kind) {
    case "people":
      return (
        <ResultList
          {...shared}
          read={listOf("users")}
          keyOf={userKey}
          row={(user: User) => <PersonRow user={user} withBio />}
          empty={msg.noPeopleFound}
        />
      );
    case "casts":
      return (
        <ResultList
          {...shared}
          read={listOf("casts")}
          keyOf={castKey}
          row={(cast: Cast) => <CastRow cast={cast} />}
          empty={msg.noCastsFound}
        />
      );
    case "channels":
      return (
        <ResultList
          {...shared}
          read={listOf("channels")}
          keyOf={channelKey}
          row={(channel: Channel) => <ChannelRow channel={channel} />}
          empty={msg.noChannelsFound}
        />
      );
  }
}

function ResultList<T extends object>(
  props: ResultsProps & {
    call: Call;
    // biome-ignore lint/suspicious/noExplicitAny: a response of the API; its type is the caller's to state
    read: (body: any) => PageOf<T>;
    keyOf: (item: T) => string | number;
    row: (item: T) => preact.ComponentChildren;
    empty: string;
  },
) {
  const { call, q, kind, isOverview, onCount, read, keyOf, row, empty } = props;
  const pages = usePages(call, read);
  const count = pages.items?.length;
  useEffect(() => {
    if (count !== undefined) onCount(kind, count);
  }, [count]);
  // The rows of the previous text stay until the new ones have arrived.
  const shown = useRef(pages);
  if (pages.items !== undefined || pages.error) shown.current = pages;
  return (
    <ListRegion
      title={TITLES[kind]}
      call={call}
      read={read}
      pages={shown.current}
      isExcerpt={isOverview}
      keyOf={keyOf}
      row={row}
      aside={isOverview && pages.hasMore ? <a href={searchPage(q, kind)}>{msg.allOf(kind)}</a> : undefined}
      empty={<p>{empty}</p>}
    />
  );
}

function Rules() {
  return (
    <Card title={msg.whatSearchFinds}>
      <p class="s">{msg.thatHaveEveryWordInAny(<b>{msg.casts}</b>)}</p>
      <p class="s">{msg.byTheBeginningOfAName(<b>{msg.people}</b>, <b>{msg.channels}</b>)}</p>
      <p class="s">{msg.aFidNameChannelHashAddress}</p>
    </Card>
  );
}

function Hints() {
  return (
    <div class="split">
      <p class="measure">{msg.typeAboveWordsOfACast}</p>
      <Rules />
    </div>
  );
}
