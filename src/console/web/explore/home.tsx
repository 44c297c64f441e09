import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { CastRow } from "../content/cast-row.tsx";
import { ChannelRow, PeopleRows } from "../content/face.tsx";
import { LoadImages } from "../content/images.tsx";
import { NothingCast } from "../content/node-state.tsx";
import { get } from "../data/call.ts";
import { listOf, usePages } from "../data/pages.ts";
import { useQuery } from "../data/query.ts";
import { CallPanel } from "../parts/call-panel.tsx";
import { ListRegion, pagesAsQuery, Rows } from "../parts/list-region.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { Region, Skeleton } from "../parts/region.tsx";
import * as msg from "../text/en/landing.ts";
import { readEntry, searchPage } from "../text/page-paths.ts";
import { authorsByFollowers, castKey, channelKey } from "./lists.ts";

/** A field that opens whatever is entered: a person, a cast, a channel, an address. */
function GoTo() {
  const { route } = useLocation();
  const [text, setText] = useState("");
  function submit(event: Event) {
    event.preventDefault();
    const entry = readEntry(text);
    if (entry.kind === "empty") return;
    route(entry.kind === "page" ? entry.page : searchPage(text.trim()));
  }
  return (
    <section class="card" aria-labelledby="go-to">
      <form class="pad stack s" onSubmit={submit}>
        <label for="go-to-text" id="go-to">
          <b>{msg.goTo}</b>
        </label>
        <div class="row">
          <input
            id="go-to-text"
            class="grow"
            autoComplete="off"
            spellcheck={false}
            value={text}
            placeholder={msg.nameFidHashChannel}
            aria-describedby="go-to-hint"
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
          <button type="submit" class="btn">
            {msg.open}
          </button>
        </div>
        <span class="xs dim" id="go-to-hint">
          {msg.alsoAnAddressOrALink}
        </span>
      </form>
    </section>
  );
}

const CHANNELS = 6;
const PEOPLE = 6;

/** Explore: what is trending, where, and who is read there. */
export function Page() {
  const trending = get("/feed/trending", { limit: 10 });
  const casts = usePages(trending, listOf("casts"));
  const channelCall = get("/channel/trending", { limit: CHANNELS });
  const channels = useQuery(channelCall);
  return (
    <>
      <PageHead title={msg.explore}>
        <LoadImages />
      </PageHead>
      <div class="split">
        <ListRegion
          title={msg.trendingNow}
          call={trending}
          read={listOf("casts")}
          pages={casts}
          keyOf={castKey}
          row={(cast) => <CastRow cast={cast} />}
          empty={<NothingCast />}
          isLive
        />
        <div class="stack">
          <GoTo />
          <CallPanel call={trending} />
          <Region
            title={msg.channels}
            call={channelCall}
            query={channels}
            skeleton={<Skeleton rows={CHANNELS} height={1.55} />}
            aside={<a href="/console/channels">{msg.all}</a>}
            isEmpty={(body) => body.channels.length === 0}
            empty={<p>{msg.noChannelIsBusyToday(<a href="/console/channels">{msg.allChannels}</a>)}</p>}
          >
            {(body) => (
              <Rows
                items={body.channels}
                keyOf={channelKey}
                row={(channel) => <ChannelRow channel={channel} />}
              />
            )}
          </Region>
          <Region
            title={msg.mostFollowedHere}
            call={trending}
            query={pagesAsQuery(casts)}
            isEmpty={(items) => items.length === 0}
            empty={<p>{msg.noOneYet}</p>}
          >
            {(items) => <PeopleRows users={authorsByFollowers(items, PEOPLE)} />}
          </Region>
        </div>
      </div>
    </>
  );
}
