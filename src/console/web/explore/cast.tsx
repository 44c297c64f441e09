import { useMemo, useRef } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import { type Call, get } from "../data/call.ts";
import { plural } from "../data/format.ts";
import { useNewer } from "../data/newer.ts";
import { type Query, useQuery } from "../data/query.ts";
import { CallPanel } from "../parts/call-panel.tsx";
import { CastRow } from "../parts/cast-row.tsx";
import { LoadImages } from "../parts/load-images.tsx";
import { NewerPill } from "../parts/newer-pill.tsx";
import { NotReadyYet } from "../parts/node-state.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { Region } from "../parts/region.tsx";
import { Tabs, tabPanelProps } from "../parts/tabs.tsx";
import { castPage } from "../text/client-urls.ts";
import { displayNameOf, plainName } from "../text/name.ts";
import { Ancestors } from "./ancestors.tsx";
import { LikedBy, Quotes, RawCast } from "./cast-tabs.tsx";
import { castKey } from "./lists.ts";
import { type Conversation, hiddenReplies, type ThreadRow, threadRows } from "./thread.ts";

const REPLY_DEPTH = 5;
const TABS = [
  { id: "replies", label: "Replies" },
  { id: "quotes", label: "Quotes" },
  { id: "likes", label: "Who liked" },
  { id: "json", label: "Raw JSON" },
] as const;

export function Page() {
  const { params } = useRoute();
  const hash = (params.hash ?? "").toLowerCase();
  return <CastPage hash={hash} key={hash} />;
}

function CastPage({ hash }: { hash: string }) {
  const { path, query, route } = useLocation();
  const call = get("/cast/conversation", { identifier: hash, type: "hash", reply_depth: REPLY_DEPTH });
  const conversation = useQuery<Conversation>(call);
  const cast = conversation.data?.cast;
  const status = conversation.error?.status;
  if (!cast && (status === 404 || status === 400)) return <NoCast hash={hash} isHash={status === 404} />;
  const selected = TABS.find(({ id }) => id === query.tab)?.id ?? "replies";
  const author = cast && plainName(displayNameOf(cast.author));
  return (
    <>
      <PageHead
        crumbs={[{ label: "Explore", href: "/console" }, { label: "Cast" }]}
        title={author === undefined ? "Cast" : `Cast by ${author}`}
      >
        <LoadImages />
      </PageHead>
      <div class="split">
        <div class="stack">
          <Region title={cast?.parent_hash ? "Reply" : "Cast"} call={call} query={conversation}>
            {(body) => (
              <>
                <Ancestors cast={body.cast} />
                <CastRow cast={body.cast} isOpen />
              </>
            )}
          </Region>
          {conversation.data && (
            <section class="card">
              <Tabs
                label="About this cast"
                name="about"
                tabs={TABS}
                selected={selected}
                onSelect={(id) => route(id === "replies" ? path : `${path}?tab=${id}`)}
              />
              <div {...tabPanelProps("about", selected)}>
                {selected === "replies" && <Replies call={call} query={conversation} />}
                {selected === "quotes" && <Quotes hash={hash} />}
                {selected === "likes" && <LikedBy hash={hash} />}
                {selected === "json" && <RawCast hash={hash} />}
              </div>
            </section>
          )}
        </div>
        <CallPanel call={call} />
      </div>
    </>
  );
}

const repliesOf = (conversation: Conversation) => ({
  items: threadRows(conversation).map(({ cast }) => cast),
  next: null,
});

function Replies({ call, query }: { call: Call; query: Query<Conversation> }) {
  const top = useRef<HTMLDivElement>(null);
  const list = useMemo(
    () => ({
      get items() {
        return query.data && repliesOf(query.data).items;
      },
      get loading() {
        return query.loading;
      },
      get loadedAtMs() {
        return query.loadedAtMs;
      },
      refresh: () => query.refresh(),
    }),
    [query],
  );
  const newer = useNewer(call, repliesOf, list, castKey);
  if (!query.data) return null;
  const rows = threadRows(query.data);
  const hidden = hiddenReplies(query.data);
  return (
    <div class="list thread" ref={top}>
      <NewerPill newer={newer} list={top} />
      {rows.length === 0 && <p class="empty">No replies yet.</p>}
      {rows.map((row) => (
        <Reply row={row} key={row.cast.hash} />
      ))}
      {hidden > 0 && (
        <p class="empty">
          {plural(hidden, "more reply", "more replies")}: the API has the 50 oldest of a cast, 500 of a
          thread.
        </p>
      )}
    </div>
  );
}

function Reply({ row: { cast, depth, hidden } }: { row: ThreadRow }) {
  return (
    <div class={`nested d${depth}`}>
      <CastRow cast={cast} withChannel={false} />
      {hidden > 0 && (
        <a class="btn quiet" href={castPage(cast.hash)}>
          {plural(hidden, "more reply", "more replies")}
        </a>
      )}
    </div>
  );
}

function NoCast({ hash, isHash }: { hash: string; isHash: boolean }) {
  return (
    <>
      <PageHead
        crumbs={[{ label: "Explore", href: "/console" }, { label: "Cast" }]}
        title={isHash ? "This cast is not here" : "This is not the hash of a cast"}
      />
      <div class="split">
        <div class="stack">
          <p class="measure">
            {isHash
              ? "It was removed, pruned, or this node has never seen it. "
              : "A hash is 0x and 40 hexadecimal digits. "}
            <span class="mono user">{hash.slice(0, 80)}</span>
          </p>
          <NotReadyYet />
        </div>
        <CallPanel call={get("/cast", { identifier: hash })} />
      </div>
    </>
  );
}
