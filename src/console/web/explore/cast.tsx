import { useMemo, useRef, useState } from "preact/hooks";
import { useRoute } from "preact-iso";
import { CastRow } from "../content/cast-row.tsx";
import { PersonRow } from "../content/face.tsx";
import { LoadImages } from "../content/images.tsx";
import { NotReadyYet } from "../content/node-state.tsx";
import { type Call, type Cast, get, type ResponseOf } from "../data/call.ts";
import { listOf, useNewer } from "../data/pages.ts";
import { type Query, useQuery } from "../data/query.ts";
import { RequestFailure, request } from "../data/request.ts";
import { CallPanel } from "../parts/call-panel.tsx";
import { ListRegion, NewerPill } from "../parts/list-region.tsx";
import { PageHead, useUrlTabs } from "../parts/page-head.tsx";
import { Json } from "../parts/raw-text.tsx";
import { FailureBox, Region } from "../parts/region.tsx";
import * as msg from "../text/en/explore.ts";
import { displayNameOf, plainName } from "../text/name.ts";
import { castPage } from "../text/page-paths.ts";
import { type Conversation, castKey, hiddenReplies, PAGE_SIZE, type ThreadRow, threadRows } from "./lists.ts";

/** How many casts one click walks up. */
const STEP = 8;

/**
 * What a reply responds to, initially folded. When opened, it walks up the thread with one request per cast, several at a time. A deleted
 * cast ends the walk.
 */
function Ancestors({ cast }: { cast: Cast }) {
  const [above, setAbove] = useState<readonly Cast[]>([]);
  const [isLoading, setLoading] = useState(false);
  const [failure, setFailure] = useState<RequestFailure>();
  const top = above[0] ?? cast;
  if (top.parent_hash === null && above.length === 0) return null;
  async function walk() {
    if (isLoading) return;
    setLoading(true);
    setFailure(undefined);
    const found: Cast[] = [];
    try {
      let next = top.parent_hash;
      for (let step = 0; step < STEP && next !== null; step++) {
        const { cast: parent } = await request(get("/cast", { identifier: next }));
        found.unshift(parent);
        next = parent.parent_hash;
      }
    } catch (cause) {
      if (!(cause instanceof RequestFailure)) throw cause;
      setFailure(cause);
    } finally {
      setAbove([...found, ...above]);
      setLoading(false);
    }
  }
  const isGone = failure?.status === 404;
  return (
    <div class="ancestors">
      {isGone && (
        <p class="empty s">
          {msg.theCastThatThisRepliesTo(
            <a href={castPage(top.parent_hash ?? top.thread_hash)}>{msg.itsPage}</a>,
          )}
        </p>
      )}
      {failure && !isGone && <FailureBox failure={failure} retry={() => void walk()} />}
      {top.parent_hash !== null && !failure && (
        <p class="row wrap s tight unfold">
          <button type="button" class="btn quiet" aria-disabled={isLoading} onClick={() => void walk()}>
            {isLoading ? msg.loading : above.length === 0 ? msg.showWhatItRepliesTo : msg.showEarlierCasts}
          </button>
          {cast.thread_hash !== cast.hash && <a href={castPage(cast.thread_hash)}>{msg.startOfTheThread}</a>}
        </p>
      )}
      {above.map((one) => (
        <CastRow cast={one} key={one.hash} />
      ))}
    </div>
  );
}

type Reactor = ResponseOf<"GET /reaction/cast">["reactions"][number];

const REPLY_DEPTH = 5;
const TABS = [
  { id: "replies", label: msg.replies },
  { id: "quotes", label: msg.quotes },
  { id: "likes", label: msg.whoLiked },
  { id: "json", label: msg.rawJson },
] as const;

export function Page() {
  const { params } = useRoute();
  const hash = (params.hash ?? "").toLowerCase();
  return <CastPage hash={hash} key={hash} />;
}

function CastPage({ hash }: { hash: string }) {
  const { selected, list, panel } = useUrlTabs("about", msg.aboutThisCast, TABS);
  const call = get("/cast/conversation", { identifier: hash, type: "hash", reply_depth: REPLY_DEPTH });
  const conversation = useQuery(call);
  const cast = conversation.data?.cast;
  const status = conversation.error?.status;
  if (!cast && (status === 404 || status === 400)) return <NoCast hash={hash} isHash={status === 404} />;
  const author = cast && plainName(displayNameOf(cast.author));
  return (
    <>
      <PageHead
        crumbs={[{ label: msg.explore, href: "/console" }, { label: msg.cast }]}
        title={author === undefined ? msg.cast : msg.castBy(author)}
      >
        <LoadImages />
      </PageHead>
      <div class="split">
        <div class="stack">
          <Region title={cast?.parent_hash ? msg.reply : msg.cast} call={call} query={conversation}>
            {(body) => (
              <>
                <Ancestors cast={body.cast} />
                <CastRow cast={body.cast} isOpen />
              </>
            )}
          </Region>
          {conversation.data && (
            <section class="card">
              {list}
              <div {...panel}>
                {selected.id === "replies" && <Replies call={call} query={conversation} />}
                {selected.id === "quotes" && <Quotes hash={hash} />}
                {selected.id === "likes" && <LikedBy hash={hash} />}
                {selected.id === "json" && <RawCast hash={hash} />}
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

function Replies({ call, query }: { call: Call<Conversation>; query: Query<Conversation> }) {
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
      {rows.length === 0 && <p class="empty">{msg.noRepliesYet}</p>}
      {rows.map((row) => (
        <Reply row={row} key={row.cast.hash} />
      ))}
      {hidden > 0 && <p class="empty">{msg.theApiHasThe50Oldest(msg.countMoreReplies(hidden))}</p>}
    </div>
  );
}

function Reply({ row: { cast, depth, hidden } }: { row: ThreadRow }) {
  return (
    <div class={`nested d${depth}`}>
      <CastRow cast={cast} withChannel={false} />
      {hidden > 0 && (
        <a class="btn quiet" href={castPage(cast.hash)}>
          {msg.countMoreReplies(hidden)}
        </a>
      )}
    </div>
  );
}

function NoCast({ hash, isHash }: { hash: string; isHash: boolean }) {
  return (
    <>
      <PageHead
        crumbs={[{ label: msg.explore, href: "/console" }, { label: msg.cast }]}
        title={isHash ? msg.thisCastIsNotHere : msg.thisIsNotTheHashOf}
      />
      <div class="split">
        <div class="stack">
          <p class="measure">
            {isHash ? msg.itWasRemovedPrunedOrThis : msg.aHashIs0xAnd40}
            <span class="mono user">{hash.slice(0, 80)}</span>
          </p>
          <NotReadyYet />
        </div>
        <CallPanel call={get("/cast", { identifier: hash })} />
      </div>
    </>
  );
}

function Quotes({ hash }: { hash: string }) {
  return (
    <ListRegion
      title={msg.quotes}
      call={get("/cast/quotes", { identifier: hash, limit: PAGE_SIZE })}
      read={listOf("casts")}
      keyOf={castKey}
      row={(cast: Cast) => <CastRow cast={cast} />}
      empty={<p>{msg.noQuotesYet}</p>}
      isLive
    />
  );
}

function LikedBy({ hash }: { hash: string }) {
  return (
    <ListRegion
      title={msg.whoLiked}
      call={get("/reaction/cast", { hash, types: "likes", limit: PAGE_SIZE })}
      read={listOf("reactions")}
      keyOf={({ user }: Reactor) => user.fid}
      row={({ user }: Reactor) => <PersonRow user={user} withBio />}
      empty={<p>{msg.noLikesYet}</p>}
      isLive
    />
  );
}

function RawCast({ hash }: { hash: string }) {
  const call = get("/cast", { identifier: hash });
  const cast = useQuery(call);
  return (
    <Region title={msg.rawJson} call={call} query={cast}>
      {(body) => <Json value={body} />}
    </Region>
  );
}
