import { useEffect, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { type Call, get } from "../data/call.ts";
import type { Cast, Channel, User } from "../data/objects.ts";
import { type Page as PageOf, usePages } from "../data/pages.ts";
import { RequestFailure } from "../data/request.ts";
import { CallPanel } from "../parts/call-panel.tsx";
import { CastRow } from "../parts/cast-row.tsx";
import { FailureBox } from "../parts/failure-box.tsx";
import { ListRegion } from "../parts/list-region.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { PersonRow } from "../parts/person.tsx";
import { searchPage } from "../text/client-urls.ts";
import { readEntry, type SearchEntry } from "../text/search-entry.ts";
import { ChannelRow } from "./channel-row.tsx";
import { castKey, castsOf, channelKey, channelsOf, PAGE_SIZE, userKey, usersOf } from "./lists.ts";
import { type Resolved, resolveEntry } from "./resolve-entry.ts";

const KINDS = ["people", "casts", "channels"] as const;
type Kind = (typeof KINDS)[number];
/** Rows of each kind where all are shown. */
const OVERVIEW_SIZE = 5;
const TITLES: Readonly<Record<Kind, string>> = { people: "People", casts: "Casts", channels: "Channels" };

const searchCall = (kind: Kind, q: string, limit: number): Call =>
  get({ people: "/user/search", casts: "/cast/search", channels: "/channel/search" }[kind], { q, limit });

/** People, casts and channels that match what is in the search box. What names one thing opens it. */
export function Page() {
  const { query } = useLocation();
  const q = (query.q ?? "").trim().slice(0, 1024);
  const kind = KINDS.find((one) => one === query.in);
  const entry = readEntry(q);
  const arrivedWith = useRef(q);
  return (
    <>
      <PageHead crumbs={[{ label: "Explore", href: "/console" }, { label: "Search" }]} title="Search" />
      {q === "" ? (
        <Hints />
      ) : (
        <>
          <nav class="row wrap tight kinds" aria-label="Search in">
            <KindLink q={q} kind={undefined} selected={kind} />
            {KINDS.map((one) => (
              <KindLink q={q} kind={one} selected={kind} key={one} />
            ))}
          </nav>
          <Direct entry={entry} isArrival={q === arrivedWith.current} key={q} />
          <div class="split">
            <div class="stack">
              {KINDS.filter((one) => kind === undefined || one === kind).map((one) => (
                <Results kind={one} q={q} isOverview={kind === undefined} key={`${one} ${kind}`} />
              ))}
            </div>
            <div class="stack">
              <CallPanel call={searchCall(kind ?? "people", q, kind ? PAGE_SIZE : OVERVIEW_SIZE)} />
              <Rules />
            </div>
          </div>
        </>
      )}
    </>
  );
}

function KindLink({ q, kind, selected }: { q: string; kind: Kind | undefined; selected: Kind | undefined }) {
  return (
    <a class="btn quiet" href={searchPage(q, kind)} aria-current={kind === selected ? "true" : undefined}>
      {kind === undefined ? "All" : TITLES[kind]}
    </a>
  );
}

/** What the text names, looked up: opened at once when one arrives with it; while typing it is offered. */
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
          Open {decodeURIComponent(resolved.page.replace(/^\/console\//, ""))}
        </a>
      </p>
    );
  if (!resolved) return null;
  if (!resolved.people) return <p class="measure">Nothing here has this hash, address or link.</p>;
  return (
    <section class="card">
      <header>
        <h2 class="grow">People of this address</h2>
      </header>
      <ul class="rows">
        {resolved.people.map((user) => (
          <li key={user.fid}>
            <PersonRow user={user} withBio />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Results({ kind, q, isOverview }: { kind: Kind; q: string; isOverview: boolean }) {
  const call = searchCall(kind, q, isOverview ? OVERVIEW_SIZE : PAGE_SIZE);
  const shared = { call, q, kind, isOverview };
  switch (kind) {
    case "people":
      return (
        <ResultList
          {...shared}
          read={usersOf}
          keyOf={userKey}
          row={(user: User) => <PersonRow user={user} withBio />}
          empty="Nobody's name begins with this."
        />
      );
    case "casts":
      return (
        <ResultList
          {...shared}
          read={castsOf}
          keyOf={castKey}
          row={(cast: Cast) => <CastRow cast={cast} />}
          empty="No cast has all of these words."
        />
      );
    case "channels":
      return (
        <ResultList
          {...shared}
          read={channelsOf}
          keyOf={channelKey}
          row={(channel: Channel) => <ChannelRow channel={channel} />}
          empty="No channel has this in its name."
        />
      );
  }
}

function ResultList<T extends object>(props: {
  call: Call;
  q: string;
  kind: Kind;
  isOverview: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: a response of the API; its type is the caller's to state
  read: (body: any) => PageOf<T>;
  keyOf: (item: T) => string | number;
  row: (item: T) => preact.ComponentChildren;
  empty: string;
}) {
  const { call, q, kind, isOverview, read, keyOf, row, empty } = props;
  const pages = usePages(call, read);
  // The rows of the last text stay until those of the new one are here.
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
      aside={isOverview && pages.hasMore ? <a href={searchPage(q, kind)}>All {kind}</a> : undefined}
      empty={<p>{empty}</p>}
    />
  );
}

function Rules() {
  return (
    <section class="card">
      <header>
        <h2 class="grow">What search finds</h2>
      </header>
      <div class="pad stack s">
        <p>
          <b>Casts</b> that have every word, in any order; the last word may be the beginning of one. "Two
          words" in quotes are a phrase. Other forms of a word and misspelled words are not found.
        </p>
        <p>
          <b>People</b> by the beginning of a name or of a word in the displayed name. <b>Channels</b> by
          their name.
        </p>
        <p>A fid, @name, /channel, hash, address or a client's link opens its page.</p>
      </div>
    </section>
  );
}

function Hints() {
  return (
    <div class="split">
      <p class="measure">
        Type above: words of a cast, a name, a channel; or paste a hash, an address or a link.
      </p>
      <Rules />
    </div>
  );
}
