import { get } from "../data/call.ts";
import type { Channel } from "../data/objects.ts";
import { usePages } from "../data/pages.ts";
import { useQuery } from "../data/query.ts";
import { CallPanel } from "../parts/call-panel.tsx";
import { CastRow } from "../parts/cast-row.tsx";
import { ListRegion } from "../parts/list-region.tsx";
import { LoadImages } from "../parts/load-images.tsx";
import { pagesAsQuery } from "../parts/load-more.tsx";
import { NothingCast } from "../parts/node-state.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { PersonRow } from "../parts/person.tsx";
import { Region } from "../parts/region.tsx";
import { Skeleton } from "../parts/skeleton.tsx";
import { ChannelRow } from "./channel-row.tsx";
import { GoTo } from "./go-to.tsx";
import { authorsByFollowers, castKey, castsOf } from "./lists.ts";

const CHANNELS = 6;
const PEOPLE = 6;

/** Explore: what trends, where, and who is read there. */
export function Page() {
  const trending = get("/feed/trending", { limit: 10 });
  const casts = usePages(trending, castsOf);
  const channelCall = get("/channel/trending", { limit: CHANNELS });
  const channels = useQuery<{ channels: readonly Channel[] }>(channelCall);
  return (
    <>
      <PageHead title="Explore">
        <LoadImages />
      </PageHead>
      <div class="split">
        <ListRegion
          title="Trending now"
          call={trending}
          read={castsOf}
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
            title="Channels"
            call={channelCall}
            query={channels}
            skeleton={<Skeleton rows={CHANNELS} height={1.55} />}
            aside={<a href="/console/channels">All</a>}
            isEmpty={(body) => body.channels.length === 0}
            empty={
              <p>
                No channel is busy today. <a href="/console/channels">All channels</a>
              </p>
            }
          >
            {(body) => (
              <ul class="rows">
                {body.channels.map((channel) => (
                  <li key={channel.id}>
                    <ChannelRow channel={channel} />
                  </li>
                ))}
              </ul>
            )}
          </Region>
          <Region
            title="Most followed here"
            call={trending}
            query={pagesAsQuery(casts)}
            isEmpty={(items) => items.length === 0}
            empty={<p>Nobody has cast in 24 hours.</p>}
          >
            {(items) => (
              <ul class="rows">
                {authorsByFollowers(items, PEOPLE).map((user) => (
                  <li key={user.fid}>
                    <PersonRow user={user} />
                  </li>
                ))}
              </ul>
            )}
          </Region>
        </div>
      </div>
    </>
  );
}
