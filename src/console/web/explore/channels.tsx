import { useEffect, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { get } from "../data/call.ts";
import { usePages } from "../data/pages.ts";
import { CallPanel } from "../parts/call-panel.tsx";
import { ListRegion } from "../parts/list-region.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { ChannelRow } from "./channel-row.tsx";
import { channelKey, channelsOf, PAGE_SIZE } from "./lists.ts";

const TYPING_MS = 150;

/** All channels, or those whose name a search finds. */
export function Page() {
  const { path, query, route } = useLocation();
  const q = query.q ?? "";
  const [text, setText] = useState(q);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => setText(q), [q]);
  const call =
    q === "" ? get("/channel/all", { limit: PAGE_SIZE }) : get("/channel/search", { q, limit: PAGE_SIZE });
  const pages = usePages(call, channelsOf);
  const search = (value: string) =>
    route(value.trim() === "" ? path : `${path}?q=${encodeURIComponent(value.trim())}`, true);
  return (
    <>
      <PageHead crumbs={[{ label: "Explore", href: "/console" }, { label: "Channels" }]} title="Channels" />
      <div class="split">
        <div class="stack">
          <search>
            <form
              class="field"
              onSubmit={(event) => {
                event.preventDefault();
                clearTimeout(timer.current);
                search(text);
              }}
            >
              <label for="channel-search">Find a channel</label>
              <input
                id="channel-search"
                type="search"
                autoComplete="off"
                spellcheck={false}
                maxLength={100}
                value={text}
                onInput={({ currentTarget }) => {
                  setText(currentTarget.value);
                  clearTimeout(timer.current);
                  timer.current = setTimeout(() => search(currentTarget.value), TYPING_MS);
                }}
              />
            </form>
          </search>
          <ListRegion
            title={q === "" ? "All channels, by name" : "Channels found"}
            call={call}
            read={channelsOf}
            pages={pages}
            keyOf={channelKey}
            row={(channel) => <ChannelRow channel={channel} />}
            empty={
              q === "" ? (
                <p>No channel yet. One begins with the first cast in it.</p>
              ) : (
                <p>No channel has this in its name.</p>
              )
            }
          />
        </div>
        <CallPanel call={call} />
      </div>
    </>
  );
}
